"""Which attributes tell two processes apart."""

from typing import NamedTuple

import numpy as np

from sidelight._typing import AnyArray, FloatArray, IntArray


class AttributeRanking(NamedTuple):
    """Attributes in falling order of how well they tell two processes apart: columns, names, distances, each (d,)."""

    columns: IntArray
    names: AnyArray
    distances: FloatArray


def attribute_distances(means: FloatArray, scales: FloatArray, first: int, second: int) -> FloatArray:
    """Return the Bhattacharyya distance of two processes in every attribute, (d,).

    For Gaussians Δ²/4(σ² + τ²) + ½ ln((σ² + τ²)/2στ): large where means differ, and where one process varies much more
    than the other. Half its negative exponential bounds how often a cell would be put down to the wrong one of the two.
    The Kullback-Leibler divergence has no such bound and runs away where one of the densities is narrow.
    """
    pooled = np.square(scales[first]) + np.square(scales[second])
    shifted = 0.25 * np.square(means[first] - means[second]) / pooled
    return shifted + 0.5 * np.log(pooled / (2 * scales[first] * scales[second]))
