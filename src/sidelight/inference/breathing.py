"""Breathing k-means (Fritzke 2020): k-means that leaves a poor optimum by adding centres and taking others away.

k-means ends where one centre serves two clusters and two centres share another, and cannot mend that by small moves.
Here centres are added where the error is largest, the enlarged set is improved, and the centres that are missed least
are taken away again; what does not lower the error is undone, and fewer are moved the next time.
"""

from typing import NamedTuple

import numpy as np

from sidelight._typing import FloatArray, IntArray

_MOST_ADDED = 2
_LLOYD_STEPS = 3
# How far a new centre is set from the old one, in root mean squared distances of a cluster.
_OFFSET = 0.3


class _Partition(NamedTuple):
    """Centres (k, d), the nearest of them to each row (n,), and weighted squared distances to it and to the second."""

    centres: FloatArray
    nearest: IntArray
    first: FloatArray
    second: FloatArray

    @property
    def error(self) -> float:
        return float(self.first.sum())


def breathe(rows: FloatArray, weights: FloatArray, centres: FloatArray, random: np.random.RandomState) -> FloatArray:
    """Return centres (k, d) with a smaller sum of squared distances of the rows (n, d) than those given."""
    norms = np.einsum("nd,nd->n", rows, rows)
    best = _improved(rows, norms, weights, centres)
    n_added = min(_MOST_ADDED, len(centres) - 1)
    while n_added > 0:
        more = np.concatenate([best.centres, _additions(best, weights, n_added, random)])
        enlarged = _improved(rows, norms, weights, more)
        found = _improved(rows, norms, weights, _without_useless(enlarged, n_added))
        if found.error < best.error * (1 - 1e-3):
            best = found
        else:
            n_added -= 1
    return best.centres


def _additions(at: _Partition, weights: FloatArray, number: int, random: np.random.RandomState) -> FloatArray:
    """Return centres beside those whose rows are farthest from them."""
    n_clusters, d = at.centres.shape
    errors = np.bincount(at.nearest, weights=at.first, minlength=n_clusters)
    mass = np.bincount(at.nearest, weights=weights, minlength=n_clusters)
    worst = np.argsort(errors, kind="stable")[-number:]
    spread = np.sqrt(errors[worst] / np.maximum(mass[worst], np.finfo(float).tiny) / d)
    return at.centres[worst] + _OFFSET * spread[:, None] * random.standard_normal((number, d))


def _without_useless(at: _Partition, number: int) -> FloatArray:
    """Return the centres without those that are missed least; of two neighbours only one goes at a time."""
    utility = np.bincount(at.nearest, weights=at.second - at.first, minlength=len(at.centres))
    distances = np.square(at.centres[:, None] - at.centres).sum(axis=2)
    np.fill_diagonal(distances, np.inf)
    gone: list[int] = []
    kept: set[int] = set()
    for centre in np.argsort(utility, kind="stable").tolist():
        if len(gone) == number:
            break
        if centre not in kept:
            gone.append(centre)
            kept.add(int(distances[centre].argmin()))
    return np.delete(at.centres, gone, axis=0)[: len(at.centres) - number]


def _improved(rows: FloatArray, norms: FloatArray, weights: FloatArray, centres: FloatArray) -> _Partition:
    """Take some steps of k-means; a centre that no row is nearest to stays where it is."""
    numbers = np.arange(len(centres))[:, None]
    before: IntArray | None = None
    for _ in range(_LLOYD_STEPS):
        nearest = _distances(rows, centres).argmin(axis=1)
        if before is not None and np.array_equal(nearest, before):
            break
        before = nearest
        members = (nearest == numbers) * weights
        mass = members.sum(axis=1)[:, None]
        centres = np.where(mass > 0, members @ rows / np.maximum(mass, np.finfo(float).tiny), centres)
    return _partition(rows, norms, weights, centres)


def _partition(rows: FloatArray, norms: FloatArray, weights: FloatArray, centres: FloatArray) -> _Partition:
    distances = _distances(rows, centres)
    nearest, along = distances.argmin(axis=1), np.arange(len(rows))
    first = np.maximum(norms + distances[along, nearest], 0.0)
    distances[along, nearest] = np.inf
    return _Partition(centres, nearest, weights * first, weights * (norms + distances.min(axis=1)))


def _distances(rows: FloatArray, centres: FloatArray) -> FloatArray:
    """Return squared distances (n, k) without the squared norms of the rows, which do not change which is nearest."""
    return rows @ (-2 * centres.T) + np.square(centres).sum(axis=1)
