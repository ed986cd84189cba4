"""The E-step of a few rows compiled by numba; imported only when numba is installed and compiling pays.

Results equal those of :func:`sidelight.admixture.decomposition.accumulate` to rounding. The attributes follow one
another: densities, exponentials and sums of one are computed while its scores, (processes, rows), are in the nearest
cache.
"""

import math

import numpy as np
from numba import njit

from sidelight._typing import FloatArray
from sidelight.admixture.model import Densities
from sidelight.kernels.elementary import FAST, FAST_SUMS, exp_of_nonpositive


def accumulate(
    values: FloatArray,
    observed: FloatArray,
    densities: Densities,
    offsets: FloatArray,
    row_mass: FloatArray,
    sums: FloatArray,
) -> float:
    """See :func:`sidelight.admixture.decomposition.accumulate`."""
    return _visit_attributes(values, observed, *densities, offsets, row_mass, sums)


@njit(cache=True, nogil=True, error_model="numpy")
def _visit_attributes(
    values: FloatArray,
    observed: FloatArray,
    means: FloatArray,
    slopes: FloatArray,
    constants: FloatArray,
    offsets: FloatArray,
    row_mass: FloatArray,
    sums: FloatArray,
) -> float:
    scores = np.empty(offsets.shape)
    largest, total = np.empty(offsets.shape[1]), np.empty(offsets.shape[1])
    evidence = 0.0
    for g in range(values.shape[0]):
        evidence += _exponentiate(
            values[g], observed[g], means[:, g], slopes[:, g], constants[:, g], offsets, scores, largest, total
        )
        _collect(values[g], total, scores, row_mass, sums[:, :, g])
    return evidence


@njit(cache=True, nogil=True, fastmath=FAST, error_model="numpy")
def _exponentiate(
    x: FloatArray,
    observed: FloatArray,
    means: FloatArray,
    slopes: FloatArray,
    constants: FloatArray,
    offsets: FloatArray,
    scores: FloatArray,
    largest: FloatArray,
    total: FloatArray,
) -> float:
    """Fill ``scores`` with Q up to its normaliser and ``total`` with its inverse, 0 for missing cells."""
    k, n = scores.shape
    for b in range(n):
        largest[b] = -np.inf
        total[b] = 0.0
    for c in range(k):
        mean, slope, constant = means[c], slopes[c], constants[c]
        for b in range(n):
            distance = (x[b] - mean) * slope
            score = constant - distance * distance + offsets[c, b]
            scores[c, b] = score
            largest[b] = max(largest[b], score)
    for c in range(k):
        for b in range(n):
            exponential = exp_of_nonpositive(scores[c, b] - largest[b])
            scores[c, b] = exponential
            total[b] += exponential
    evidence = 0.0
    for b in range(n):
        evidence += observed[b] * (largest[b] + math.log(total[b]))
        total[b] = observed[b] / total[b]
    return evidence


# The sums may be reordered, so that the compiler can add four numbers at a time.
@njit(cache=True, nogil=True, fastmath=FAST_SUMS, error_model="numpy")
def _collect(x: FloatArray, inverse: FloatArray, scores: FloatArray, row_mass: FloatArray, sums: FloatArray) -> None:
    k, n = scores.shape
    for c in range(k):
        mass, first, second = 0.0, 0.0, 0.0
        for b in range(n):
            q = scores[c, b] * inverse[b]
            row_mass[c, b] += q
            weighted = q * x[b]
            mass += q
            first += weighted
            second += weighted * x[b]
        sums[0, c] += mass
        sums[1, c] += first
        sums[2, c] += second
