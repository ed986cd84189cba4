"""A small set of nodes that cannot be coloured: the conflict to name when links are impossible."""

from typing import NamedTuple

import numpy as np

from sidelight.graphs.colouring import Neighbours, peel, search

_CLIQUE_STEPS = 20_000
_SHRINKING_WORK = 1_000_000


class Conflict(NamedTuple):
    """Chunklets that cannot be divided among the clusters; a clique if each is kept apart from each other."""

    chunklets: list[int]
    is_clique: bool


def find_conflict(nodes: list[int], neighbours: Neighbours, n_colours: int, *, max_tries: int) -> Conflict:
    """Return few of some nodes that cannot be coloured: a clique with one node too many, else what deletion leaves."""
    clique = _clique(nodes, neighbours, n_colours + 1)
    if clique is not None:
        return Conflict(clique, True)
    return Conflict(_shrink(nodes, neighbours, n_colours, max_tries), False)


def _clique(nodes: list[int], neighbours: Neighbours, size: int) -> list[int] | None:
    """Look for a clique, for so many steps; each is looked for from its lowest node."""
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

    What is left is minimal unless the work runs out, which happens to large conflicts only.
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
