"""The normaliser of the prior of the classes under the links, Z(α) = Σ_assignments Π α Π potentials.

Where the class of a chunklet is drawn given the links ("conditional"), the objective has −ln Z(α). Its gradient with
respect to ln α is the vector of class counts expected before any row is seen.
"""

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from sidelight._typing import FloatArray, IntArray
from sidelight.couplings.link_graph.exact.direct import Pairs, infer_pairs
from sidelight.couplings.link_graph.plan import Plan, infer
from sidelight.kernels.loops import shares


class PriorSum(NamedTuple):
    """ln Z(α) and its gradient with respect to ln α (classes,): the expected class counts."""

    log_partition: float
    counts: FloatArray


@dataclass(frozen=True, eq=False)
class Prior:
    """ln Z as a function of the log class weights, with equal nodes and equal pairs of nodes counted, not repeated.

    Parameters
    ----------
    rest, nodes : Plan, (r,)
        The plan without the isolated nodes and pairs, and the nodes that are left.
    draws : (g,)
        Draws of a class that each node stands for.
    singles, times : (i,)
        Different draws of isolated nodes, and how often they occur.
    pairs, pair_draws, pair_times : Pairs, (2 p,), (p,)
        Different pairs, with nodes 2 i and 2 i + 1, their draws, and how often they occur.
    """

    rest: Plan
    nodes: IntArray
    draws: FloatArray
    singles: FloatArray
    times: IntArray
    pairs: Pairs
    pair_draws: FloatArray
    pair_times: IntArray

    @classmethod
    def of(cls, plan: Plan, draws: FloatArray) -> "Prior":
        """Count the equal nodes and pairs of a plan; it has no labels where these are data, not given."""
        if plan.contraction is not None or plan.labelled is not None:
            isolated, pairs = plan.isolated[:0], _some(plan.pairs, slice(0))
            rest, nodes = plan, np.arange(len(draws))
        else:
            isolated, pairs = plan.isolated, plan.pairs
            rest = replace(plan, isolated=isolated[:0], pairs=_some(pairs, slice(0)))
            nodes = isolated[:0] if plan.forest is None else plan.forest.nodes
        singles, times = np.unique(draws[isolated], return_counts=True)
        features = np.column_stack([draws[pairs.ends], pairs.log_equal, pairs.log_different])
        _, first, pair_times = np.unique(features, axis=0, return_index=True, return_counts=True)
        different = _some(pairs, first)
        numbered = different._replace(ends=np.arange(2 * len(first)).reshape(-1, 2))
        return cls(rest, nodes, draws, singles, times, numbered, draws[different.ends].ravel(), pair_times)

    def __call__(self, log_alpha: FloatArray) -> PriorSum:
        """Return ln Z and its gradient at log class weights (classes,)."""
        marginals, log_totals = shares(self.singles[:, None] * log_alpha)
        log_partition = float(self.times @ log_totals)
        counts = (self.times * self.singles) @ marginals

        scores = self.pair_draws[:, None] * log_alpha
        marginals = np.empty_like(scores)
        totals = infer_pairs(self.pairs, scores, marginals)
        log_partition += float(self.pair_times @ totals.log_partition)
        counts += (np.repeat(self.pair_times, 2) * self.pair_draws) @ marginals

        if self.nodes.size:
            found = infer(self.rest, self.draws[:, None] * log_alpha)
            log_partition += found.log_partition
            counts += self.draws[self.nodes] @ found.marginals[self.nodes]
        return PriorSum(log_partition, counts)


def _some(pairs: Pairs, which: IntArray | slice) -> Pairs:
    return Pairs(pairs.ends[which], pairs.log_equal[which], pairs.log_different[which], pairs.edges[which])
