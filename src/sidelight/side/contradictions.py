"""The shortest chain that proves a contradiction, and its wording."""

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.csgraph import dijkstra

from sidelight._typing import AnyArray, IntArray
from sidelight.exceptions import ContradictionError
from sidelight.side.closure import Conflicts, Constraints, graph

if TYPE_CHECKING:
    from sidelight.side.information import SideInformation

# Rows of a chain and steps through groups that a message shows; nodes from which proofs are searched.
_MAX_SHOWN = 8
_MAX_NOTES = 3
_MAX_SEARCHES = 64


class GroupWording(NamedTuple):
    """How a message names a group: ``step`` follows "4 and 9", ``end`` explains a single row."""

    step: str
    end: str


class Wording(NamedTuple):
    """How a message names rows (by id, where there are ids) and groups, and what it advises."""

    ids: AnyArray | None
    group: Callable[[int], GroupWording]
    remedy: str

    @property
    def noun(self) -> str:
        """What rows are called."""
        return "rows" if self.ids is None else "ids"

    def row(self, number: int) -> str:
        """Name a row."""
        return str(number) if self.ids is None else _quoted(self.ids, number)


class _Proof(NamedTuple):
    length: float
    nodes: list[int]


def wording_of(side: "SideInformation") -> Wording:
    """Name rows, labels and blocks as the user does; groups are the labels, then the blocks."""
    n_labels = len(side.label_names)

    def group(number: int) -> GroupWording:
        if number < n_labels:
            name = _quoted(side.label_names, number)
            return GroupWording(f"are both labelled {name}", f"label {name}")
        name = _quoted(side.block_names, number - n_labels)
        return GroupWording(f"share block {name}", f"block {name}")

    return Wording(side.ids, group, "remove one of these statements, or give the links among them a confidence below 1")


def _quoted(names: AnyArray, number: int) -> str:
    return repr(names[number : number + 1].tolist()[0])


def contradiction(constraints: Constraints, conflicts: Conflicts, wording: Wording) -> ContradictionError:
    """Return the error that proves one of the conflicts.

    The proof is a shortest one if the conflicts start from at most 64 nodes; beyond that, the shortest among those of
    64 of them.
    """
    return _error(constraints.n_rows, _shortest_proof(constraints, conflicts), conflicts.total, wording)


def _sources(constraints: Constraints, conflicts: Conflicts) -> Iterator[tuple[int, IntArray, float]]:
    """Yield the nodes at which a proof may start, the nodes at which it ends, and the length of the last step."""
    n, joined, pairs, groups = constraints.n_rows, constraints.must_link, conflicts.pairs, conflicts.groups
    # Pairs that are also joined directly have the shortest proof possible, so they come first.
    direct = np.isin(pairs[:, 0] * n + pairs[:, 1], joined[:, 0] * n + joined[:, 1])
    for source in dict.fromkeys(pairs[np.argsort(~direct, kind="stable"), 0].tolist()):
        yield source, pairs[pairs[:, 0] == source, 1], 1.0
    sets = constraints.exclusive
    for group in groups.tolist():
        yield n + group, n + groups[(sets[groups] == sets[group]) & (groups != group)], 0.0


def _shortest_proof(constraints: Constraints, conflicts: Conflicts) -> list[int]:
    """Return the nodes of a path between two rows, or two groups, that must be apart."""
    one_way = graph(constraints)
    both_ways = one_way + one_way.T
    best = _Proof(np.inf, [])
    for searches, (source, targets, last) in enumerate(_sources(constraints, conflicts)):
        if searches == _MAX_SEARCHES or best.length <= 2:
            break
        distance, previous = dijkstra(both_ways, indices=source, return_predecessors=True, limit=best.length - last)
        nearest = int(targets[np.argmin(distance[targets])])
        if distance[nearest] + last < best.length:
            best = _Proof(distance[nearest] + last, _path(previous, source, nearest))
    return best.nodes


def _path(previous: NDArray[Any], source: int, target: int) -> list[int]:
    nodes = [target]
    while nodes[-1] != source:
        nodes.append(int(previous[nodes[-1]]))
    return nodes[::-1]


def _error(n: int, nodes: list[int], count: int, wording: Wording) -> ContradictionError:
    """Put a path between nodes that must stay apart, two rows or two groups, into words."""
    chain = tuple(node for node in nodes if node < n)
    names = [wording.row(row) for row in chain]
    # A row is followed by the next row, or by the group that joins it to the one after.
    joined_by = [after - n for before, after in pairwise(nodes) if before < n][: len(chain) - 1]
    steps = tuple(
        f"{a} and {b} {'must link' if group < 0 else wording.group(group).step}"
        for (a, b), group in zip(pairwise(names), joined_by, strict=True)
    )
    if nodes[0] < n:
        dash, but = "–", f"but {names[0]}–{names[-1]} cannot"
    else:
        dash, but = " – ", "but the labels differ"
        names[0] += f" ({wording.group(nodes[0] - n).end})"
        names[-1] += f" ({wording.group(nodes[-1] - n).end})"
    shown = dash.join(names)
    if len(names) > _MAX_SHOWN:
        shown = f"{names[0]}{dash}…{dash}{names[-1]} (a chain of {len(names)} rows)"
    notes = [step for step, group in zip(steps, joined_by, strict=True) if group >= 0]
    if len(notes) > _MAX_NOTES:
        notes = [*notes[:_MAX_NOTES], "…"]
    because = f" ({'; '.join(notes)})" if notes else ""
    more = f" (and {count - 1} more)" if count > 1 else ""
    message = f"{wording.noun} {shown} must link{because}, {but}{more}: {wording.remedy}"
    return ContradictionError(message, chain, steps, count)
