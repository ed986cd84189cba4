"""The inner loops in NumPy: the reference, and what runs where numba is not installed."""

import numpy as np

from sidelight.kernels.arrays import FloatArray


def softmax(scores: FloatArray, offsets: FloatArray, weights: FloatArray, evidence: FloatArray) -> None:
    """Turn scores into weighted responsibilities, in place.

    Parameters
    ----------
    scores : (components, rows)
        Log densities; on return ``weights * softmax(scores + offsets)`` over components.
    offsets : (components,)
        Log mixing weights; may be ``-inf``.
    weights : (rows,)
        Weight of each row.
    evidence : (rows,)
        On return the logarithm of the sum over components, not weighted.
    """
    scores += offsets[:, None]
    largest = scores.max(axis=0)
    scores -= largest
    np.exp(scores, out=scores)
    total = scores.sum(axis=0)
    scores *= weights / total
    np.log(total, out=evidence)
    evidence += largest


def argmax(scores: FloatArray, offsets: FloatArray, weights: FloatArray, evidence: FloatArray) -> None:
    """Give each row wholly to its best component, in place; ties go to the first.

    The arguments are those of :func:`softmax`; ``evidence`` becomes the largest score.
    """
    scores += offsets[:, None]
    best = scores.argmax(axis=0)
    rows = np.arange(scores.shape[1])
    evidence[:] = scores[best, rows]
    scores[:] = 0.0
    scores[best, rows] = weights


def quadratic_products(features: FloatArray, d: int) -> None:
    """Fill features (1 + d + d(d+1)/2, rows), whose rows 1 … d hold x_1 … x_d, with x_i x_j (i <= j) below."""
    centred = features[1 : d + 1]
    start = d + 1
    for i in range(d):
        np.multiply(centred[i], centred[i:], out=features[start : start + d - i])
        start += d - i
