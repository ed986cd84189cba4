"""In which order to sum variables out, so that the tables in between stay small."""

from heapq import heapify, heappop, heappush
from itertools import combinations

Edge = tuple[int, int]


def min_fill(n_nodes: int, edges: list[Edge], most_neighbours: int) -> list[tuple[int, tuple[int, ...]]] | None:
    """Return the nodes in the order of elimination, each with its neighbours then; None where these get too many.

    Of the nodes with at most ``most_neighbours`` neighbours left, the one goes next whose neighbours lack the fewest
    edges among themselves.
    """
    near: list[set[int]] = [set() for _ in range(n_nodes)]
    for a, b in edges:
        near[a].add(b)
        near[b].add(a)

    def rank(node: int) -> tuple[int, int, int]:
        around = near[node]
        if len(around) > most_neighbours:
            return (n_nodes**2, len(around), node)
        lacking = sum(b not in near[a] for a, b in combinations(around, 2))
        return (lacking, len(around), node)

    current = [rank(node) for node in range(n_nodes)]
    heap = current.copy()
    heapify(heap)
    gone = [False] * n_nodes
    steps = []
    while heap:
        entry = heappop(heap)
        node = entry[2]
        if gone[node] or entry != current[node]:
            continue
        around = near[node]
        if len(around) > most_neighbours:
            return None
        steps.append((node, tuple(sorted(around))))
        gone[node] = True
        for other in around:
            near[other].discard(node)
        joined = [(a, b) for a, b in combinations(around, 2) if b not in near[a]]
        for a, b in joined:
            near[a].add(b)
            near[b].add(a)
        # An edge between a and b changes what their common neighbours lack.
        touched = set(around)
        for a, b in joined:
            touched |= near[a] & near[b]
        for other in touched:
            current[other] = rank(other)
            heappush(heap, current[other])
    return steps
