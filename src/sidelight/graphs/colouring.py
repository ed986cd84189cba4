"""Graph colouring with costs: neighbours get different colours, cheap colours first.

A node with fewer neighbours than there are colours can always be coloured last, so such nodes are peeled off first.
The others, often none, are searched with backtracking (Brélaz 1979: the node with the fewest colours left first),
which ends in a colouring or in the proof that none exists, unless the budget runs out. A graph without a colouring has
a small conflict, which errors name.
"""

from collections import deque
from heapq import heapify, heappop, heappush
from typing import NamedTuple

import numpy as np
from scipy.sparse import coo_array, csr_array
from scipy.sparse.csgraph import connected_components

from sidelight._typing import FloatArray, IntArray

Neighbours = list[list[int]]

# Budgets of the search for a small conflict.
_CLIQUE_STEPS = 20_000
_SHRINKING_WORK = 1_000_000


class CoreSplit(NamedTuple):
    """Nodes that can always be coloured, in the order they were peeled off, and the others, the core."""

    easy: list[int]
    core: list[int]


class Search(NamedTuple):
    """The result of a search: a colour of each node, or None; and the number of choices it tried.

    Without colours, ``tried`` below the budget proves that no colouring exists.
    """

    colours: dict[int, int] | None
    tried: int


class OutOfBudgetError(Exception):
    """The search ended without a colouring and without a proof that there is none."""


class UncolourableError(Exception):
    """No colouring exists; ``nodes`` are connected nodes that cannot be coloured by themselves."""

    def __init__(self, nodes: list[int]) -> None:
        super().__init__(nodes)
        self.nodes = nodes


def neighbour_lists(pairs: IntArray, n_nodes: int) -> Neighbours:
    """Return the neighbours of each node, from pairs (m, 2)."""
    both = np.concatenate([pairs, pairs[:, ::-1]])
    both = both[np.argsort(both[:, 0], kind="stable")]
    starts = np.searchsorted(both[:, 0], np.arange(n_nodes + 1)).tolist()
    partners = both[:, 1].tolist()
    return [partners[starts[node] : starts[node + 1]] for node in range(n_nodes)]


def colour(neighbours: Neighbours, costs: FloatArray, *, max_tries: int) -> IntArray:
    """Return a colour of each node of a graph, (nodes,), cheap colours first.

    Costs (nodes, colours) decide which colours are tried first, not which are accepted. The search may try
    ``max_tries`` choices.

    Raises
    ------
    UncolourableError
        If no colouring exists.
    OutOfBudgetError
        If the budget ran out before a colouring or a proof was found.
    """
    n_colours = costs.shape[1]
    ranked = np.argsort(costs, axis=1, kind="stable")
    colours = np.full(len(neighbours), -1, dtype=np.int64)
    peeled = peel(range(len(neighbours)), neighbours, n_colours)
    left = max_tries
    for nodes in connected(peeled.core, neighbours):
        found = search(nodes, neighbours, ranked, max_tries=left)
        left -= found.tried
        if found.colours is None:
            raise OutOfBudgetError if left <= 0 else UncolourableError(nodes)
        for node, shade in found.colours.items():
            colours[node] = shade
    for node in reversed(peeled.easy):
        taken = {int(colours[other]) for other in neighbours[node]}
        colours[node] = next(shade for shade in ranked[node] if shade not in taken)
    return colours


def peel(nodes: range | list[int], neighbours: Neighbours, n_colours: int) -> CoreSplit:
    """Take off nodes with fewer than ``n_colours`` neighbours left, again and again."""
    degree = dict.fromkeys(nodes, 0)
    for node in degree:
        degree[node] = sum(other in degree for other in neighbours[node])
    waiting = deque(node for node, count in degree.items() if count < n_colours)
    easy = []
    while waiting:
        node = waiting.popleft()
        if node not in degree:
            continue
        del degree[node]
        easy.append(node)
        for other in neighbours[node]:
            if other in degree:
                degree[other] -= 1
                if degree[other] == n_colours - 1:
                    waiting.append(other)
    return CoreSplit(easy, list(degree))


def connected(nodes: list[int], neighbours: Neighbours) -> list[list[int]]:
    """Divide nodes into connected components of the graph that they span."""
    place = {node: number for number, node in enumerate(nodes)}
    edges = [(place[node], place[other]) for node in nodes for other in neighbours[node] if other in place]
    ends = np.array(edges, dtype=np.int64).reshape(-1, 2)
    graph = coo_array((np.ones(len(ends)), (ends[:, 0], ends[:, 1])), shape=(len(nodes), len(nodes)))
    n_parts, part = connected_components(graph, directed=False)
    parts: list[list[int]] = [[] for _ in range(n_parts)]
    for node, number in zip(nodes, part, strict=True):
        parts[number].append(node)
    return parts


