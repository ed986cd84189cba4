"""The objective of HMRF-KMeans: distances from centres, −ln|A|, and prices of broken links."""

from typing import NamedTuple

import numpy as np

from sidelight._typing import BoolArray, FloatArray, IntArray
from sidelight.baselines.support.centres import settle_empty
from sidelight.baselines.support.conditional_modes import (
    DirectedPairs,
    Prices,
    UnitSet,
    both_ways,
    broken_cost,
    settle,
    unit_sets,
)
from sidelight.baselines.support.quadratic_metrics import Metric, Statistics
from sidelight.baselines.support.soft_links import soft_links
from sidelight.side import Closure, SideInformation


class Costs(NamedTuple):
    """Costs under the current centres and metric: of rows (n, clusters), without and with ln|A|, and of links."""

    distances: FloatArray
    unary: FloatArray
    prices: Prices


class HMRFEnergy(NamedTuple):
    """The table and its links.

    Parameters
    ----------
    X : (n, d)
    pairs : DirectedPairs
    weights : (pairs,)
    differences : (pairs, d)
        Of the rows of each pair.
    constant : float or None
        What every broken link costs; None where distances decide.
    units : list of lists of UnitSet
        What moves together, in turn: chunklets, then rows.
    unlinked : (n,) bool
        Rows without links.
    """

    X: FloatArray
    pairs: DirectedPairs
    weights: FloatArray
    differences: FloatArray
    constant: float | None
    units: list[list[UnitSet]]
    unlinked: BoolArray

    @classmethod
    def of(
        cls,
        X: FloatArray,
        side: SideInformation,
        closure: Closure,
        metric: Metric,
        *,
        constant: bool,
        link_weight: float,
    ) -> "HMRFEnergy":
        """Lay out the links of a table; a constant price is the mean squared distance from the mean of the table."""
        links = soft_links(side)
        pairs = both_ways(links.must, links.cannot)
        weights = link_weight * np.concatenate([links.must_weight] * 2 + [links.cannot_weight] * 2)
        unlinked = np.ones(len(X), dtype=bool)
        unlinked[pairs.rows] = False
        units = [unit_sets(pairs, closure.chunklets)] if len(closure.sizes) < len(X) else []
        units.append(unit_sets(pairs, np.arange(len(X))))
        price = float(metric.to_centres(X, np.tile(X.mean(axis=0), (metric.n_groups, 1))).mean()) if constant else None
        return cls(X, pairs, weights, X[pairs.rows] - X[pairs.partners], price, units, unlinked)

    def costs(self, metric: Metric, centres: FloatArray) -> Costs:
        """Return what rows and broken links cost."""
        distances = metric.to_centres(self.X, centres)
        return Costs(distances, distances - metric.log_det, self._prices(metric, len(centres)))

    def _prices(self, metric: Metric, n_clusters: int) -> Prices:
        """Return f_M, half for each end, and f_C, for every pair and cluster."""
        n_must = self.pairs.n_must
        if self.constant is not None:
            every = np.broadcast_to(self.constant * self.weights[:, None], (len(self.weights), n_clusters))
            return Prices(0.5 * every[:n_must], every[n_must:])
        lengths = metric.lengths(self.differences)
        must = 0.5 * self.weights[:n_must, None] * lengths[:n_must]
        cannot = self.weights[n_must:, None] * (metric.farthest - lengths[n_must:])
        return Prices(np.broadcast_to(must, (n_must, n_clusters)), np.broadcast_to(cannot, (len(cannot), n_clusters)))

    def assign(self, metric: Metric, costs: Costs, clusters: IntArray, *, max_sweeps: int) -> IntArray:
        """Return cheaper clusters: unlinked rows at once, linked ones by iterated conditional modes."""
        clusters = np.where(self.unlinked, costs.unary.argmin(axis=1), clusters)
        for sets in self.units:
            clusters = settle(clusters, costs.unary, self.pairs, costs.prices, sets, max_sweeps=max_sweeps)
        # With a metric per cluster, that of an empty one may be so narrow that filling it raises the objective.
        return settle_empty(costs.distances, clusters, self.unlinked) if metric.n_groups == 1 else clusters

    def statistics(self, metric: Metric, centres: FloatArray, clusters: IntArray) -> Statistics:
        """Return what the metric is learned from: spread about the centres, and broken links.

        Pairs are listed in both directions, so each direction counts half, for the cluster of its own row.
        """
        own, partner = clusters[self.pairs.rows], clusters[self.pairs.partners]
        must = np.arange(len(own)) < self.pairs.n_must
        broken = np.flatnonzero(np.where(must, own != partner, own == partner) & (self.constant is None))
        sign = np.where(must[broken], 0.5, -0.5) * self.weights[broken]
        group_of = np.arange(len(centres)) if metric.n_groups > 1 else np.zeros(len(centres), dtype=np.int64)
        groups = group_of[np.concatenate([clusters, own[broken]])]
        reach = np.bincount(groups[len(clusters) :], weights=np.maximum(-sign, 0.0), minlength=metric.n_groups)
        return Statistics(
            np.concatenate([self.X - centres[clusters], self.differences[broken]]),
            np.concatenate([np.ones(len(clusters)), sign]),
            groups,
            reach.astype(float),
            np.bincount(groups[: len(clusters)], minlength=metric.n_groups).astype(float),
        )

    def objective(self, metric: Metric, costs: Costs, clusters: IntArray) -> float:
        """Return the objective."""
        rows = float(costs.unary[np.arange(len(clusters)), clusters].sum())
        return rows + broken_cost(clusters, self.pairs, costs.prices) + metric.penalty()
