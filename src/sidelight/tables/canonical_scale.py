"""A scale for a column that is nearly the same for the column and for its logarithm.

Leaving a column as it is unless another scale is clearly better keeps it in its units, but then the unit decides: a
column and its logarithm may both be left as they are. Here no scale is special. Transforms of the column are named by
the skewness that the transformed column has, and the evidence chooses among the same skewnesses whatever the column
was measured in. The transforms of a column that have a given skewness, and those of its logarithm, lead to nearly the
same numbers, since logarithms and exponentials undo each other.

Making the skewness zero would do for this, but it hides clusters that lie to one side of the others.
"""

import numpy as np

from sidelight._typing import AnyArray, FloatArray
from sidelight.tables.power import PowerTransform
from sidelight.tables.power_choice import StandardColumn, representative_points, scale_evidence

# Skewnesses that a column may have on its scale. The evidence is that of a sample, so less skew is preferred a little.
_SKEWNESSES = np.linspace(-2.0, 2.0, 17)
_SKEWNESS_DEVIATION = 0.5
# A skewness counts as reached when it is as near as this.
_NEAR = 0.05
# Bends among which those with the wanted skewness are found.
_BENDS = np.linspace(-4.0, 4.0, 81)
# Columns with fewer different cells, or a cell that is this frequent, are left as they are.
_LEAST_DIFFERENT = 8
_FREQUENT = 0.3


def canonical_power(cells: AnyArray, weights: FloatArray) -> PowerTransform | None:
    """Return the transform of a column to its canonical scale; None where that is the column as it is.

    ``cells`` (n,) may have NaN for missing ones; ``weights`` (n,) say how many rows each stands for.
    """
    points = representative_points(cells, weights, _LEAST_DIFFERENT, _FREQUENT)
    column = None if points is None else StandardColumn.of(points)
    if column is None:
        return None
    # Skewness falls as the bend goes from exponential to logarithmic.
    reached = np.minimum.accumulate(skewnesses(column.on_scales(_BENDS)[0]))

    def bends(wanted: FloatArray) -> FloatArray:
        return np.interp(-wanted, -reached, _BENDS)

    bent, slopes = column.on_scales(bends(_SKEWNESSES))
    evidence = scale_evidence(bent, slopes, column.rows) - 0.5 * np.square(_SKEWNESSES / _SKEWNESS_DEVIATION)
    attainable = np.abs(skewnesses(bent) - _SKEWNESSES) < _NEAR
    if not attainable.any():
        return None
    wanted = _highest(_SKEWNESSES, np.where(attainable, evidence, -np.inf))
    return column.transform(float(bends(np.array([wanted]))[0]))


def skewnesses(points: FloatArray) -> FloatArray:
    """Return the skewness of each row of points (s, m): the third moment about the mean, in standard deviations."""
    deviations = points - points.mean(axis=1, keepdims=True)
    return np.asarray((deviations**3).mean(axis=1) / np.square(deviations).mean(axis=1) ** 1.5)


def _highest(grid: FloatArray, heights: FloatArray) -> float:
    """Return where the parabola through the highest point of an even grid and its two neighbours is highest.

    Between the points of a grid the choice would jump, and a small change of a column would change its scale.
    """
    best = int(heights.argmax())
    around = heights[max(best - 1, 0) : best + 2]
    if len(around) < 3 or not np.isfinite(around).all():
        return float(grid[best])
    before, top, after = around
    curvature = before - 2 * top + after
    step = 0.5 * (grid[1] - grid[0]) * (before - after) / curvature if curvature < 0 else 0.0
    return float(grid[best] + step)
