"""Nearest rows, sparse graphs of the most similar rows, and the width of a Gaussian kernel on them.

Similarity is by Euclidean distance or as of texts. Cosine, Dice and Jaccard are those of Amini (lecture), with two
corrections: Dice has its factor 2, so that a row is similar to itself by 1, and Jaccard is Tanimoto's form
x·y / (‖x‖² + ‖y‖² − x·y), which is the printed one for binary rows and stays at most 1 for others.
"""

from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array
from scipy.spatial import KDTree
from sklearn.neighbors import NearestNeighbors
from sklearn.utils import gen_batches
from sklearn.utils.extmath import row_norms

from sidelight._typing import FloatArray, IntArray
from sidelight.inference.executors.threads import thread_count

# With more features a tree looks at nearly all rows, and products of matrices do that quicker.
_MAX_TREE_FEATURES = 12
_LEAF_ROWS = 32


class NearestRows(NamedTuple):
    """Distances and row numbers, (m, wanted) each, the nearest first."""

    distances: FloatArray
    rows: IntArray


def nearest_rows(X: FloatArray, among: FloatArray, wanted: int, n_jobs: int | None = None) -> NearestRows:
    """Return the rows of a table nearest to each row of another."""
    if X.shape[1] > _MAX_TREE_FEATURES:
        found = NearestNeighbors(n_neighbors=wanted, algorithm="brute", n_jobs=n_jobs).fit(among).kneighbors(X)
        return NearestRows(found[0], found[1].astype(np.int64))
    # SciPy's tree takes a third of the time that scikit-learn's does, and a third of that if rows that are close in
    # space are close in memory and asked about in turn.
    order = KDTree(among, leafsize=_LEAF_ROWS).indices
    tree = KDTree(among[order], leafsize=_LEAF_ROWS)
    asked = order if X is among else np.arange(len(X))
    distances, rows = tree.query(X[asked], np.arange(1, wanted + 1), workers=thread_count(n_jobs))
    back = np.argsort(asked)
    return NearestRows(distances[back], order[rows[back]].astype(np.int64))


def nearest_others(X: FloatArray, wanted: int, n_jobs: int | None = None) -> NearestRows:
    """Return the other rows of a table nearest to each of its rows."""
    distances, rows = nearest_rows(X, X, wanted + 1, n_jobs)
    # A row is among its own nearest, not always first, or not at all where more rows than asked for equal it.
    own = rows == np.arange(len(X))[:, None]
    own[~own.any(axis=1), -1] = True
    shape = (len(X), wanted)
    return NearestRows(distances[~own].reshape(shape), rows[~own].reshape(shape))


_BATCH_CELLS = 4_000_000

BY_DISTANCE = ("rbf", "binary")
SIMILARITIES = (*BY_DISTANCE, "cosine", "dice", "jaccard")


def similarities(first: FloatArray, second: FloatArray, similarity: str, gamma: float) -> FloatArray:
    """Return the similarities of all rows of one table with all rows of another."""
    products = first @ second.T
    squares, others = row_norms(first, squared=True)[:, None], row_norms(second, squared=True)
    if similarity == "binary":
        return np.ones_like(products)
    if similarity == "rbf":
        return np.exp(-gamma * np.maximum(squares + others - 2 * products, 0.0))
    if similarity == "cosine":
        above, below = products, np.sqrt(squares * others)
    elif similarity == "dice":
        above, below = 2 * products, squares + others
    else:
        above, below = products, squares + others - products
    # Rows of zeros have similarity zero to all; negative similarities make no edges.
    return np.maximum(np.divide(above, below, out=np.zeros_like(above), where=below > 0), 0.0)


