"""What is believed about classes before anybody is asked."""

from typing import NamedTuple

import numpy as np
from scipy.special import entr

from sidelight._typing import BoolArray, FloatArray

# The weight of "none of the known groups, as far as can be seen", against the likeness to groups.
_UNSEEN = 0.3
# The doubt about a row that the model itself is sure of, in bits.
_LEAST_DOUBT = 0.3
# What is believed beforehand about two clusters is worth as many statements.
_BELIEF = 0.5


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


def chance_same(support: FloatArray, joined: FloatArray, chance_of_strangers: float) -> FloatArray:
    """Return the chance that each row shares the class of each group.

    It may belong to the group, or to another that shares its class. A row that cannot be seen to belong anywhere shares
    it with the chance that two rows at random do.

    Parameters
    ----------
    support : (groups, m)
    joined : (groups, groups)
        The chance that two groups share a class.
    chance_of_strangers : float
    """
    return joined @ membership(support) + _unseen(support) * chance_of_strangers


class Heard(NamedTuple):
    """How often rows of two clusters are known to share a class, and not to: two arrays (K, K)."""

    yes: FloatArray
    no: FloatArray

    def agreement(self, believed: FloatArray) -> FloatArray:
        """Return the chance that rows of two clusters share a class; ``believed`` (K, K) before anything was heard."""
        chances: FloatArray = (_BELIEF * believed + self.yes) / (_BELIEF + self.yes + self.no)
        return chances


def hear(members: FloatArray, posterior: FloatArray, settled: BoolArray) -> Heard:
    """Count what groups tell about clusters.

    A group tells as often as it has rows beyond the first that the clusters of its rows share a class; two groups that
    are kept apart tell once that theirs do not.

    Parameters
    ----------
    members : (groups, m)
    posterior : (m, K)
    settled : (groups, groups)
    """
    sizes = np.maximum(members.sum(axis=1), 1.0)
    share = (members @ posterior) / sizes[:, None]
    apart = settled & ~np.eye(len(settled), dtype=bool)
    return Heard(yes=(share * (sizes - 1)[:, None]).T @ share, no=share.T @ apart @ share)


def chance_joined(likeness: FloatArray, at_sight: FloatArray) -> FloatArray:
    """Return the chance that two groups share a class.

    Parameters
    ----------
    likeness : array
        Of their most alike rows.
    at_sight : array
        The chance by the clusters they are in, where their rows are not alike.
    """
    chances: FloatArray = (likeness + _UNSEEN * at_sight) / (likeness + _UNSEEN)
    return chances


def doubt(support: FloatArray, joined: FloatArray, posterior: FloatArray) -> FloatArray:
    """Return how much is open about the class of each row.

    It is the entropy of its membership in the groups, plus one bit where it cannot be seen to belong to any, times the
    entropy of its posterior, plus the doubt that remains where the model is sure. Groups that share a class leave
    nothing open between them: the entropy is that of Leinster and Cobbold (2012), −Σ_A m_A ln Σ_B J_AB m_B.
    """
    unseen, seen = _unseen(support), membership(support)
    ordinary = np.maximum(joined @ seen, np.finfo(float).tiny)
    by_groups = (entr(unseen) - (seen * np.log(ordinary)).sum(axis=0)) / np.log(2) + unseen
    by_model = entr(posterior).sum(axis=1) / np.log(2)
    open_still: FloatArray = by_groups * (_LEAST_DOUBT + by_model)
    return open_still
