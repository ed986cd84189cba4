"""Probabilities that rows and groups of rows share a class, before the expert is asked."""

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


def answer_entropy(probability: FloatArray) -> FloatArray:
    """Return the information of an answer that is yes with this probability, in bits."""
    # Rounding can make a probability larger than one.
    yes = np.minimum(probability, 1.0)
    bits: FloatArray = (entr(yes) + entr(1 - yes)) / np.log(2)
    return bits


def membership(support: FloatArray) -> FloatArray:
    """Return the probability that each row belongs to each group; the remainder is for a class that no group has.

    Parameters
    ----------
    support : (groups, m)
        Similarity of each row to the rows of each group, summed.
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

    Parameters
    ----------
    support : (groups, m)
    joined : (groups, groups)
        The probability that two groups share a class.
    base_rate : float
        The probability that two random rows share a class.
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

    Parameters
    ----------
    similarity : array
        Of their most similar rows.
    prior : array
        The probability given only the clusters they are in.
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
