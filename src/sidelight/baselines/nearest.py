"""Nearest rows by Euclidean distance."""

from typing import NamedTuple

import numpy as np
from scipy.spatial import KDTree
from sklearn.neighbors import NearestNeighbors

from sidelight._typing import FloatArray, IntArray
from sidelight.inference.executors.threads import thread_count

# With more features a tree looks at nearly all rows, and products of matrices do that quicker.
_MOST_FEATURES_FOR_A_TREE = 12
_LEAF_ROWS = 32


class Nearest(NamedTuple):
    """Distances and row numbers, (m, wanted) each, the nearest first."""

    distances: FloatArray
    rows: IntArray


def nearest_rows(X: FloatArray, among: FloatArray, wanted: int, n_jobs: int | None = None) -> Nearest:
    """Return the rows of a table nearest to each row of another."""
    if X.shape[1] > _MOST_FEATURES_FOR_A_TREE:
        found = NearestNeighbors(n_neighbors=wanted, algorithm="brute", n_jobs=n_jobs).fit(among).kneighbors(X)
        return Nearest(found[0], found[1].astype(np.int64))
    # SciPy's tree takes a third of the time that scikit-learn's does, and a third of that if rows that are close in
    # space are close in memory and asked about in turn.
    order = KDTree(among, leafsize=_LEAF_ROWS).indices
    tree = KDTree(among[order], leafsize=_LEAF_ROWS)
    asked = order if X is among else np.arange(len(X))
    distances, rows = tree.query(X[asked], np.arange(1, wanted + 1), workers=thread_count(n_jobs))
    back = np.argsort(asked)
    return Nearest(distances[back], order[rows[back]].astype(np.int64))


def nearest_others(X: FloatArray, wanted: int, n_jobs: int | None = None) -> Nearest:
    """Return the other rows of a table nearest to each of its rows."""
    distances, rows = nearest_rows(X, X, wanted + 1, n_jobs)
    # A row is among its own nearest, not always first, or not at all where more rows than asked for equal it.
    own = rows == np.arange(len(X))[:, None]
    own[~own.any(axis=1), -1] = True
    shape = (len(X), wanted)
    return Nearest(distances[~own].reshape(shape), rows[~own].reshape(shape))
