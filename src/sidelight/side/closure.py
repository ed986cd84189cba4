"""Transitive closure: which rows must share a class, and which groups of rows are kept apart.

Rows are joined by pairs (must-links) and by membership of a group (a label, a block, one annotator's label). Groups are
nodes of the graph, so that a label of a million rows costs a million edges and not its square.
"""

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.sparse import coo_array, csr_array
from scipy.sparse.csgraph import connected_components

from sidelight._typing import IntArray

if TYPE_CHECKING:
    from sidelight.side.information import SideInformation

NO_PAIRS: IntArray = np.empty((0, 2), dtype=np.int64)
NO_PAIRS.setflags(write=False)


class Closure(NamedTuple):
    """Everything that certain statements entail.

    Attributes
    ----------
    chunklets : (n,) int
        Chunklet of each row, numbered 0, 1, … by first row. A row without statements is a chunklet of one; rows of one
        label are in one chunklet.
    labels : (C,) int
        Label code of each chunklet, -1 unknown.
    cannot : (q, 2) int
        Chunklets a < b that a certain cannot-link keeps apart, each pair once and in order. Chunklets that only their
        labels keep apart are not listed; `separated` includes them.
    sizes : (C,) int
        Number of rows of each chunklet.

    Examples
    --------
    >>> from sidelight import SideInformation
    >>> closure = SideInformation.build(4, must_link=[(0, 1), (1, 3)]).closure()
    >>> closure.chunklets.tolist()
    [0, 0, 1, 0]
    """

    chunklets: IntArray
    labels: IntArray
    cannot: IntArray
    sizes: IntArray

    def separated(self) -> IntArray:
        """Return the pairs of chunklets a < b kept apart by cannot-links or by different labels.

        Returns
        -------
        (m, 2) array of int
            Numbers of chunklets, the lower first.
        """
        by_label = all_pairs(np.flatnonzero(self.labels >= 0))
        return np.unique(np.concatenate([self.cannot, by_label]), axis=0)


class Constraints(NamedTuple):
    """Certain statements as a graph.

    ``must_link`` (m, 2) are rows joined directly, ``members`` (k, 2) a row and the group it belongs to, ``cannot_link``
    (q, 2) rows that must not share a class. ``exclusive`` (g,) has the set of each group: groups of one set (0, 1, …)
    exclude each other; -1 is in no set.
    """

    n_rows: int
    must_link: IntArray
    members: IntArray
    exclusive: IntArray
    cannot_link: IntArray


class Conflicts(NamedTuple):
    """Cannot-links within a component, groups joined to another group of their set, and the number of both."""

    pairs: IntArray
    groups: IntArray
    total: int


def certain_constraints(side: "SideInformation", *, labels: bool = True) -> Constraints:
    """Collect the certain statements; the groups are the labels, then the blocks.

    Without ``labels``, rows of one label are not joined.
    """
    n_labels = len(side.label_names)
    labelled = np.flatnonzero((side.labels >= 0) & labels)
    in_block = np.flatnonzero(side.blocks >= 0)
    return Constraints(
        side.n_rows,
        side.must_link[side.must_link_confidence == 1],
        np.concatenate(
            [
                np.column_stack([labelled, side.labels[labelled]]),
                np.column_stack([in_block, side.blocks[in_block] + n_labels]),
            ]
        ),
        np.repeat(np.array([0, -1]), [n_labels, len(side.block_names)]),
        side.cannot_link[side.cannot_link_confidence == 1],
    )


def close(side: "SideInformation") -> Closure:
    """Work out what the certain statements entail (confidence 1); see `SideInformation.closure`."""
    constraints = certain_constraints(side)
    component = components(constraints)
    conflicts = find_conflicts(constraints, component)
    if conflicts.total:
        from sidelight.side.contradictions import contradiction, wording_of

        raise contradiction(constraints, conflicts, wording_of(side))
    chunklets = number_by_first(component[: side.n_rows])
    n_chunklets = int(chunklets.max(initial=-1)) + 1
    labels = np.full(n_chunklets, -1, dtype=np.int64)
    labelled = side.labels >= 0
    labels[chunklets[labelled]] = side.labels[labelled]
    sizes = np.bincount(chunklets, minlength=n_chunklets).astype(np.int64)
    closure = Closure(chunklets, labels, _distinct_pairs(chunklets[constraints.cannot_link], n_chunklets), sizes)
    for array in closure:
        array.setflags(write=False)
    return closure


def _distinct_pairs(pairs: IntArray, size: int) -> IntArray:
    # One number per pair: sorting numbers is an order of magnitude faster than sorting rows of a table.
    key = np.unique(pairs.min(axis=1) * size + pairs.max(axis=1))
    return np.column_stack(np.divmod(key, max(size, 1))).astype(np.int64)


def find_conflicts(constraints: Constraints, component: IntArray) -> Conflicts:
    """Find what must be apart and yet is joined; ``component`` is of all rows, then of all groups."""
    apart = constraints.cannot_link
    pairs = apart[component[apart[:, 0]] == component[apart[:, 1]]]
    groups = np.flatnonzero(constraints.exclusive >= 0)
    sets = constraints.exclusive[groups]
    key = component[constraints.n_rows + groups] * (sets.max(initial=0) + 1) + sets
    _, inverse, counts = np.unique(key, return_inverse=True, return_counts=True)
    return Conflicts(pairs, groups[counts[inverse] > 1], len(pairs) + int((counts - 1).sum()))


def graph(constraints: Constraints) -> "csr_array[Any]":
    """Return the graph of rows, then groups; a step through a group is as long as a step along a must-link."""
    pairs, members = constraints.must_link, constraints.members
    size = constraints.n_rows + len(constraints.exclusive)
    tails = np.concatenate([pairs[:, 0], members[:, 0]])
    heads = np.concatenate([pairs[:, 1], members[:, 1] + constraints.n_rows])
    lengths = np.concatenate([np.ones(len(pairs)), np.full(len(members), 0.5)])
    # SciPy's graph routines before 1.15 take 32-bit indices only.
    ends = (tails.astype(np.int32), heads.astype(np.int32))
    return coo_array((lengths, ends), shape=(size, size)).tocsr()


def components(constraints: Constraints) -> IntArray:
    """Return the number of the connected component of each row, then of each group."""
    _, component = connected_components(graph(constraints), directed=False)
    return component.astype(np.int64)


def number_by_first(values: IntArray) -> IntArray:
    """Renumber ``values`` 0, 1, … in the order in which they first occur."""
    _, first, inverse = np.unique(values, return_index=True, return_inverse=True)
    rank = np.empty(len(first), dtype=np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    return rank[inverse]


def join_groups(n_rows: int, members: IntArray, n_groups: int) -> IntArray:
    """Give each row one group, joining groups that share a row; -1 for rows in none.

    Joined groups carry the lowest of their numbers.
    """
    component = components(Constraints(n_rows, NO_PAIRS, members, np.full(n_groups, -1), NO_PAIRS))
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


def all_pairs(rows: IntArray) -> IntArray:
    """Pair each of a few rows with each other."""
    first, second = np.triu_indices(len(rows), k=1)
    return np.column_stack([rows[first], rows[second]]).astype(np.int64)
