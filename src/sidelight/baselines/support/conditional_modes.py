"""Iterated conditional modes (Besag 1986) over linked rows; the energy never rises.

Units, single rows or whole chunklets, that no link joins can change at the same time as if one after the other. So the
units are divided into sets without links inside, and each set is updated at once.
"""

from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array

from sidelight._typing import FloatArray, IntArray
from sidelight.graphs.independent_sets import first_fit_sets


class DirectedPairs(NamedTuple):
    """Linked pairs, each in both directions: first all must-links, then all cannot-links.

    Parameters
    ----------
    rows, partners : (p,)
    n_must : int
        How many of them, from the front, are must-links.
    """

    rows: IntArray
    partners: IntArray
    n_must: int


class Prices(NamedTuple):
    """What broken links cost.

    Parameters
    ----------
    must : (must pairs, clusters)
        A must-link broken by rows in clusters k and l costs the entries of k and l together.
    cannot : (cannot pairs, clusters)
        A cannot-link broken in cluster k costs the entry of k.
    """

    must: FloatArray
    cannot: FloatArray


class UnitSet(NamedTuple):
    """Units without links between them.

    Parameters
    ----------
    rows : (r,)
        Their rows.
    unit : (r,)
        The unit of each, numbered within the set.
    add_rows : (units, r)
        Sparse; adds up what the rows of each unit have.
    outer : (p,)
        Pairs, by position, from these rows to rows of other units.
    add_outer : (units, p)
        Sparse; adds up what those pairs cost.
    inner, add_inner : (q,), (units, q)
        The same for pairs within a unit.
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

    Parameters
    ----------
    clusters : (n,)
        Where rows are now.
    unary : (n, clusters)
        What each row costs in each cluster by itself.
    pairs : DirectedPairs
    prices : Prices
    sets : list of UnitSet
    max_sweeps : int
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
