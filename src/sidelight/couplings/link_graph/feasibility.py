"""Refuse links that no assignment respects, and name the rows that prove it."""

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components, dijkstra

from sidelight._typing import AnyArray, IntArray
from sidelight.couplings.link_graph.exact.direct import double_cover
from sidelight.couplings.link_graph.problem import LinkProblem, Names
from sidelight.exceptions import InfeasibleError
from sidelight.graphs.colouring import OutOfBudgetError, UncolourableError, colour, find_conflict, neighbour_lists

# Rows and links that an error lists.
MAX_SHOWN = 8
_SEARCHES = 8
_MAX_TRIES = 100_000


class _Apart(NamedTuple):
    """Groups (g,) of nodes that must be equal, and the pairs (p, 2) of groups that must differ, the lower first.

    ``edges`` (p,) has a certain edge behind each pair, -1 where only the labels differ; ``nodes`` (p, 2) the nodes of
    that edge, or two with different labels, in the order of ``pairs``.
    """

    groups: IntArray
    pairs: IntArray
    edges: IntArray
    nodes: IntArray


def refuse_impossible_links(problem: LinkProblem, n_classes: int) -> None:
    """Raise an error that names rows whose links no assignment to this number of classes respects.

    Where the search for an assignment runs out of its budget, nothing is refused.
    """
    apart = _apart(problem)
    if not len(apart.pairs):
        return
    inside = np.flatnonzero(apart.pairs[:, 0] == apart.pairs[:, 1])
    if len(inside):
        raise _error(problem, n_classes, apart, inside[:1], "are bound to one class and kept apart")
    if n_classes == 2:
        cycle = _odd_cycle(apart)
        if cycle:
            raise _error(problem, n_classes, apart, cycle, "are an odd cycle of cannot-links, which takes 3 classes")
    else:
        _refuse_uncolourable(problem, n_classes, apart)


def feasible_number(problem: LinkProblem, n_classes: int) -> int:
    """Return the least number of classes, from this one on, that is not refused.

    Nodes that are bound to one class and kept apart are refused for every number.
    """
    while True:
        try:
            refuse_impossible_links(problem, n_classes)
        except InfeasibleError:
            if n_classes >= problem.n_nodes:
                raise
            n_classes += 1
        else:
            return n_classes


def _apart(problem: LinkProblem) -> _Apart:
    together = np.isneginf(problem.log_different)
    labelled = np.flatnonzero(problem.labels >= 0)
    _, first, place = np.unique(problem.labels[labelled], return_index=True, return_inverse=True)
    heads = labelled[first]
    tails = np.concatenate([problem.edges[together, 0], labelled]).astype(np.int32)
    ends = np.concatenate([problem.edges[together, 1], heads[place]]).astype(np.int32)
    graph = coo_array((np.ones(len(tails)), (tails, ends)), shape=(problem.n_nodes, problem.n_nodes))
    groups = connected_components(graph, directed=False)[1].astype(np.int64)
    edges = np.flatnonzero(np.isneginf(problem.log_equal))
    one, other = np.triu_indices(len(heads), k=1)
    nodes = np.concatenate([problem.edges[edges], np.column_stack([heads[one], heads[other]])])
    edges = np.concatenate([edges, np.full(len(one), -1)])
    pairs = groups[nodes]
    turned = pairs[:, 0] > pairs[:, 1]
    pairs[turned], nodes[turned] = pairs[turned, ::-1], nodes[turned, ::-1]
    _, kept = np.unique(pairs[:, 0] * problem.n_nodes + pairs[:, 1], return_index=True)
    return _Apart(groups, pairs[kept], edges[kept], nodes[kept])


def _odd_cycle(apart: _Apart) -> list[int]:
    """Return the pairs along a short odd cycle; none where there is none."""
    n = int(apart.groups.max()) + 1
    never = np.full(len(apart.pairs), -np.inf)
    graph = double_cover(LinkProblem(n, apart.pairs, never, np.zeros(len(never)), np.full(n, -1)))
    component = connected_components(graph, directed=False)[1]
    odd = np.flatnonzero(component[:n] == component[n:])
    if not len(odd):
        return []
    both_ways = (graph + graph.T).tocsr()
    shortest: list[int] = []
    for source in odd[np.linspace(0, len(odd) - 1, min(len(odd), _SEARCHES)).astype(int)].tolist():
        limit = len(shortest) - 2 if shortest else np.inf
        distance, previous = dijkstra(both_ways, indices=source, return_predecessors=True, unweighted=True, limit=limit)
        if np.isfinite(distance[source + n]):
            walk = [source + n]
            while walk[-1] != source:
                walk.append(int(previous[walk[-1]]))
            shortest = _simple([node % n for node in walk])
    number = {(a, b): place for place, (a, b) in enumerate(apart.pairs.tolist())}
    return [number[min(a, b), max(a, b)] for a, b in pairwise(shortest)]


