"""How coarsely the numbers of a column were recorded."""

import numpy as np

from sidelight._typing import AnyArray, FloatArray

# Gaps between cells are whole multiples of the smallest up to this fraction of it.
_TOLERANCE = 1e-3


def rounding_variances(cells: AnyArray) -> FloatArray:
    """Return h² / 12 of each column (d,): the variance of what rounding to steps of h takes away (Sheppard 1898).

    The step is the smallest gap between two different cells of a column (m, d), where all gaps are whole multiples of
    it; a column without a step has zero. NaN marks missing cells.
    """
    return np.array([_step(column) ** 2 / 12 for column in np.asarray(cells, dtype=float).T])


def _step(column: FloatArray) -> float:
    """Return the step that the cells of a column are multiples of, from the least; 0 where there is none."""
    gaps = np.diff(np.unique(column[np.isfinite(column)]))
    if not len(gaps):
        return 0.0
    steps = gaps / gaps.min()
    return float(gaps.min()) if np.all(np.abs(steps - np.rint(steps)) <= _TOLERANCE * steps) else 0.0
