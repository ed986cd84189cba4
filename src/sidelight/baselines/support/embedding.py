"""Rows placed by the leading eigenvectors of a similarity matrix, and clusters of them."""

import warnings
from typing import Any

import numpy as np
from scipy.linalg import eigh
from scipy.sparse import issparse
from scipy.sparse.linalg import eigsh
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning

from sidelight._typing import FloatArray, IntArray

# For fewer rows a full decomposition is quicker than an iterative one.
_DENSE_ROWS = 600


def leading_eigenvectors(matrix: Any, number: int, random: np.random.RandomState) -> FloatArray:
    """Return the eigenvectors of the largest eigenvalues of a symmetric matrix, (n, number), the largest first."""
    n = matrix.shape[0]
    if n <= _DENSE_ROWS or number >= n - 1:
        dense = matrix.toarray() if issparse(matrix) else matrix
        return eigh(dense, subset_by_index=[n - number, n - 1])[1][:, ::-1]
    start = random.uniform(-1, 1, n)
    values, vectors = eigsh(matrix, k=number, which="LA", v0=start, ncv=min(n, max(4 * number + 1, 40)), tol=1e-6)
    return vectors[:, np.argsort(-values)]


def unit_rows(vectors: FloatArray) -> FloatArray:
    """Scale rows to length one (Ng, Jordan and Weiss 2001); rows of zeros stay."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors / np.where(lengths > 0, lengths, 1.0)


def cluster_rows(embedding: FloatArray, n_clusters: int, random: np.random.RandomState, *, n_init: int) -> IntArray:
    """Return k-means clusters of embedded rows."""
    with warnings.catch_warnings():
        # Where rows coincide k-means finds fewer clusters; the caller need not be warned.
        warnings.simplefilter("ignore", ConvergenceWarning)
        return KMeans(n_clusters, n_init=n_init, random_state=random).fit(embedding).labels_.astype(np.int64)
