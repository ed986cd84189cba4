"""Ward's clustering on a graph of neighbours, with chunklets kept together and cannot-links kept apart."""

from collections.abc import Iterable
from heapq import heapify, heappop, heappush
from typing import NamedTuple

import numpy as np
from sklearn.neighbors import NearestNeighbors

from sidelight._typing import FloatArray, IntArray

_NEIGHBOURS = 10


class Agglomeration(NamedTuple):
    """Clusters during agglomeration; each merger adds one and ends two.

    Of each there are the sums of its rows (2 g, d), their total weight (2 g,), the clusters ``near`` that it may be
    merged with, and those ``apart`` that it must not be.
    """

    sums: FloatArray
    mass: FloatArray
    near: list[set[int]]
    apart: list[set[int]]

    def costs(self, cluster: int, others: list[int]) -> FloatArray:
        """Return how much each merger would raise the sum of squares: Ward's criterion."""
        gaps = self.sums[others] / self.mass[others, None] - self.sums[cluster] / self.mass[cluster]
        shared = self.mass[others] * self.mass[cluster] / (self.mass[others] + self.mass[cluster])
        return shared * np.einsum("ij,ij->i", gaps, gaps)


def constrained_ward(
    rows: FloatArray, weights: FloatArray, chunklets: IntArray, apart: IntArray, n_clusters: int
) -> IntArray:
    """Merge chunklets, always the two whose merger costs least, until ``n_clusters`` are left.

    Only neighbours are merged while there are any: clusters may then have any shape, and the work grows with the rows
    and not with their square. Clusters that a cannot-link keeps apart are never merged; where more than ``n_clusters``
    are left, the smallest join the nearest of the others.

    The rows (n, d) are scaled so that distances are meaningful; rows of the same chunklet (n,) stay together, and pairs
    of chunklets (q, 2) are kept apart. Returned is the cluster of each row, 0 … n_clusters - 1, the heaviest first.
    """
    merging = _begin(rows, weights, chunklets, apart)
    n_chunklets = int(chunklets.max()) + 1
    parent = np.arange(2 * n_chunklets)
    alive, following = set(range(n_chunklets)), n_chunklets
    for widen in (False, True):
        if widen:
            for cluster in alive:
                merging.near[cluster] = alive - {cluster}
        heap: list[tuple[float, int, int]] = []
        for cluster in alive:
            heap.extend(_offers(merging, cluster, (other for other in merging.near[cluster] if other < cluster)))
        heapify(heap)
        while heap and len(alive) > n_clusters:
            _, first, second = heappop(heap)
            if first not in alive or second not in alive or second in merging.apart[first]:
                continue
            _merge(merging, first, second, following)
            parent[[first, second]] = following
            alive -= {first, second}
            alive.add(following)
            for offer in _offers(merging, following, merging.near[following]):
                heappush(heap, offer)
            following += 1
    while not np.array_equal(parent, parent[parent]):
        parent = parent[parent]
    return _number(rows, weights, parent[chunklets], n_clusters)


def _begin(rows: FloatArray, weights: FloatArray, chunklets: IntArray, apart: IntArray) -> Agglomeration:
    n_chunklets = int(chunklets.max()) + 1
    sums, mass = np.zeros((2 * n_chunklets, rows.shape[1])), np.zeros(2 * n_chunklets)
    np.add.at(sums, chunklets, rows * weights[:, None])
    np.add.at(mass, chunklets, weights)
    near: list[set[int]] = [set() for _ in range(2 * n_chunklets)]
    apart_from: list[set[int]] = [set() for _ in range(2 * n_chunklets)]
    pairs = np.empty((0, 2), dtype=np.int64)
    n_neighbours = min(_NEIGHBOURS, len(rows) - 1)
    if n_neighbours:
        found = NearestNeighbors(n_neighbors=n_neighbours).fit(rows).kneighbors(return_distance=False)
        pairs = np.column_stack([np.repeat(chunklets, n_neighbours), chunklets[found.ravel()]])
    for sets, links in ((near, pairs[pairs[:, 0] != pairs[:, 1]]), (apart_from, apart)):
        for a, b in links.tolist():
            sets[a].add(b)
            sets[b].add(a)
    return Agglomeration(sums, mass, near, apart_from)


def _offers(merging: Agglomeration, cluster: int, others: Iterable[int]) -> list[tuple[float, int, int]]:
    allowed = [other for other in others if other not in merging.apart[cluster]]
    return [
        (cost, cluster, other) for cost, other in zip(merging.costs(cluster, allowed).tolist(), allowed, strict=True)
    ]


def _merge(merging: Agglomeration, first: int, second: int, merged: int) -> None:
    merging.sums[merged] = merging.sums[first] + merging.sums[second]
    merging.mass[merged] = merging.mass[first] + merging.mass[second]
    for sets in (merging.near, merging.apart):
        sets[merged] = (sets[first] | sets[second]) - {first, second}
        for other in sets[merged]:
            sets[other] -= {first, second}
            sets[other].add(merged)
        sets[first], sets[second] = set(), set()


def _number(rows: FloatArray, weights: FloatArray, clusters: IntArray, n_clusters: int) -> IntArray:
    """Give clusters numbers by weight; rows of those beyond the last join the nearest centre of the others."""
    _, codes = np.unique(clusters, return_inverse=True)
    mass = np.bincount(codes, weights=weights)
    rank = np.empty(len(mass), dtype=np.int64)
    rank[np.argsort(-mass, kind="stable")] = np.arange(len(mass))
    codes = rank[codes]
    left_over = np.flatnonzero(codes >= n_clusters)
    if left_over.size:
        centres = np.stack(
            [np.average(rows[codes == c], axis=0, weights=weights[codes == c]) for c in range(n_clusters)]
        )
        codes[left_over] = NearestNeighbors(n_neighbors=1).fit(centres).kneighbors(rows[left_over])[1][:, 0]
    return codes
