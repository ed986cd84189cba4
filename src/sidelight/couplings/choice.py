"""Two ways to choose among alternatives with given scores: in proportion, or outright."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.special import logsumexp

from sidelight._typing import FloatArray


class Choice(NamedTuple):
    """Shares (rows, alternatives) that sum to one over alternatives, and what the choice is worth (rows,)."""

    shares: FloatArray
    value: FloatArray


Chooser = Callable[[FloatArray], Choice]


def softly(scores: FloatArray) -> Choice:
    """Choose in proportion to exp(score); worth the logarithm of the sum."""
    value = logsumexp(scores, axis=1)
    return Choice(np.exp(scores - value[:, None]), value)


def outright(scores: FloatArray) -> Choice:
    """Choose the highest score, the first of equals; worth that score."""
    best = scores.argmax(axis=1)
    rows = np.arange(len(scores))
    shares = np.zeros_like(scores)
    shares[rows, best] = 1.0
    return Choice(shares, scores[rows, best])
