"""The objective of HMRF-KMeans, distances from centres, −ln|A| and prices of broken links, and how links are settled.

Linked rows change by iterated conditional modes (Besag 1986); the energy never rises. Units, single rows or whole
chunklets, that no link joins can change at the same time as if one after the other. So the units are divided into sets
without links inside, and each set is updated at once.
"""

from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array

from sidelight._typing import BoolArray, FloatArray, IntArray
from sidelight.baselines.support.centres import settle_empty
from sidelight.baselines.support.quadratic_metrics import Metric, Statistics
from sidelight.baselines.support.similarity import soft_links
from sidelight.graphs.independent_sets import first_fit_sets
from sidelight.side import Closure, SideInformation


class DirectedPairs(NamedTuple):
    """Linked pairs (p,), each in both directions: first all must-links, ``n_must`` of them, then all cannot-links."""

    rows: IntArray
    partners: IntArray
    n_must: int


class Prices(NamedTuple):
    """What broken links cost, (must pairs, clusters) and (cannot pairs, clusters).

    A must-link broken by rows in clusters k and l costs the entries of k and l together, a cannot-link broken in
    cluster k the entry of k.
    """

    must: FloatArray
    cannot: FloatArray


class UnitSet(NamedTuple):
    """Units without links between them.

    Parameters
    ----------
    rows, unit : (r,)
        Their rows, and the unit of each, numbered within the set.
    outer, inner : (p,), (q,)
        Pairs, by position, from these rows to rows of other units, and within a unit.
    add_rows, add_outer, add_inner : (units, r), (units, p), (units, q)
        Sparse; they add up what the rows of each unit have, and what its pairs cost.
    """

    rows: IntArray
    unit: IntArray
    add_rows: "csr_array[np.float64]"
    outer: IntArray
    add_outer: "csr_array[np.float64]"
    inner: IntArray
    add_inner: "csr_array[np.float64]"


def both_ways(must: IntArray, cannot: IntArray) -> DirectedPairs:
    """Write pairs (m, 2) in both directions."""
    return DirectedPairs(
        np.concatenate([must[:, 0], must[:, 1], cannot[:, 0], cannot[:, 1]]),
        np.concatenate([must[:, 1], must[:, 0], cannot[:, 1], cannot[:, 0]]),
        2 * len(must),
    )


def unit_sets(pairs: DirectedPairs, unit_of_row: IntArray) -> list[UnitSet]:
    """Divide the units that have linked rows into sets without links between units of one set."""
    linked = np.unique(pairs.rows)
    units, unit = np.unique(unit_of_row[linked], return_inverse=True)
    place = np.full(len(unit_of_row), -1, dtype=np.int64)
    place[linked] = unit
    # A unit moves as a whole, so its rows without links move along.
    member = np.searchsorted(units, unit_of_row)
    member[member == len(units)] = 0
    rows = np.flatnonzero(units[member] == unit_of_row) if len(units) else linked
    row_unit = member[rows]
    tails, heads = place[pairs.rows], place[pairs.partners]
    between = tails != heads
    links = csr_array((np.ones(between.sum()), (tails[between], heads[between])), shape=(len(units), len(units)))
    set_of_unit = first_fit_sets(links)
    sets = []
    for number in range(int(set_of_unit.max(initial=-1)) + 1):
        chosen = np.flatnonzero(set_of_unit == number)
        within = np.full(len(units), -1, dtype=np.int64)
        within[chosen] = np.arange(len(chosen))
        own = np.flatnonzero(set_of_unit[row_unit] == number)
        here = set_of_unit[tails] == number
        outer, inner = np.flatnonzero(here & (tails != heads)), np.flatnonzero(here & (tails == heads))
        add_rows, add_outer, add_inner = (
            _adder(within[units_of], len(chosen)) for units_of in (row_unit[own], tails[outer], tails[inner])
        )
        sets.append(UnitSet(rows[own], within[row_unit[own]], add_rows, outer, add_outer, inner, add_inner))
    return sets


def _adder(groups: IntArray, n_groups: int) -> "csr_array[np.float64]":
    m = len(groups)
    return csr_array((np.ones(m), (groups, np.arange(m))), shape=(n_groups, m))


def settle(
    clusters: IntArray, unary: FloatArray, pairs: DirectedPairs, prices: Prices, sets: list[UnitSet], *, max_sweeps: int
) -> IntArray:
    """Move units to their cheapest cluster given all others, set by set, until none moves.

    ``clusters`` (n,) has where rows are now, ``unary`` (n, clusters) what each costs in each cluster by itself.
    """
    clusters = clusters.copy()
    for _ in range(max_sweeps):
        moved = [_update(clusters, unary, pairs, prices, units) for units in sets]
        if not any(moved):
            break
    return clusters


def _update(clusters: IntArray, unary: FloatArray, pairs: DirectedPairs, prices: Prices, units: UnitSet) -> bool:
    """Move the units of one set, in place."""
    own = clusters[units.rows]
    outer = _charges(clusters, pairs, prices, units.outer)
    costs = units.add_rows @ unary[units.rows] + units.add_outer @ outer
    now = units.add_rows @ unary[units.rows, own]
    now += units.add_outer @ outer[np.arange(len(outer)), clusters[pairs.rows[units.outer]]]
    if len(units.inner):
        # Within a unit all rows share a cluster after the move: must-links hold, cannot-links break. Both directions
        # are listed, so each counts half.
        together = np.zeros((len(units.inner), unary.shape[1]))
        cannot = units.inner >= pairs.n_must
        together[cannot] = prices.cannot[units.inner[cannot] - pairs.n_must]
        costs += 0.5 * (units.add_inner @ together)
        inner = _charges(clusters, pairs, prices, units.inner)
        now += 0.5 * (units.add_inner @ inner[np.arange(len(inner)), clusters[pairs.rows[units.inner]]])

    best = costs.argmin(axis=1)
    # Rounding must not make a unit go round in circles between clusters that cost the same.
    better = costs[np.arange(len(best)), best] < now - 1e-12 * np.maximum(np.abs(now), 1.0)
    moving = better[units.unit]
    clusters[units.rows[moving]] = best[units.unit[moving]]
    return bool(better.any())


def _charges(clusters: IntArray, pairs: DirectedPairs, prices: Prices, chosen: IntArray) -> FloatArray:
    """Return the cost of each chosen pair for every cluster of its row, given the cluster of its partner."""
    theirs = clusters[pairs.partners[chosen]]
    must = chosen < pairs.n_must
    charges = np.zeros((len(chosen), prices.must.shape[1]))
    table = prices.must[chosen[must]]
    at = np.arange(len(table))
    table = table + table[at, theirs[must]][:, None]
    table[at, theirs[must]] = 0.0
    charges[must] = table
    table = prices.cannot[chosen[~must] - pairs.n_must]
    charges[np.flatnonzero(~must), theirs[~must]] = table[np.arange(len(table)), theirs[~must]]
    return charges


def broken_cost(clusters: IntArray, pairs: DirectedPairs, prices: Prices) -> float:
    """Return what all broken links cost."""
    charges = _charges(clusters, pairs, prices, np.arange(len(pairs.rows)))
    return 0.5 * float(charges[np.arange(len(charges)), clusters[pairs.rows]].sum())


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
    weights, differences : (pairs,), (pairs, d)
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
