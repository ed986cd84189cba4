"""The coupling where little was said: reliabilities integrated out, classes summed over exactly.

Given the classes of the rows with statements, the rates have Dirichlet and Beta posteriors, and what was said has the
probability

    p(statements | z) = Π_{a,c} B(α^a_c + n^a_c(z)) / B(α^a_c) · Π_{a,t} B(β^a_t + m^a_t(z)) / B(β^a_t),

with B the multivariate Beta function, n^a_cl(z) how often annotator a gave rows of class c the answer l, and m^a_t(z)
how often they judged pairs that are the same, or are not, in either way (the Dirichlet-multinomial distribution). It
depends on z through counts alone, so a trellis of counts sums over all z. This is the exact posterior, which does not
divide into classes and reliabilities; those of an annotator are a mixture of Dirichlet distributions, one for each
state of the counts. EM with this E-step raises the evidence of the rows with all statements.
"""

from dataclasses import dataclass, fields
from typing import Any, NamedTuple

import numpy as np
from scipy.special import gammaln

from sidelight._typing import FloatArray, IntArray
from sidelight.couplings.annotators.accuracy import CountMixture
from sidelight.couplings.annotators.coupling import AnnotatedEStep, AnnotatedRows, StatementCounts
from sidelight.couplings.annotators.reliability import Reliability, ReliabilityPrior
from sidelight.couplings.annotators.trellis import (
    MOST_STATES,
    Counted,
    Group,
    Summed,
    Trellis,
    groups,
    summed,
    trellises,
)
from sidelight.couplings.link_graph import LinkProblem, Plan, infer, plan

# Stirling's series has the precision of a double from here.
_LARGE = 1e3


class Part(NamedTuple):
    """Rows that depend on each other: their trellis, and ln p(statements | counts) (states,) of its last states."""

    group: Group
    trellis: Trellis
    log_marginal: FloatArray


class Linked(NamedTuple):
    """Nodes (m,) and edges (q,) of no annotator, and their inference."""

    nodes: IntArray
    edges: IntArray
    plan: Plan


@dataclass(frozen=True, eq=False, kw_only=True)
class IntegratedRows(AnnotatedRows):
    """Rows with few statements, with reliabilities integrated out.

    Parameters
    ----------
    counted : Counted
    parts : tuple of Part
    linked : Linked, optional
        Nodes that have links only.
    """

    counted: Counted
    parts: tuple[Part, ...]
    linked: Linked | None

    @property
    def monotone(self) -> bool:
        """True: inference is exact."""
        return True

    def step(
        self, log_likelihood: FloatArray, log_weights: FloatArray, used: Reliability, memory: Any
    ) -> AnnotatedEStep:
        """Return the E-step of the rows from their log densities (rows, components); it does not depend on ``used``."""
        scores, within = self.scores(log_likelihood, log_weights)
        of_table = self.evidence_of_table(scores)
        logs = np.where(self.prior.certain, self.prior.expected_logs(self.start).confusion, 0.0)
        scores += self.node_sums @ (self.graph.said @ logs.T)
        n_edges = len(self.counted.edges)
        marginals, same, log_partition = np.zeros_like(scores), np.zeros(n_edges), 0.0
        if self.linked is not None:
            found = infer(self.linked.plan, scores[self.linked.nodes], None)
            marginals[self.linked.nodes], same[self.linked.edges] = found.marginals, found.same
            log_partition = found.log_partition
        sums = [summed(part.trellis, scores, part.log_marginal, n_edges) for part in self.parts]
        for one in sums:
            marginals, same, log_partition = (
                marginals + one.marginals,
                same + one.same,
                log_partition + one.log_partition,
            )
        posterior = marginals[self.graph.node_of_row]
        if within is not None:
            posterior = within * posterior[:, self.classes]
        counts = self._counts(posterior, self.graph.of_judgements(same), log_partition - of_table, sums)
        return AnnotatedEStep(posterior, self.draws @ marginals, log_partition, counts, ())

    def _counts(self, posterior: FloatArray, same: FloatArray, stated: float, sums: list[Summed]) -> StatementCounts:
        labels, pairs = np.asarray((self.graph.said.T @ posterior).T), self.graph.pair_counts(same)
        learned = self.prior.updated(labels, pairs, self.start.allocation)
        return StatementCounts(labels, pairs, learned, same, stated, tuple(one.weights for one in sums))

    def update(self, counts: StatementCounts) -> Reliability:
        """Return priors with expected counts added, which sum up what the E-step has integrated out."""
        return counts.used

    def log_prior(self, parameters: Reliability | None) -> float:
        """Return 0: the evidence has the priors inside."""
        return 0.0

    def mixtures(self, counts: StatementCounts) -> tuple[CountMixture, ...]:
        """Return the posterior of the counts of all annotators."""
        return tuple(
            CountMixture(weights, part.group.answers, part.trellis.said, part.group.judges, part.trellis.judged)
            for part, weights in zip(self.parts, counts.states, strict=True)
        )


def integrated(rows: AnnotatedRows, most_states: int = MOST_STATES) -> AnnotatedRows:
    """Return the coupling with reliabilities integrated out where the sum over classes is small, as it is elsewhere.

    It stays as it is, too, where components choose their classes, or rows have weights.

    Parameters
    ----------
    rows : AnnotatedRows
    most_states : int
        States of the counts beyond which a sum is not small; 0 for none.
    """
    if rows.classes is None or rows.noise or (rows.row_weights != 1.0).any():
        return rows
    counted = rows.graph.counted(rows.start.allocation.shape[1], ~rows.prior.certain)
    divided = groups(counted, rows.graph.answers.annotators)
    authored = [group for group in divided if len(group.answers) or len(group.judges)]
    built = trellises(counted, authored, most_states)
    if built is None:
        return rows
    linked = _linked(rows, counted, [group.nodes for group in divided if not (len(group.answers) or len(group.judges))])
    if linked is not None and not linked.plan.exact:
        return rows
    parts = tuple(
        Part(group, found, log_marginal(rows.prior, rows.graph.answers.annotators, group, found))
        for group, found in zip(authored, built, strict=True)
    )
    own = {field.name: getattr(rows, field.name) for field in fields(AnnotatedRows)}
    return IntegratedRows(**own, counted=counted, parts=parts, linked=linked)


def log_marginal(prior: ReliabilityPrior, authors: IntArray, group: Group, counted: Trellis) -> FloatArray:
    """Return ln p(statements | counts) (states,) of the last states; ``authors`` (columns,) are those of answers."""
    found = log_rising(prior.confusion[:, group.answers], counted.said).sum(axis=(1, 2))
    for author in np.unique(authors[group.answers]):
        # Answers that were not given belong to the total of the prior.
        total = prior.confusion[:, authors == author].sum(axis=1)
        n = counted.said[:, :, authors[group.answers] == author].sum(axis=2)
        found -= log_rising(total, n).sum(axis=1)
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


def _linked(rows: AnnotatedRows, counted: Counted, nodes: list[IntArray]) -> Linked | None:
    """Return the inference of nodes without annotators."""
    if not nodes:
        return None
    own = np.sort(np.concatenate(nodes))
    place = np.full(len(counted.labels), -1)
    place[own] = np.arange(len(own))
    edges = np.flatnonzero(place[counted.edges[:, 0]] >= 0)
    problem = rows.graph.linked.problem
    whole = LinkProblem(
        problem.n_nodes, counted.edges, counted.log_equal, counted.log_different, problem.labels, problem.names
    )
    return Linked(own, edges, plan(whole.part(own, edges, place[counted.edges[edges]]), counted.n_classes))