def row_graph(
    X: FloatArray, similarity: str, *, n_neighbors: int | None, gamma: float, n_jobs: int | None = None
) -> "csr_array[np.float64]":
    """Return the symmetric graph in which each row is joined to the rows most similar to it; None joins all.

    Two rows are joined if either is among the most similar of the other. No row is joined to itself.
    """
    n = len(X)
    if n_neighbors is None or n_neighbors >= n - 1:
        every = similarities(X, X, similarity, gamma)
        np.fill_diagonal(every, 0.0)
        return csr_array(every)
    if similarity in BY_DISTANCE:
        distances, near = nearest_others(X, n_neighbors, n_jobs)
        values = np.ones_like(distances) if similarity == "binary" else np.exp(-gamma * np.square(distances))
    else:
        values, near = _most_similar(X, X, similarity, n_neighbors, leave_out_self=True)
    graph = _sparse(values, near, n)
    return graph.maximum(graph.T).tocsr()


def to_neighbours(
    X: FloatArray,
    among: FloatArray,
    similarity: str,
    *,
    n_neighbors: int | None,
    gamma: float,
    n_jobs: int | None = None,
) -> "csr_array[np.float64]":
    """Return the shares, which sum to one, of the rows most similar to each row in another table.

    A row that is similar to none of them has equal shares for all.
    """
    n = len(among)
    wanted = n if n_neighbors is None else min(n_neighbors, n)
    if similarity in BY_DISTANCE:
        distances, near = nearest_rows(X, among, wanted, n_jobs)
        squares = np.square(distances)
        # Only ratios count, and measured from the nearest they do not vanish far away.
        values = np.ones_like(squares) if similarity == "binary" else np.exp(-gamma * (squares - squares[:, :1]))
    else:
        values, near = _most_similar(X, among, similarity, wanted, leave_out_self=False)
    totals = values.sum(axis=1)
    lost = totals == 0
    shares = _sparse(values / np.where(lost, 1.0, totals)[:, None], near, n)
    if lost.any():
        shares = shares + csr_array(np.outer(lost, np.full(n, 1 / n)))
    return shares


def _most_similar(
    X: FloatArray, among: FloatArray, similarity: str, wanted: int, *, leave_out_self: bool
) -> tuple[FloatArray, IntArray]:
    values = np.empty((len(X), wanted))
    near = np.empty((len(X), wanted), dtype=np.int64)
    for batch in gen_batches(len(X), max(_BATCH_CELLS // len(among), 1)):
        block = similarities(X[batch], among, similarity, 0.0)
        if leave_out_self:
            block[np.arange(len(block)), np.arange(batch.start, batch.stop)] = -1.0
        best = np.argpartition(-block, wanted - 1, axis=1)[:, :wanted]
        near[batch] = best
        values[batch] = np.take_along_axis(block, best, axis=1)
    return values, near


def _sparse(values: FloatArray, near: IntArray, n_columns: int) -> "csr_array[np.float64]":
    m, wanted = near.shape
    graph = csr_array((values.ravel(), near.ravel(), np.arange(0, m * wanted + 1, wanted)), shape=(m, n_columns))
    graph.eliminate_zeros()
    return graph


_RANK = 10
_MAX_ROWS = 5000


def neighbour_gamma(X: FloatArray) -> float:
    """Return γ of exp(−γ‖x − y‖²) = exp(−‖x − y‖²/2σ²), with σ the median distance of rows from their 10th neighbour.

    Such a kernel reaches about the ten nearest rows, so that it follows clusters of any shape. The mean
    distance of all pairs, which papers often take, spans the whole table and cannot separate two moons.
    """
    rank = min(_RANK, len(X) - 1)
    if rank == 0:
        return 1.0
    # On a large table the median of some rows, evenly spread, is good enough.
    asked = X[:: -(-len(X) // _MAX_ROWS)]
    distances = nearest_rows(asked, X, rank + 1).distances[:, -1]
    width = float(np.median(distances))
    if width == 0:
        # More than half of the rows are repeated ten times: the positive distances, if any, decide.
        width = float(distances[distances > 0].mean()) if distances.any() else 1.0
    return 1 / (2 * width**2)
