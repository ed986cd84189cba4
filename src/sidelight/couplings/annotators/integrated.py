"""The coupling where statements are few: reliabilities integrated out, classes summed over exactly.

Given the classes of the rows with statements, the rates have Dirichlet and Beta posteriors, and the statements have the
probability

    p(statements | z) = Π_{a,c} B(α^a_c + n^a_c(z)) / B(α^a_c) · Π_{a,t} B(β^a_t + m^a_t(z)) / B(β^a_t),

with B the multivariate Beta function, n^a_cl(z) how often annotator a gave rows of class c the answer l, and m^a_t(z)
how often they judged pairs that are the same, or are not, in either way (the Dirichlet-multinomial distribution). It
depends on z through counts alone, so a trellis of counts sums over all z. This is the exact posterior, which does not
divide into classes and reliabilities; those of an annotator are a mixture of Dirichlet distributions, one for each
state of the counts. EM with this E-step raises the evidence of the rows with all statements.
"""

from dataclasses import dataclass, fields
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from scipy.special import gammaln, logsumexp

from sidelight._typing import FloatArray, IntArray
from sidelight.couplings.annotators.accuracy import CountMixture
from sidelight.couplings.annotators.coupling import AnnotatedEStep, AnnotatedRows, StatementCounts
from sidelight.couplings.annotators.reliability import Reliability, ReliabilityPrior
from sidelight.couplings.annotators.trellis import (
    MOST_STATES,
    Counted,
    Group,
    Trellis,
    backward,
    forward,
    groups,
    trellises,
)
from sidelight.couplings.link_graph import LinkProblem, Plan, infer, plan

# Stirling's series has the precision of a double from here.
_LARGE = 1e3


class Part(NamedTuple):
    """Rows that depend on each other: their trellis, and ln p(statements | counts) (allocations, states) at its end."""

    group: Group
    trellis: Trellis
    log_marginal: FloatArray


class Linked(NamedTuple):
    """Nodes (m,) and edges (q,) of no annotator, and their inference."""

    nodes: IntArray
    edges: IntArray
    plan: Plan


class _Sums(NamedTuple):
    """Sums over all assignments, allocation by allocation (v): masses (g, choices, v) and (q, v), and of states."""

    marginals: FloatArray
    same: FloatArray
    states: tuple[FloatArray, ...]
    log_partition: float


