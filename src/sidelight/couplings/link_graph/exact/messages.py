"""What one end of a link tells the other, in time linear in the number of classes.

A link only asks whether the classes of its ends are equal, so that a message needs for each class the sum (or the
maximum) over the other classes. The total minus the class's own part would cancel where one class has nearly all;
there the others are summed by themselves.
"""

from collections.abc import Callable

import numpy as np

from sidelight._typing import FloatArray
from sidelight.kernels.logspace import log, log_sum_of_others

Message = Callable[[FloatArray, FloatArray, FloatArray], FloatArray]

# Below this, parts of a sum may have been lost to underflow.
_TINY = 1e-200
_BLOCK_ROWS = 4096


def summed(scores: FloatArray, log_equal: FloatArray, log_different: FloatArray) -> FloatArray:
    """Return ln Σ_c' exp(score_c' + link(c, c')) for each class c.

    Parameters
    ----------
    scores : (links, classes)
        Log scores of one end of each link; each has a class that is possible.
    log_equal, log_different : (links,)

    Returns
    -------
    (links, classes)
    """
    messages = np.empty_like(scores)
    for start in range(0, len(scores), _BLOCK_ROWS):
        block = slice(start, start + _BLOCK_ROWS)
        messages[block] = _summed(scores[block], log_equal[block], log_different[block])
    return messages


def _summed(scores: FloatArray, log_equal: FloatArray, log_different: FloatArray) -> FloatArray:
    largest = scores.max(axis=1)
    scale = np.maximum(log_equal, log_different)
    exponentials = np.exp(scores - largest[:, None])
    others = _sums_of_others(exponentials)
    others *= np.exp(log_different - scale)[:, None]
    exponentials *= np.exp(log_equal - scale)[:, None]
    others += exponentials
    unsure = np.flatnonzero(others.min(axis=1) < _TINY)
    messages = log(others)
    messages += (largest + scale)[:, None]
    if unsure.size:
        messages[unsure] = _carefully_summed(scores[unsure], log_equal[unsure], log_different[unsure])
    return messages


def _sums_of_others(exponentials: FloatArray) -> FloatArray:
    """Return for each class the sum over the others, where the largest of a row is exactly 1."""
    small = np.where(exponentials < 1.0, exponentials, 0.0)
    n_largest = (exponentials == 1.0).sum(axis=1)
    beyond_one = small.sum(axis=1) + (n_largest - 1)
    return (1.0 - exponentials) + beyond_one[:, None]


def _carefully_summed(scores: FloatArray, log_equal: FloatArray, log_different: FloatArray) -> FloatArray:
    others = log_sum_of_others(scores)
    return np.logaddexp(others + log_different[:, None], scores + log_equal[:, None])


def maximal(scores: FloatArray, log_equal: FloatArray, log_different: FloatArray) -> FloatArray:
    """Return max_c' score_c' + link(c, c') for each class c; arguments as of :func:`summed`."""
    return np.maximum(best_of_others(scores) + log_different[:, None], scores + log_equal[:, None])


def best_of_others(scores: FloatArray) -> FloatArray:
    """Return for each class the largest score of the others."""
    rows, best = np.arange(len(scores)), scores.argmax(axis=1)
    rest = scores.copy()
    rest[rows, best] = -np.inf
    others = np.repeat(scores[rows, best][:, None], scores.shape[1], axis=1)
    others[rows, best] = rest.max(axis=1)
    return others
