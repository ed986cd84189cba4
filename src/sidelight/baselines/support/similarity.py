"""Statements as weighted pairs of rows, to be added to a similarity matrix, and the leading eigenvectors of one."""

import warnings
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import eigh
from scipy.sparse import coo_array, csr_array, issparse
from scipy.sparse.linalg import eigsh
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning

from sidelight._typing import FloatArray, IntArray
from sidelight.side import SideInformation
from sidelight.side.closure import chain

# For fewer rows a full decomposition is quicker than an iterative one.
_DENSE_ROWS = 600


class SoftLinks(NamedTuple):
    """Pairs of rows and their weights, from 0 to 1."""

    must: IntArray
    must_weight: FloatArray
    cannot: IntArray
    cannot_weight: FloatArray


def soft_links(side: SideInformation) -> SoftLinks:
    """Return links as stated, with labels and blocks turned into links.

    A link with confidence q weighs 2q − 1: zero for a guess, 1 where certain. Rows of a label or block are joined
    in a chain. Of two labels, each row is kept apart from one row of the other, so that L labels of m rows take about
    L²m/2 links and not (Lm)²/2.
    """
    labelled, blocked = np.flatnonzero(side.labels >= 0), np.flatnonzero(side.blocks >= 0)
    joined = np.concatenate([chain(side.labels[labelled], labelled), chain(side.blocks[blocked], blocked)])
    apart = _labels_apart(side.labels, labelled)
    return SoftLinks(
        np.concatenate([side.must_link, joined]),
        np.concatenate([2 * side.must_link_confidence - 1, np.ones(len(joined))]),
        np.concatenate([side.cannot_link, apart]),
        np.concatenate([2 * side.cannot_link_confidence - 1, np.ones(len(apart))]),
    )


def link_matrix(links: SoftLinks, n: int) -> "csr_array[np.float64]":
    """Return Q: the weight of each must-link, less that of each cannot-link; symmetric and sparse."""
    pairs = np.concatenate([links.must, links.cannot])
    values = np.concatenate([links.must_weight, -links.cannot_weight])
    one_way = coo_array((values, (pairs[:, 0], pairs[:, 1])), shape=(n, n))
    return (one_way + one_way.T).tocsr()


def _labels_apart(labels: IntArray, labelled: IntArray) -> IntArray:
    groups = [labelled[labels[labelled] == code] for code in np.unique(labels[labelled])]
    pairs = [np.empty((0, 2), dtype=np.int64)]
    for position, first in enumerate(groups):
        for second in groups[position + 1 :]:
            number = np.arange(max(len(first), len(second)))
            pairs.append(np.column_stack([first[number % len(first)], second[number % len(second)]]))
    return np.concatenate(pairs)


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