def search(nodes: list[int], neighbours: Neighbours, ranked: IntArray, *, max_tries: int) -> Search:
    """Colour a connected graph by backtracking with forward checking, or prove that it cannot be done.

    Unused colours are interchangeable: where one of them fails, the others would.
    """
    n_colours = int(ranked.shape[1])
    inside = set(nodes)
    near = {node: [other for other in neighbours[node] if other in inside] for node in nodes}
    # How many neighbours of a node have each colour, and how many colours that leaves.
    blocked = {node: [0] * n_colours for node in nodes}
    options: dict[int, int] = dict.fromkeys(nodes, n_colours)
    used = [0] * n_colours
    colours: dict[int, int] = {}
    heap = [(n_colours, -len(near[node]), node) for node in nodes]
    heapify(heap)

    def paint(node: int, shade: int) -> bool:
        colours[node] = shade
        used[shade] += 1
        alive = True
        for other in near[node]:
            blocked[other][shade] += 1
            if blocked[other][shade] == 1:
                options[other] -= 1
                if other not in colours:
                    alive = alive and options[other] > 0
                    heappush(heap, (options[other], -len(near[other]), other))
        return alive

    def unpaint(node: int) -> None:
        shade = colours.pop(node)
        used[shade] -= 1
        for other in near[node]:
            blocked[other][shade] -= 1
            if blocked[other][shade] == 0:
                options[other] += 1
                if other not in colours:
                    heappush(heap, (options[other], -len(near[other]), other))
        heappush(heap, (options[node], -len(near[node]), node))

    def narrowest() -> int:
        while True:
            left, _, node = heappop(heap)
            if node not in colours and options[node] == left:
                return node

    def choices(node: int) -> list[int]:
        """Colours to try, the last first; of the unused ones only the cheapest."""
        open_ = [int(shade) for shade in ranked[node] if not blocked[node][shade]]
        fresh = [shade for shade in open_ if not used[shade]]
        return [shade for shade in open_ if used[shade] or shade == fresh[0]][::-1]

    tried = 0
    first = narrowest()
    frames = [(first, choices(first))]
    while frames:
        node, left = frames[-1]
        if node in colours:
            unpaint(node)
        if not left:
            frames.pop()
            continue
        if tried >= max_tries:
            return Search(None, tried)
        tried += 1
        if paint(node, left.pop()):
            if len(colours) == len(nodes):
                return Search(colours, tried)
            following = narrowest()
            frames.append((following, choices(following)))
    return Search(None, tried)


def cheapen(colours: IntArray, costs: FloatArray, pairs: IntArray) -> IntArray:
    """Lower the cost of a colouring by exchanging two colours wherever that lowers it.

    Nodes of two colours fall into connected parts; within each the two colours can be exchanged and the colouring stays
    one (Kempe 1879). A node without a neighbour of the other colour is a part by itself, so every permitted move of a
    single node is among these.
    """
    colours = colours.copy()
    n, n_colours = costs.shape
    everyone = np.arange(n)
    threshold = 1e-12 * max(float(np.abs(costs).max(initial=0.0)), np.finfo(float).tiny)
    improved = True
    while improved:
        improved = False
        for first in range(n_colours):
            for second in range(first + 1, n_colours):
                among = (colours == first) | (colours == second)
                if not among.any():
                    continue
                other = np.where(colours == first, second, first)
                gain = np.where(among, costs[everyone, colours] - costs[everyone, other], 0.0)
                if gain.max() <= threshold:
                    continue
                inner = pairs[among[pairs].all(axis=1)]
                graph = csr_array((np.ones(len(inner)), (inner[:, 0], inner[:, 1])), shape=(n, n))
                part = connected_components(graph, directed=False)[1]
                pays = np.bincount(part, weights=gain)[part] > threshold
                if pays.any():
                    colours[pays & among] = other[pays & among]
                    improved = True
    return colours


class Conflict(NamedTuple):
    """Nodes that cannot be coloured; a clique if each is a neighbour of each other."""

    nodes: list[int]
    is_clique: bool


def find_conflict(nodes: list[int], neighbours: Neighbours, n_colours: int, *, max_tries: int) -> Conflict:
    """Return few of some nodes that cannot be coloured: a clique with one node too many, else what deletion leaves."""
    clique = _clique(nodes, neighbours, n_colours + 1)
    if clique is not None:
        return Conflict(clique, True)
    return Conflict(_shrink(nodes, neighbours, n_colours, max_tries), False)


def _clique(nodes: list[int], neighbours: Neighbours, size: int) -> list[int] | None:
    """Search for a clique from the lowest node of each, within a number of steps."""
    inside = set(nodes)
    near = {node: {other for other in neighbours[node] if other in inside} for node in nodes}
    steps = 0
    for first in sorted(nodes):
        stack = [([first], {other for other in near[first] if other > first})]
        while stack and steps < _CLIQUE_STEPS:
            members, candidates = stack.pop()
            if len(members) == size:
                return sorted(members)
            if len(members) + len(candidates) < size:
                continue
            steps += 1
            # The best connected candidate: cliques with it are looked at first, those without it later.
            best = max(candidates, key=lambda node: (len(near[node] & candidates), -node))
            stack.append((members, candidates - {best}))
            stack.append(([*members, best], candidates & near[best]))
    return None


def _shrink(nodes: list[int], neighbours: Neighbours, n_colours: int, max_tries: int) -> list[int]:
    """Leave out nodes, many at a time and then one by one, as long as the rest still cannot be coloured.

    The result is minimal unless the budget runs out, which happens to large conflicts only.
    """
    kept = sorted(nodes)
    size, work = len(kept) // 2, _SHRINKING_WORK
    while size and work > 0:
        start = 0
        while start < len(kept) and work > 0:
            work -= len(kept)
            rest = peel(kept[:start] + kept[start + size :], neighbours, n_colours).core
            if rest and _is_uncolourable(rest, neighbours, n_colours, max_tries):
                # What peeling took away stood anywhere, so the places start anew behind what has been looked at.
                start = sum(node < kept[start] for node in rest)
                kept = sorted(rest)
            else:
                start += size
        size //= 2
    return kept


def _is_uncolourable(nodes: list[int], neighbours: Neighbours, n_colours: int, max_tries: int) -> bool:
    ranked = np.tile(np.arange(n_colours), (max(nodes) + 1, 1))
    found = search(nodes, neighbours, ranked, max_tries=max_tries)
    return found.colours is None and found.tried < max_tries
