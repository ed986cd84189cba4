"""Centres of clusters: distances from them, their update, and where to start."""

import numpy as np
from sklearn.cluster import kmeans_plusplus
from sklearn.utils.extmath import row_norms

from sidelight._typing import BoolArray, FloatArray, IntArray
from sidelight.baselines.chunklets import group_sums


def squared_distances(points: FloatArray, centres: FloatArray) -> FloatArray:
    """Return squared Euclidean distances, (points, centres)."""
    # Measured from the middle of the centres: far from zero the three terms would cancel.
    origin = centres.mean(axis=0)
    points, centres = points - origin, centres - origin
    distances = -2.0 * points @ centres.T
    distances += row_norms(points, squared=True)[:, None]
    distances += row_norms(centres, squared=True)
    return np.maximum(distances, 0.0)


def move_centres(points: FloatArray, weights: FloatArray, clusters: IntArray, centres: FloatArray) -> FloatArray:
    """Return the weighted mean of each cluster; an empty one stays where it is."""
    mass = np.bincount(clusters, weights=weights, minlength=len(centres))
    sums = group_sums(points * weights[:, None], clusters, len(centres))
    return np.where(mass[:, None] > 0, sums / np.maximum(mass, np.finfo(float).tiny)[:, None], centres)


def settle_empty(costs: FloatArray, clusters: IntArray, movable: BoolArray | None = None) -> IntArray:
    """Give each empty cluster the point that costs most where it is, as long as that leaves its cluster another.

    Parameters
    ----------
    costs : (points, clusters)
        What each point would cost in each cluster.
    clusters : (points,)
    movable : (points,) bool, optional
        Points that may be moved.
    """
    clusters = clusters.copy()
    sizes = np.bincount(clusters, minlength=costs.shape[1])
    empty = np.flatnonzero(sizes == 0)
    if not len(empty):
        return clusters
    paid = costs[np.arange(len(clusters)), clusters]
    if movable is not None:
        paid = np.where(movable, paid, 0.0)
    for point in np.argsort(-paid, kind="stable"):
        if not len(empty) or paid[point] <= 0:
            break
        if sizes[clusters[point]] > 1:
            sizes[clusters[point]] -= 1
            clusters[point], empty = empty[0], empty[1:]
            sizes[clusters[point]] = 1
    return clusters


def draw_centres(points: FloatArray, weights: FloatArray, number: int, random: np.random.RandomState) -> FloatArray:
    """Draw centres by k-means++ (Arthur and Vassilvitskii 2007); repeat points where there are fewer than asked for."""
    drawn = min(number, len(points))
    centres = kmeans_plusplus(points, drawn, sample_weight=weights, random_state=random)[0]
    return centres[np.arange(number) % drawn]


def farthest_first(points: FloatArray, weights: FloatArray, number: int, chosen: IntArray) -> IntArray:
    """Add points to those chosen, up to ``number``, by weighted farthest-first traversal (Basu et al. 2004).

    The heaviest point comes first where none is chosen; each further one has the largest product of weight and distance
    from the nearest point chosen.
    """
    picked = chosen.tolist() or [int(np.argmax(weights))]
    nearest = np.sqrt(squared_distances(points, points[picked]).min(axis=1))
    while len(picked) < number:
        picked.append(int(np.argmax(weights * nearest)))
        nearest = np.minimum(nearest, np.sqrt(squared_distances(points, points[picked[-1:]])[:, 0]))
    return np.array(picked, dtype=np.int64)