@dataclass(frozen=True, eq=False, kw_only=True)
class IntegratedRows(AnnotatedRows):
    """Rows with few statements, with reliabilities integrated out.

    Parameters
    ----------
    counted : Counted
    parts : tuple of Part
    linked : Linked, optional
        Nodes that have links only.
    allocations : (v, choices)
        The class of each choice: that it is, or, where components have no class, all that components may have.
    """

    counted: Counted
    parts: tuple[Part, ...]
    linked: Linked | None
    allocations: IntArray

    @property
    def monotone(self) -> bool:
        """True: inference is exact."""
        return True

    def step(
        self, log_likelihood: FloatArray, log_weights: FloatArray, used: Reliability, memory: Any
    ) -> AnnotatedEStep:
        """Return the E-step of the rows from their log densities (rows, components); it does not depend on ``used``."""
        scores, within = self.scores(log_likelihood, log_weights)
        found = self._summed(scores[:, : self.counted.n_classes])
        # Noise, which is the last component, has no row with a statement.
        marginals = np.zeros_like(scores)
        marginals[:, : self.counted.n_classes] = found.marginals.sum(axis=2)
        posterior = marginals[self.graph.node_of_row]
        if within is not None:
            posterior = within * posterior[:, self.classes]
        counts = self._counts(found, posterior, found.log_partition - self.evidence_of_table(scores))
        return AnnotatedEStep(posterior, self.draws @ marginals, found.log_partition, counts, ())

    def _summed(self, scores: FloatArray) -> _Sums:
        """Sum over all assignments and allocations, given scores (g, choices) of the nodes."""
        passes = [forward(part.trellis, scores) for part in self.parts]
        log_joint = [
            one.log_weights[:, None] + part.log_marginal.T for part, one in zip(self.parts, passes, strict=True)
        ]
        log_sums = [logsumexp(one, axis=0) for one in log_joint]
        log_allocations = np.sum([np.full(len(self.allocations), -np.log(len(self.allocations))), *log_sums], axis=0)
        log_partition = float(logsumexp(log_allocations))
        shares = np.exp(log_allocations - log_partition)
        states = tuple(shares * np.exp(one - total) for one, total in zip(log_joint, log_sums, strict=True))
        marginals, same = np.zeros((*scores.shape, len(shares))), np.zeros((len(self.counted.edges), len(shares)))
        for part, one, mass in zip(self.parts, passes, states, strict=True):
            found = backward(part.trellis, one.shares, mass, self.counted)
            marginals, same = marginals + found.marginals, same + found.same
        if self.linked is not None:
            alone = infer(self.linked.plan, scores[self.linked.nodes], None)
            marginals[self.linked.nodes] = alone.marginals[:, :, None] * shares
            same[self.linked.edges] = alone.same[:, None] * shares
            log_partition += alone.log_partition
        return _Sums(marginals, same, states, log_partition)

    def _counts(self, found: _Sums, posterior: FloatArray, stated: float) -> StatementCounts:
        is_of = np.eye(self.start.allocation.shape[1])[self.allocations]
        shares = np.einsum("gkv,vkc->gc", found.marginals, is_of)[self.graph.node_of_row]
        same = self.graph.of_judgements(found.same.sum(axis=1))
        pairs, by_class = self.graph.pair_counts(same), np.asarray((self.graph.said.T @ shares).T)
        allocation = self.start.allocation
        if self.classes is None:
            weights = found.marginals.sum(axis=(0, 1)) / max(len(found.marginals), 1)
            allocation = allocation.copy()
            allocation[: is_of.shape[1]] = np.einsum("v,vkc->kc", weights, is_of)
        learned = self.prior.updated(by_class, pairs, np.eye(len(by_class)))._replace(allocation=allocation)
        labels = np.asarray((self.graph.said.T @ posterior).T)
        return StatementCounts(labels, pairs, learned, same, shares, stated, found.states)

    def update(self, counts: StatementCounts) -> Reliability:
        """Return priors with expected counts added, which sum up what the E-step has integrated out."""
        return counts.used

    def log_prior(self, parameters: Reliability | None) -> float:
        """Return 0: the evidence has the priors inside."""
        return 0.0

    def mixtures(self, counts: StatementCounts) -> tuple[CountMixture, ...]:
        """Return the posterior of the counts of all annotators."""
        n_classes, found = self.start.allocation.shape[1], []
        for part, weights in zip(self.parts, counts.states, strict=True):
            said = np.concatenate([of_classes(part.trellis.said, own, n_classes) for own in self.allocations])
            judged = np.tile(part.trellis.judged, (len(self.allocations), 1, 1, 1))
            found.append(CountMixture(weights.T.ravel(), part.group.answers, said, part.group.judges, judged))
        return tuple(found)