def _simple(walk: list[int]) -> list[int]:
    """Return an odd cycle, first node repeated at the end, from a closed walk of odd length."""
    seen: dict[int, int] = {}
    for place, node in enumerate(walk[:-1]):
        if node in seen:
            # The walk falls into two closed walks here, one of which is odd.
            inner = walk[seen[node] : place + 1]
            outer = walk[: seen[node]] + walk[place:]
            return _simple(inner if len(inner) % 2 == 0 else outer)
        seen[node] = place
    return walk


def _refuse_uncolourable(problem: LinkProblem, n_classes: int, apart: _Apart) -> None:
    """Search for an assignment of the groups that could fail, those with as many neighbours as there are classes."""
    pairs = apart.pairs
    while True:
        degree = np.bincount(pairs.ravel(), minlength=len(apart.groups))
        hard = (degree[pairs] >= n_classes).all(axis=1)
        if hard.all():
            break
        pairs = pairs[hard]
    if not len(pairs):
        return
    nodes, inner = np.unique(pairs, return_inverse=True)
    neighbours = neighbour_lists(inner.reshape(-1, 2), len(nodes))
    try:
        colour(neighbours, np.zeros((len(nodes), n_classes)), max_tries=_MAX_TRIES)
    except OutOfBudgetError:
        return
    except UncolourableError as found:
        conflict = find_conflict(found.nodes, neighbours, n_classes, max_tries=_MAX_TRIES)
        among = np.flatnonzero(np.isin(apart.pairs, nodes[conflict.nodes]).all(axis=1))
        reason = "cannot be divided among so few"
        if conflict.is_clique:
            reason = f"are all kept apart from each other, which takes {len(conflict.nodes)} classes"
        raise _error(problem, n_classes, apart, among, reason) from None


def _error(
    problem: LinkProblem, n_classes: int, apart: _Apart, which: Sequence[int] | IntArray, reason: str
) -> InfeasibleError:
    """Put pairs that cannot all differ into words."""
    names = problem.names or Names(np.arange(problem.n_nodes), problem.edges, None)
    by_label = apart.edges[which] < 0
    ends = np.where(by_label[:, None], names.nodes[apart.nodes[which]], names.edges[apart.edges[which]])
    members = dict(zip(apart.pairs[which].ravel().tolist(), apart.nodes[which].ravel().tolist(), strict=True))
    rows = sorted(names.nodes[list(members.values())].tolist())

    links = [(int(a), int(b)) for a, b in ends]
    noun = "rows" if names.ids is None else "ids"
    who = list_rows(rows[:MAX_SHOWN], names.ids) + (f", … ({len(rows)} in all)" if len(rows) > MAX_SHOWN else "")
    return InfeasibleError(
        f"cannot_link asks for more than n_classes={n_classes}: {noun} {who} (and what they are bound to) {reason}. "
        f"The links are {list_links(links, by_label, names.ids)}. Raise n_classes, remove one of these links, or set "
        "link_confidence below 1.",
        tuple(sorted(set(ends.ravel().tolist()))),
        tuple(links),
    )


def list_rows(rows: Sequence[int], ids: AnyArray | None) -> str:
    """Return rows, by their ids where they have any, as a list in words."""
    return ", ".join(str(row) if ids is None else repr(ids[row : row + 1].tolist()[0]) for row in rows)


def list_links(links: Sequence[tuple[int, int]], labels_differ: Sequence[bool] | AnyArray, ids: AnyArray | None) -> str:
    """Return the first links as a list in words; those that only labels imply are marked."""
    words = [
        "–".join(list_rows([row], ids) for row in link) + (" (labels differ)" if differ else "")
        for link, differ in zip(links[:MAX_SHOWN], labels_differ, strict=False)
    ]
    return ", ".join(words) + (f" and {len(links) - MAX_SHOWN} more" if len(links) > MAX_SHOWN else "")
