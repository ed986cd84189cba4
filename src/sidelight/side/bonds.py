"""Rows bound together: the graph under every question about what side information entails.

Rows are joined by pairs (must-links) and by membership of a group (a label, a block, one annotator's
label). Groups are nodes of their own, so a label that a million rows share costs a million edges and not
its square.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array
from scipy.sparse.csgraph import connected_components

IntArray = NDArray[np.int64]


class Bonds(NamedTuple):
    """What binds rows together and what keeps them apart, all of it certain.

    Attributes
    ----------
    n_rows : int
        Number of rows.
    pairs : (m, 2) rows joined directly.
    members : (k, 2) row and the group it belongs to.
    factions : (g,) faction of each group; groups of one faction (0, 1, …) exclude each other, -1 excludes
        nobody.
    apart : (q, 2) rows that must not come together.
    """

    n_rows: int
    pairs: IntArray
    members: IntArray
    factions: IntArray
    apart: IntArray


def graph(bonds: Bonds) -> "csr_array[Any]":
    """Give the graph of rows, then groups; a step through a group is as long as a step along a pair."""
    pairs, members = bonds.pairs, bonds.members
    size = bonds.n_rows + len(bonds.factions)
    tails = np.concatenate([pairs[:, 0], members[:, 0]])
    heads = np.concatenate([pairs[:, 1], members[:, 1] + bonds.n_rows])
    lengths = np.concatenate([np.ones(len(pairs)), np.full(len(members), 0.5)])
    # SciPy's graph routines before 1.15 take 32-bit indices only.
    ends = (tails.astype(np.int32), heads.astype(np.int32))
    return coo_array((lengths, ends), shape=(size, size)).tocsr()


def components(bonds: Bonds) -> IntArray:
    """Give the number of the connected component of each row, then of each group."""
    _, component = connected_components(graph(bonds), directed=False)
    return component.astype(np.int64)


def number_by_first(values: IntArray) -> IntArray:
    """Renumber ``values`` 0, 1, … in the order in which they first occur."""
    _, first, inverse = np.unique(values, return_index=True, return_inverse=True)
    rank = np.empty(len(first), dtype=np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    return rank[inverse]


def join_groups(n_rows: int, members: IntArray, n_groups: int) -> IntArray:
    """Give each row one group, joining groups that share a row; -1 for rows in none.

    Groups that are joined go by the lowest of their numbers.
    """
    nothing = np.empty((0, 2), dtype=np.int64)
    component = components(Bonds(n_rows, nothing, members, np.full(n_groups, -1), nothing))
    lowest = np.full(n_rows + n_groups, n_groups, dtype=np.int64)
    np.minimum.at(lowest, component[n_rows:], np.arange(n_groups))
    codes = np.full(n_rows, -1, dtype=np.int64)
    codes[members[:, 0]] = lowest[component[members[:, 0]]]
    return codes


def chain(keys: IntArray, rows: IntArray) -> IntArray:
    """Join rows of equal key by as few pairs as connect them: a chain in the order of the rows."""
    order = np.lexsort((rows, keys))
    same = keys[order][1:] == keys[order][:-1]
    return np.column_stack([rows[order][:-1][same], rows[order][1:][same]]).astype(np.int64)
