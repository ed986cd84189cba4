"""Sums over components that are put together."""

import numpy as np

from sidelight._typing import FloatArray, IntArray


def add_up(values: FloatArray, groups: IntArray) -> FloatArray:
    """Return the sums of values (components, …) over groups of components, without those whose group is -1."""
    total = np.zeros((int(groups.max()) + 1, *values.shape[1:]))
    kept = groups >= 0
    np.add.at(total, groups[kept], values[kept])
    return total
