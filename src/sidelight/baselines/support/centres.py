"""Chunklets as heavy points, and centres of clusters: distances from them, their update, and where to start."""

from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array
from sklearn.cluster import kmeans_plusplus
from sklearn.utils.extmath import row_norms

from sidelight._typing import BoolArray, FloatArray, IntArray
from sidelight.side import Closure


class Points(NamedTuple):
    """The chunklets of a table: that of each row (n,), their means (chunklets, d) and numbers of rows (chunklets,).

    ``scatter`` is the sum of squared distances of rows from the mean of their chunklet, which no clustering of
    chunklets can change.
    """

    of_row: IntArray
    means: FloatArray
    weights: FloatArray
    scatter: float


def contract(X: FloatArray, closure: Closure) -> Points:
    """Replace the rows of each chunklet by their mean, with their number as its weight."""
    weights = closure.sizes.astype(float)
    means = group_sums(X, closure.chunklets, len(weights)) / weights[:, None]
    scatter = float(np.square(X - means[closure.chunklets]).sum())
    return Points(closure.chunklets, means, weights, scatter)


def group_sums(values: FloatArray, groups: IntArray, n_groups: int) -> FloatArray:
    """Add up rows by group: (n, d) and (n,) give (groups, d)."""
    n = len(groups)
    indicator = csr_array((np.ones(n), groups, np.arange(n + 1)), shape=(n, n_groups))
    return indicator.T @ values


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

    ``costs`` (points, clusters) has what each point would cost in each cluster; ``movable`` points may be moved, all
    where it is absent.
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
