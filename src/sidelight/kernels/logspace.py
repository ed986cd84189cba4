"""Sums and normalisation of numbers given by their logarithms, where -inf stands for zero."""

import numpy as np

from sidelight._typing import AnyArray, FloatArray


def log(numbers: FloatArray) -> FloatArray:
    """Return the logarithms; that of zero is -inf."""
    with np.errstate(divide="ignore"):
        return np.log(numbers)


def log_sum(scores: FloatArray, axis: int = -1) -> FloatArray:
    """Return ln Σ exp(scores) along an axis; -inf where everything is."""
    largest = finite(scores.max(axis=axis, keepdims=True))
    return log(np.exp(scores - largest).sum(axis=axis)) + np.squeeze(largest, axis)


def finite(largest: FloatArray) -> FloatArray:
    """Return what may be subtracted from scores with these maxima: zero in place of -inf."""
    return np.where(np.isneginf(largest), 0.0, largest)


def quotient(numerator: FloatArray, denominator: FloatArray) -> FloatArray:
    """Return the logarithm of a quotient, where nothing divided by nothing is nothing."""
    possible = denominator > -np.inf
    out: FloatArray = np.full(np.broadcast_shapes(numerator.shape, denominator.shape), -np.inf)
    return np.subtract(numerator, denominator, out=out, where=possible)


def shares(scores: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return exp(scores) scaled to sum to one over the last axis, and the logarithm of what they summed to."""
    largest = finite(scores.max(axis=-1, keepdims=True))
    exponentials = np.exp(scores - largest)
    total = exponentials.sum(axis=-1, keepdims=True)
    exponentials /= total
    return exponentials, (log(total) + largest)[..., 0]


def log_shares(scores: FloatArray, axes: tuple[int, ...]) -> tuple[FloatArray, FloatArray]:
    """Return ln r and r for r in proportion to exp(scores), which sums to one over some axes; ln r is finite."""
    log_values = scores - scores.max(axis=axes, keepdims=True)
    values = np.exp(log_values)
    total = values.sum(axis=axes, keepdims=True)
    log_values -= np.log(total)
    values /= total
    return log_values, values


def potentials(log_equal: FloatArray, log_different: FloatArray, n_classes: int) -> FloatArray:
    """Return the log potentials (..., classes, classes) of links that only tell whether two classes are equal."""
    same: AnyArray = np.eye(n_classes, dtype=bool)
    return np.where(same, log_equal[..., None, None], log_different[..., None, None])


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
