"""The coupling: rows with statements of annotators choose their components, and how reliable these are is learned.

The E-step adds Σ_a E ln π^a_cl to the score of class c of a row that annotators called l, and gives a judged pair the
log potentials E ln ρ^a. Exact inference on the link graph maximises the bound over the posterior of all classes. With
the Dirichlet and Beta posteriors and, where it is learned, the allocation of components to classes, every step raises

    ln Z(scores, E ln π, E ln ρ) − Σ KL(q(π) ‖ p(π)) − Σ KL(q(ρ) ‖ p(ρ)) − Σ_k KL(φ_k ‖ 1/C).

Belief propagation takes the place of exact inference in large loops; ln Z is an estimate there.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array, diags_array
from scipy.special import logsumexp, softmax, xlogy

from sidelight._typing import BoolArray, FloatArray, IntArray
from sidelight.couplings.annotators.accuracy import CountMixture
from sidelight.couplings.annotators.graph import StatementGraph
from sidelight.couplings.annotators.reliability import Reliability, ReliabilityPrior
from sidelight.couplings.class_densities import class_densities
from sidelight.inference.mixture import CoupledRows
from sidelight.inference.protocols import Assignment, CoupledExpectation, CouplingState


class StatementCounts(NamedTuple):
    """What reliabilities are updated from.

    Parameters
    ----------
    labels : (components, columns)
        How often rows of each component are expected to have got each answer.
    pairs : (A, 2, 2)
        How often pairs of either kind got either judgement.
    used : Reliability
        That of the E-step.
    same : (q,)
        Probability that the rows of each judged pair share a class.
    shares : (m, classes)
        Probability of each class of the rows.
    stated : float
        Log probability of the statements given the table, with the reliabilities that were used.
    states : tuple of (states,) arrays
        Probabilities of counts, where these are summed over.
    """

    labels: FloatArray
    pairs: FloatArray
    used: Reliability
    same: FloatArray
    shares: FloatArray
    stated: float
    states: tuple[FloatArray, ...] = ()


class AnnotatedEStep(NamedTuple):
    """What an E-step gives: posterior (rows, components), draws of classes, evidence, counts and messages."""

    posterior: FloatArray
    class_counts: FloatArray
    evidence: float
    counts: StatementCounts
    messages: Any


@dataclass(frozen=True, eq=False)
class AnnotatedRows:
    """Rows that annotators have labelled or compared, with the links and blocks that have no author.

    Parameters
    ----------
    graph : StatementGraph
    prior : ReliabilityPrior
    classes : (components,), optional
        The class of each component. None where components have no class: then links are about components, and which
        class each belongs to is learned.
    row_weights : (m,)
        Of the rows in the graph: a row of weight w stands for w equal rows with the same statements.
    draws : (g,)
        How many draws of a class each node is.
    start : Reliability
        What is believed before the first step.
    noise : bool
        Whether the last component is noise, to which no row with a statement goes.
    """

    graph: StatementGraph
    prior: ReliabilityPrior
    classes: IntArray | None
    row_weights: FloatArray
    draws: FloatArray
    start: Reliability
    noise: bool = False
    takes_rows: bool = True

    @property
    def rows(self) -> IntArray:
        """Numbers of the rows it couples."""
        return self.graph.linked.rows

    @cached_property
    def monotone(self) -> bool:
        """Whether every step raises the objective: where inference on the links is exact."""
        n_components, n_classes = self.start.allocation.shape
        return self.graph.exact(n_components if self.classes is None else n_classes)

    @cached_property
    def node_sums(self) -> "csr_array[Any]":
        """Sums (g, m) over the rows of each node."""
        starts, m = self.graph.linked.starts, len(self.rows)
        return csr_array((np.ones(m), np.arange(m), np.append(starts, m)), shape=(len(starts), m))

    @cached_property
    def _said(self) -> "csr_array[Any]":
        """The answers (m, columns), each as often as its row counts."""
        return csr_array(diags_array(self.row_weights) @ self.graph.said)

    @cached_property
    def _alone(self) -> BoolArray:
        """Nodes (g,) of one row without links: the rows that it stands for choose their classes one by one."""
        return self.graph.unlinked & (np.diff(np.append(self.graph.linked.starts, len(self.rows))) == 1)

    @cached_property
    def _row_scales(self) -> FloatArray:
        """By how much the scores of rows (m,) count: once where they choose by themselves."""
        return np.where(self._alone[self.graph.node_of_row], 1.0, self.row_weights)

    @cached_property
    def _weighted_alone(self) -> IntArray:
        """Nodes of one row without links that stand for more, or fewer, than one row."""
        return np.flatnonzero(self._alone & (self.draws != 1.0))

    def scores(self, log_likelihood: FloatArray, log_weights: FloatArray) -> tuple[FloatArray, FloatArray | None]:
        """Return the scores (g, classes) of nodes without statements, and responsibilities within classes, if any."""
        log_density, within, log_alpha = log_likelihood, None, log_weights
        if self.classes is not None:
            log_density, within, log_alpha = class_densities(log_likelihood, log_weights, self.classes)
        scores = np.multiply.outer(np.where(self._alone, 1.0, self.draws), log_alpha)
        scores += self.node_sums @ (self._row_scales[:, None] * log_density)
        return scores, within

    def evidence_of_table(self, scores: FloatArray) -> float:
        """Return the log evidence of the rows without statements, from scores (g, classes) of the nodes."""
        return float(np.where(self._alone, self.draws, 1.0) @ logsumexp(scores, axis=1))

    def step(
        self, log_likelihood: FloatArray, log_weights: FloatArray, used: Reliability, memory: Any
    ) -> AnnotatedEStep:
        """Return the E-step of the rows from their log densities (rows, components)."""
        logs = self.prior.expected_logs(used)
        by_class = self._row_scales[:, None] * (self.graph.said @ logs.confusion.T)
        scores, within = self.scores(log_likelihood, log_weights)
        of_table = self.evidence_of_table(scores)
        scores += self.node_sums @ (by_class if self.classes is not None else by_class @ used.allocation.T)
        if self.noise:
            scores[:, -1] = -np.inf
        found = self.graph.infer(scores, logs, scores.shape[1], memory)
        posterior = found.marginals[self.graph.node_of_row]
        if within is not None:
            assert self.classes is not None
            posterior = within * posterior[:, self.classes]
        evidence = found.log_partition
        if self._weighted_alone.size:
            own = logsumexp(scores[self._weighted_alone], axis=1)
            evidence += float((self.draws[self._weighted_alone] - 1.0) @ own)
        counts = StatementCounts(
            np.asarray((self._said.T @ posterior).T),
            self.graph.pair_counts(found.same),
            used,
            found.same,
            posterior @ used.allocation,
            evidence - of_table,
        )
        return AnnotatedEStep(posterior, self.draws @ found.marginals, evidence, counts, found.messages or ())

    def expect(
        self, rows: CoupledRows, log_weights: FloatArray, state: CouplingState[Reliability, Any]
    ) -> CoupledExpectation[Reliability, Any]:
        """Take the rows through E-step and statistics."""
        used = self.start if state.parameters is None else state.parameters
        found = self.step(rows.log_likelihood(), log_weights, used, state.memory or None)
        statistics = rows.statistics(self.row_weights[:, None] * found.posterior)
        kept = CouplingState(used, found.messages)
        return CoupledExpectation(statistics, found.class_counts, found.evidence, kept, found.counts)

    def assign(
        self, rows: CoupledRows, log_weights: FloatArray, state: CouplingState[Reliability, Any]
    ) -> Iterator[Assignment]:
        """Yield how the rows are assigned."""
        used = self.start if state.parameters is None else state.parameters
        found = self.step(rows.log_likelihood(), log_weights, used, state.memory or None)
        yield Assignment(self.rows, found.posterior, found.evidence)

    def update(self, counts: StatementCounts) -> Reliability:
        """Return the reliabilities, and the classes of components where these are learned, given counts."""
        allocation = counts.used.allocation
        if self.classes is None and counts.labels.size:
            logs = self.prior.expected_logs(counts.used)
            allocation = softmax(counts.labels @ logs.confusion.T, axis=1)
        return self.prior.updated(counts.labels, counts.pairs, allocation)

    def mixtures(self, counts: StatementCounts) -> tuple[CountMixture, ...]:
        """Return what is known of the counts that reliabilities follow from: here, their expectation."""
        labels, pairs = counts.used.confusion - self.prior.confusion, counts.used.rates - self.prior.rates
        every = (np.arange(labels.shape[1]), np.arange(len(pairs)))
        return (CountMixture(np.ones(1), every[0], labels[None], every[1], pairs[None]),)

    def log_prior(self, parameters: Reliability | None) -> float:
        """Return minus the divergence of what is believed from what was expected."""
        used = self.start if parameters is None else parameters
        found = -self.prior.divergence(used)
        if self.classes is None:
            found -= float(xlogy(used.allocation, used.allocation * used.allocation.shape[1]).sum())
        return found

    def regrouped(self, state: CouplingState[Reliability, Any], groups: IntArray) -> CouplingState[Reliability, Any]:
        """Return the state with components put together by groups; those of group -1 are forgotten."""
        if state.parameters is None:
            return CouplingState()
        allocation = np.zeros((int(groups.max()) + 1, state.parameters.allocation.shape[1]))
        np.add.at(allocation, groups[groups >= 0], state.parameters.allocation[groups >= 0])
        shares = allocation / allocation.sum(axis=1, keepdims=True)
        return CouplingState(state.parameters._replace(allocation=shares))


def annotated_rows(
    graph: StatementGraph,
    row_weights: FloatArray,
    *,
    classes: IntArray | None,
    allocation: FloatArray,
    draws: FloatArray | None = None,
    noise: bool = False,
    prior: ReliabilityPrior | None = None,
) -> AnnotatedRows:
    """Return the coupling of all rows with statements.

    Parameters
    ----------
    graph : StatementGraph
    row_weights : (n,)
        Of all rows of the table.
    classes : (components,), optional
        As in `AnnotatedRows`.
    allocation : (components, classes)
        The class that each component has, or is believed to have at first.
    draws : (g,), optional
        As in `AnnotatedRows`; one for each row where absent.
    noise : bool
        As in `AnnotatedRows`.
    prior : ReliabilityPrior, optional
        What is expected of annotators.
    """
    weights = row_weights[graph.linked.rows]
    expected = graph.prior(allocation.shape[1]) if prior is None else prior
    if draws is None:
        draws = np.add.reduceat(weights, graph.linked.starts)
    return AnnotatedRows(graph, expected, classes, weights, draws, expected.begin(allocation), noise)
