"""What is believed about classes before anybody is asked."""

import numpy as np
from scipy.special import entr

from sidelight.kernels.arrays import FloatArray

# The weight of "none of the known groups, as far as can be seen", against the likeness to groups.
_UNSEEN = 0.3
# The doubt about a row that the model itself is sure of, in bits.
_LEAST_DOUBT = 0.3


def answer_entropy(chance: FloatArray) -> FloatArray:
    """Return the information that a yes of this chance gives, in bits."""
    # A chance can come out above one by a rounding.
    yes = np.minimum(chance, 1.0)
    bits: FloatArray = (entr(yes) + entr(1 - yes)) / np.log(2)
    return bits


def membership(support: FloatArray) -> FloatArray:
    """Return the chance that each row belongs to each group; what is left to one is that it cannot be seen.

    Parameters
    ----------
    support : (groups, m)
        Likeness of each row to the rows of each group, summed.
    """
    chances: FloatArray = support / (_UNSEEN + support.sum(axis=0))
    return chances


def _unseen(support: FloatArray) -> FloatArray:
    chances: FloatArray = _UNSEEN / (_UNSEEN + support.sum(axis=0))
    return chances


def chance_same(support: FloatArray, chance_of_strangers: float) -> FloatArray:
    """Return the chance that each row shares the class of each group.

    A row that cannot be seen to belong anywhere shares it with the chance that two rows at random do.
    """
    return membership(support) + _unseen(support) * chance_of_strangers


def chance_joined(likeness: FloatArray, shared: FloatArray, chance_of_strangers: float) -> FloatArray:
    """Return the chance that two groups share a class.

    Parameters
    ----------
    likeness : array
        Of their most alike rows.
    shared : array
        The chance, by the model, that they share a cluster.
    chance_of_strangers : float
        That two rows at random share a class.
    """
    # Half of what the model says is believed, where the rows themselves are not alike.
    at_sight = (shared + chance_of_strangers) / 2
    chances: FloatArray = (likeness + _UNSEEN * at_sight) / (likeness + _UNSEEN)
    return chances


def doubt(support: FloatArray, posterior: FloatArray) -> FloatArray:
    """Return how much is open about the class of each row.

    It is the entropy of its membership in the groups, plus one bit where it cannot be seen to belong to any, times the
    entropy of its posterior, plus the doubt that remains where the model is sure.
    """
    unseen = _unseen(support)
    by_groups = (entr(membership(support)).sum(axis=0) + entr(unseen)) / np.log(2) + unseen
    by_model = entr(posterior).sum(axis=1) / np.log(2)
    open_still: FloatArray = by_groups * (_LEAST_DOUBT + by_model)
    return open_still
