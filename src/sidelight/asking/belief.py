"""Similarity of rows, and the probabilities that rows and groups share a class, before the expert is asked."""

from typing import NamedTuple

import numpy as np
from scipy.special import entr

from sidelight._typing import BoolArray, FloatArray

# The weight of "a class that no known group has", against the similarity to known groups.
_NEW_CLASS = 0.3
# The uncertainty about a row that the model is certain of, in bits.
_LEAST_UNCERTAINTY = 0.3
# The prior probability about two clusters weighs as much as this number of statements.
_PRIOR_WEIGHT = 0.5
# The prior probability that rows of two clusters share a class, since the model itself may be wrong.
_DISTRUST = 0.3
# Without positions, the similarity of two rows that are certainly in one cluster.
_WITHIN_CLUSTER = 0.5
# The fraction of the rows per question that a question should cover.
_COVERED = 0.5
# The least squared bandwidth, as a fraction of the mean squared distance.
_LEAST_BANDWIDTH = 1e-3


def answer_entropy(probability: FloatArray) -> FloatArray:
    """Return the information of an answer that is yes with this probability, in bits."""
    # Rounding can make a probability larger than one.
    yes = np.minimum(probability, 1.0)
    bits: FloatArray = (entr(yes) + entr(1 - yes)) / np.log(2)
    return bits


def membership(support: FloatArray) -> FloatArray:
    """Return the probability that each row belongs to each group; the remainder is for a class that no group has.

    ``support`` (groups, m) is the similarity of each row to the rows of each group, summed.
    """
    probabilities: FloatArray = support / (_NEW_CLASS + support.sum(axis=0))
    return probabilities


def _new_class(support: FloatArray) -> FloatArray:
    probabilities: FloatArray = _NEW_CLASS / (_NEW_CLASS + support.sum(axis=0))
    return probabilities


def probability_same(support: FloatArray, joined: FloatArray, base_rate: float) -> FloatArray:
    """Return the probability that each row shares the class of each group.

    A row may belong to the group, or to another group of the same class. A row that belongs to no known group shares
    the class with the probability of two random rows.
    ``joined`` (groups, groups) is the probability that two groups share a class, ``base_rate`` that two random rows do.
    """
    return joined @ membership(support) + _new_class(support) * base_rate


class ClusterCounts(NamedTuple):
    """How often rows of two clusters are known to share a class, and how often not to: two arrays (K, K)."""

    same: FloatArray
    different: FloatArray

    def agreement(self, prior: FloatArray) -> FloatArray:
        """Return the probability that rows of two clusters share a class; ``prior`` (K, K) is that without counts."""
        probabilities: FloatArray = (_PRIOR_WEIGHT * prior + self.same) / (_PRIOR_WEIGHT + self.same + self.different)
        return probabilities


def count_clusters(members: FloatArray, posterior: FloatArray, settled: BoolArray) -> ClusterCounts:
    """Count what the groups imply about clusters.

    Every row of a group beyond the first counts once that the clusters of its rows share a class; two groups that are
    kept apart count once that theirs do not.

    Parameters
    ----------
    members : (groups, m)
    posterior : (m, K)
    settled : (groups, groups)
    """
    sizes = np.maximum(members.sum(axis=1), 1.0)
    share = (members @ posterior) / sizes[:, None]
    apart = settled & ~np.eye(len(settled), dtype=bool)
    return ClusterCounts(same=(share * (sizes - 1)[:, None]).T @ share, different=share.T @ apart @ share)


def probability_joined(similarity: FloatArray, prior: FloatArray) -> FloatArray:
    """Return the probability that two groups share a class.

    ``similarity`` is of their most similar rows, ``prior`` the probability given only the clusters they are in.
    """
    probabilities: FloatArray = (similarity + _NEW_CLASS * prior) / (similarity + _NEW_CLASS)
    return probabilities


def uncertainty(support: FloatArray, joined: FloatArray, posterior: FloatArray) -> FloatArray:
    """Return the uncertainty about the class of each row.

    It is the entropy of the row's membership in the groups, plus one bit times the probability of a new class,
    multiplied by the entropy of its posterior plus a constant. Groups of one class are not distinguished: the entropy
    is that of Leinster and Cobbold (2012), −Σ_A m_A ln Σ_B J_AB m_B.
    """
    new_class, known = _new_class(support), membership(support)
    ordinariness = np.maximum(joined @ known, np.finfo(float).tiny)
    by_groups = (entr(new_class) - (known * np.log(ordinariness)).sum(axis=0)) / np.log(2) + new_class
    by_model = entr(posterior).sum(axis=1) / np.log(2)
    product: FloatArray = by_groups * (_LEAST_UNCERTAINTY + by_model)
    return product


def row_similarity(
    posterior: FloatArray, counts: ClusterCounts, positions: FloatArray | None, n_pairs: int
) -> FloatArray:
    """Return the similarity of every two rows, in [0, 1]; at 1 the class of one row determines that of the other.

    It is ``Σ_kl r_ik A_kl r_jl exp(−‖z_i − z_j‖² / 2h²)``: the probability that clusters k and l share a class, which
    fades with the distance. Without statements A is 1 within a cluster and ε between two, the probability that clusters
    are not classes; statements about rows of k and l change it. The bandwidth h is the median distance within which
    half of the rows per question lie; the columns of ``positions`` (m, d) are scaled to unit variance.
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