def integrated(rows: AnnotatedRows, most_states: int = MOST_STATES) -> AnnotatedRows:
    """Return the coupling with reliabilities integrated out where the sum over classes is small, as it is elsewhere.

    Where components choose their classes, it sums over these too. It stays as it is where rows have weights.

    Parameters
    ----------
    rows : AnnotatedRows
    most_states : int
        States of the counts, for all allocations of components to classes together, beyond which a sum is not small; 0
        for none.
    """
    n_components, n_classes = rows.start.allocation.shape
    n_choices = n_classes if rows.classes is not None else n_components - rows.noise
    n_allocations = 1 if rows.classes is not None else n_classes**n_choices
    if n_allocations * len(rows.draws) > most_states or (rows.row_weights != 1.0).any():
        return rows
    counted = rows.graph.counted(n_choices)
    authors = rows.graph.answers.annotators
    divided = groups(counted, authors)
    authored = [group for group in divided if len(group.answers) or len(group.judges)]
    built = trellises(counted, authored, most_states // n_allocations)
    if built is None:
        return rows
    linked = _linked(counted, [group.nodes for group in divided if not (len(group.answers) or len(group.judges))])
    if linked is not None and not linked.plan.exact:
        return rows
    every = [range(n_choices)] if rows.classes is not None else product(range(n_classes), repeat=n_choices)
    allocations = np.array([tuple(own) for own in every], dtype=np.int64)
    parts = tuple(
        Part(group, found, np.array([log_marginal(rows.prior, authors, group, found, own) for own in allocations]))
        for group, found in zip(authored, built, strict=True)
    )
    own = {field.name: getattr(rows, field.name) for field in fields(AnnotatedRows)}
    return IntegratedRows(**own, counted=counted, parts=parts, linked=linked, allocations=allocations)


def of_classes(said: FloatArray, own: IntArray, n_classes: int) -> FloatArray:
    """Return counts (states, classes, answers) from those of choices (states, choices, answers) of classes ``own``."""
    return np.einsum("skl,kc->scl", said, np.eye(n_classes)[own])


def log_marginal(
    prior: ReliabilityPrior, authors: IntArray, group: Group, counted: Trellis, own: IntArray
) -> FloatArray:
    """Return ln p(statements | counts) (states,) of the last states.

    ``authors`` (columns,) are those of answers, ``own`` (choices,) the classes of the choices.
    """
    said = of_classes(counted.said, own, len(prior.confusion))
    certain = prior.certain[group.answers]
    logs = prior.expected_logs(prior.begin(np.eye(len(prior.confusion)))).confusion[:, group.answers[certain]]
    found = (logs * said[:, :, certain]).sum(axis=(1, 2))
    learned, said = group.answers[~certain], said[:, :, ~certain]
    found += log_rising(prior.confusion[:, learned], said).sum(axis=(1, 2))
    for author in np.unique(authors[learned]):
        # Answers that were not given belong to the total of the prior.
        total = prior.confusion[:, authors == author].sum(axis=1)
        found -= log_rising(total, said[:, :, authors[learned] == author].sum(axis=2)).sum(axis=1)
    rates = prior.rates[group.judges]
    found += log_rising(rates, counted.judged).sum(axis=(1, 2, 3))
    return np.asarray(found - log_rising(rates.sum(axis=2), counted.judged.sum(axis=3)).sum(axis=(1, 2)))


def log_rising(first: FloatArray, n: FloatArray) -> FloatArray:
    """Return ln Γ(first + n) − ln Γ(first), without the cancellation of two large numbers (Stirling's series)."""
    last, large = first + n, np.maximum(first, _LARGE)
    end = large + n
    rest = (1 / end - 1 / large) / 12 - (end**-3.0 - large**-3.0) / 360
    series = (large - 0.5) * np.log1p(n / large) + n * (np.log(end) - 1) + rest
    return np.where(first > _LARGE, series, gammaln(last) - gammaln(first))


def _linked(counted: Counted, nodes: list[IntArray]) -> Linked | None:
    """Return the inference of nodes without annotators."""
    if not nodes:
        return None
    own = np.sort(np.concatenate(nodes))
    place = np.full(len(counted.labels), -1)
    place[own] = np.arange(len(own))
    edges = np.flatnonzero(place[counted.edges[:, 0]] >= 0)
    nameless = LinkProblem(len(counted.labels), counted.edges, counted.log_equal, counted.log_different, counted.labels)
    return Linked(own, edges, plan(nameless.part(own, edges, place[counted.edges[edges]]), counted.n_classes))
