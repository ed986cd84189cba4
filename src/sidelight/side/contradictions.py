"""Statements that cannot all be true, reported with the shortest chain that proves it."""

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.csgraph import dijkstra

from sidelight.exceptions import ContradictionError
from sidelight.side.bonds import Bonds, IntArray, graph

# Rows of a chain and steps through groups that a message shows; starts from which proofs are sought.
_SHOWN = 8
_NOTES = 3
_SEARCHES = 64


class GroupWords(NamedTuple):
    """How a group is spoken of: ``step`` follows "4 and 9", ``end`` explains a single row."""

    step: str
    end: str


class Wording(NamedTuple):
    """How rows (by id, where there are ids) and groups are named in messages, and what to advise."""

    ids: NDArray[Any] | None
    group: Callable[[int], GroupWords]
    remedy: str

    @property
    def noun(self) -> str:
        """What rows are called."""
        return "rows" if self.ids is None else "ids"

    def row(self, number: int) -> str:
        """Name a row."""
        return str(number) if self.ids is None else repr(self.ids[number : number + 1].tolist()[0])


class _Proof(NamedTuple):
    length: float
    nodes: list[int]


def refuse_contradictions(bonds: Bonds, component: IntArray, wording: Wording) -> None:
    """Raise `ContradictionError` when what is apart is bound together; ``component`` is of all nodes.

    The proof reported is a shortest one if the contradictions start from no more than 64 nodes; beyond
    that, the shortest among those of 64 of them.
    """
    inside = bonds.apart[component[bonds.apart[:, 0]] == component[bonds.apart[:, 1]]]
    groups, n_clashes = _clashing_groups(bonds, component)
    count = len(inside) + n_clashes
    if count:
        proof = _shortest_proof(bonds, inside, groups)
        raise _error(bonds, proof.nodes, count, wording)


def _clashing_groups(bonds: Bonds, component: IntArray) -> tuple[IntArray, int]:
    """Find the groups bound to another group of their faction; count the clashes."""
    groups = np.flatnonzero(bonds.factions >= 0)
    key = component[bonds.n_rows + groups] * (bonds.factions.max(initial=0) + 1) + bonds.factions[groups]
    _, inverse, counts = np.unique(key, return_inverse=True, return_counts=True)
    return groups[counts[inverse] > 1], int((counts - 1).sum())


def _sources(bonds: Bonds, inside: IntArray, groups: IntArray) -> Iterator[tuple[int, IntArray, float]]:
    """Give the nodes at which a proof may start, the nodes at which it ends, and the cost of the clash."""
    n = bonds.n_rows
    # Pairs that are also joined directly have the shortest proof there is, so they come first.
    direct = np.isin(inside[:, 0] * n + inside[:, 1], bonds.pairs[:, 0] * n + bonds.pairs[:, 1])
    for source in dict.fromkeys(inside[np.argsort(~direct, kind="stable"), 0].tolist()):
        yield source, inside[inside[:, 0] == source, 1], 1.0
    for group in groups.tolist():
        rivals = groups[(bonds.factions[groups] == bonds.factions[group]) & (groups != group)]
        yield n + group, n + rivals, 0.0


def _shortest_proof(bonds: Bonds, inside: IntArray, groups: IntArray) -> _Proof:
    one_way = graph(bonds)
    both_ways = one_way + one_way.T
    best = _Proof(np.inf, [])
    for searches, (source, targets, cost) in enumerate(_sources(bonds, inside, groups)):
        if searches == _SEARCHES or best.length <= 2:
            break
        distance, previous = dijkstra(both_ways, indices=source, return_predecessors=True, limit=best.length - cost)
        nearest = int(targets[np.argmin(distance[targets])])
        if distance[nearest] + cost < best.length:
            best = _Proof(distance[nearest] + cost, _path(previous, source, nearest))
    return best


def _path(previous: NDArray[np.int32], source: int, target: int) -> list[int]:
    nodes = [target]
    while nodes[-1] != source:
        nodes.append(int(previous[nodes[-1]]))
    return nodes[::-1]


def _error(bonds: Bonds, nodes: list[int], count: int, wording: Wording) -> ContradictionError:
    """Put a path between nodes that must stay apart, two rows or two groups, into words."""
    n = bonds.n_rows
    chain = tuple(node for node in nodes if node < n)
    names = [wording.row(row) for row in chain]
    # What follows a row is the next row, or the group that binds it to the one after.
    bound_by = [after - n for before, after in pairwise(nodes) if before < n][: len(chain) - 1]
    steps = tuple(
        f"{a} and {b} {'must link' if group < 0 else wording.group(group).step}"
        for (a, b), group in zip(pairwise(names), bound_by, strict=True)
    )
    if nodes[0] < n:
        dash, but = "–", f"but {names[0]}–{names[-1]} cannot"
    else:
        dash, but = " – ", "but the labels differ"
        names[0] += f" ({wording.group(nodes[0] - n).end})"
        names[-1] += f" ({wording.group(nodes[-1] - n).end})"
    shown = dash.join(names)
    if len(names) > _SHOWN:
        shown = f"{names[0]}{dash}…{dash}{names[-1]} (a chain of {len(names)} rows)"
    notes = [step for step, group in zip(steps, bound_by, strict=True) if group >= 0]
    if len(notes) > _NOTES:
        notes = [*notes[:_NOTES], "…"]
    because = f" ({'; '.join(notes)})" if notes else ""
    more = f" (and {count - 1} more)" if count > 1 else ""
    message = f"{wording.noun} {shown} must link{because}, {but}{more}: {wording.remedy}"
    return ContradictionError(message, chain, steps, count)
