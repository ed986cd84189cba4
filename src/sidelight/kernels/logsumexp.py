"""What all the others add up to, without subtracting a term from a sum that it dominates."""

import numpy as np

from sidelight._typing import FloatArray


def log_sum_of_others(scores: FloatArray) -> FloatArray:
    """Return ln Σ_{m' ≠ m} exp(score_m') for each m, along the last axis.

    Total minus own loses every digit where own is nearly all of the total; there, at the largest score, the others are
    summed by themselves.
    """
    best = scores.argmax(axis=-1)[..., None]
    top = np.take_along_axis(scores, best, axis=-1)
    rest = scores.copy()
    np.put_along_axis(rest, best, -np.inf, axis=-1)
    second = rest.max(axis=-1, keepdims=True)
    with np.errstate(divide="ignore"):
        beside_best = second + np.log(np.exp(rest - np.where(np.isfinite(second), second, 0.0)).sum(-1, keepdims=True))
        # The best itself is among the others of any other, so at least one is left.
        others = top + np.log1p(np.maximum(np.exp(beside_best - top) - np.exp(rest - top), 0.0))
    np.put_along_axis(others, best, beside_best, axis=-1)
    return others
