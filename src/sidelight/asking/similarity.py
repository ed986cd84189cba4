"""Similarity of rows: how informative the class of one row is about the class of another."""

import numpy as np

from sidelight._typing import FloatArray
from sidelight.asking.belief import ClusterCounts

# The prior probability that rows of two clusters share a class, since the model itself may be wrong.
_DISTRUST = 0.3
# Without positions, the similarity of two rows that are certainly in one cluster.
_WITHIN_CLUSTER = 0.5
# The fraction of the rows per question that a question should cover.
_COVERED = 0.5
# The least squared bandwidth, as a fraction of the mean squared distance.
_LEAST_BANDWIDTH = 1e-3


def row_similarity(
    posterior: FloatArray, counts: ClusterCounts, positions: FloatArray | None, n_pairs: int
) -> FloatArray:
    """Return the similarity of every two rows, in [0, 1]; at 1 the class of one row determines that of the other.

    It is ``Σ_kl r_ik A_kl r_jl exp(−‖z_i − z_j‖² / 2h²)``: the probability that clusters k and l share a class, which
    fades with the distance. Without statements A is 1 within a cluster and ε between two, the probability that clusters
    are not classes; statements about rows of k and l change it. The bandwidth h is the median distance within which
    half of the rows per question lie.

    Parameters
    ----------
    posterior : (m, K)
    counts : ClusterCounts
        What the statements imply about clusters.
    positions : (m, d), optional
        Columns are scaled to unit variance.
    n_pairs : int
        Number of questions.
    """
    prior = (1 - _DISTRUST) * np.eye(posterior.shape[1]) + _DISTRUST
    by_clusters = posterior @ counts.agreement(prior) @ posterior.T
    if positions is None:
        similarity: FloatArray = _WITHIN_CLUSTER * by_clusters
    else:
        squared = _squared_distances(_standardised(positions))
        reach = min(max(int(_COVERED * len(squared) / n_pairs), 1), len(squared) - 1)
        bandwidth = np.median(np.partition(squared, reach, axis=1)[:, reach])
        # Where most rows are repeated, the distance to a neighbour is zero.
        bandwidth = max(bandwidth, _LEAST_BANDWIDTH * squared.mean(), np.finfo(float).tiny)
        similarity = by_clusters * np.exp(-squared / (2 * bandwidth))
    np.fill_diagonal(similarity, 1.0)
    return similarity


def _standardised(positions: FloatArray) -> FloatArray:
    """Return columns of mean 0 and variance 1, missing cells at the mean, constant columns at 0."""
    present = ~np.isnan(positions)
    counts = np.maximum(present.sum(axis=0), 1)
    centred = np.where(present, positions, 0.0)
    centred = np.where(present, positions - centred.sum(axis=0) / counts, 0.0)
    scale = np.sqrt((centred**2).sum(axis=0) / counts)
    return centred / np.where(scale > 0, scale, 1.0)


def _squared_distances(positions: FloatArray) -> FloatArray:
    norms = (positions**2).sum(axis=1)
    return np.maximum(norms[:, None] + norms - 2 * positions @ positions.T, 0.0)
