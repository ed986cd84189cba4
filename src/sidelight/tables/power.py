"""Columns on the scale they want: a transform of the numbers of a column, its inverse and its derivative.

Standardise a column by its median and a robust scale, t = (x - m) / s, and take y = m + s ψ(t) with

    ψ(t) = log(1 + g t) / g              g > 0, a long tail to the right (a logarithm from an origin m - s / g)
    ψ(t) = t                             g = 0
    ψ(t) = (exp(-g t) - 1) / -g          g < 0, a long tail to the left

For g > 0 this is the inverse of Tukey's g-transformation of a normal variable (Hoaglin 1985), the lognormal system S_L
of Johnson (1949); for g < 0 it is the exponential transformation of Manly (1976). The two are each other's inverses: a
logarithm is undone by an exponential, so that a column and its logarithm lead to nearly the same numbers. Box and Cox
(1964) measure from zero and so depend on shifts; Yeo and Johnson (2000) bend the two sides of the median apart and
contain no logarithm of a column. Here y moves with x by shift and scale, and has slope one at the median.

We depart from the papers at the ends: outside an interval ψ goes on as its tangent. It is then a map of all numbers
onto all numbers with a continuous derivative: every cell has a density, densities of rows still integrate to one, and a
new cell below the origin of a logarithm is far out, not an error.
"""

from dataclasses import dataclass
from functools import partial

import numpy as np

from sidelight._storable import storable
from sidelight._typing import AnyArray, FloatArray
from sidelight.tables.table import Rows, Table


@storable("PowerTransform")
@dataclass(frozen=True)
class PowerTransform:
    """The transform of one column; missing cells stay missing.

    Parameters
    ----------
    centre, scale : float
        m and s: t = (x - m) / s.
    skewness : float
        Tukey's g, not zero: above zero for a long tail to the right, which the logarithm draws in; below for one to the
        left, which the exponential draws in.
    low, high : float
        Between these values of t the transform bends; outside it is straight.
    """

    centre: float
    scale: float
    skewness: float
    low: float
    high: float

    @property
    def words(self) -> str:
        """What the transform does, to end a sentence with."""
        return "on a logarithmic scale" if self.skewness > 0 else "on an exponential scale"

    def apply(self, cells: AnyArray) -> FloatArray:
        """Return the cells y of a column x."""
        standard = (np.asarray(cells, dtype=float) - self.centre) / self.scale
        return self.centre + self.scale * bend(standard, self.skewness, self.low, self.high)

    def invert(self, transformed: AnyArray) -> FloatArray:
        """Return the cells x of a transformed column y."""
        bent = (np.asarray(transformed, dtype=float) - self.centre) / self.scale
        return self.centre + self.scale * unbend(bent, self.skewness, self.low, self.high)

    def log_derivative(self, transformed: AnyArray) -> FloatArray:
        """Return log dy/dx where the transformed column is y."""
        bent = (np.asarray(transformed, dtype=float) - self.centre) / self.scale
        low, high = (float(_curve(np.array(end), self.skewness)) for end in (self.low, self.high))
        # The inverse is the curve of the opposite skewness, and its log slope the opposite of this one.
        return -_log_slope(np.clip(bent, low, high), -self.skewness)


Powers = tuple[PowerTransform | None, ...]


def bend(t: FloatArray, skewness: float, low: float, high: float) -> FloatArray:
    """Return ψ(t), which is straight below ``low`` and above ``high``."""
    inside = np.clip(t, low, high)
    # Infinity less infinity would be NaN, a missing cell.
    beyond = np.where(t == inside, 0.0, t - np.where(np.isinf(inside), 0.0, inside))
    return _curve(inside, skewness) + np.exp(_log_slope(inside, skewness)) * beyond


def unbend(bent: FloatArray, skewness: float, low: float, high: float) -> FloatArray:
    """Return t where ``bent`` is ψ(t)."""
    ends = _curve(np.array([low, high]), skewness)
    return bend(bent, -skewness, float(ends[0]), float(ends[1]))


def log_slope(t: FloatArray, skewness: float, low: float, high: float) -> FloatArray:
    """Return log dψ/dt."""
    return _log_slope(np.clip(t, low, high), skewness)


def _curve(t: FloatArray, skewness: float) -> FloatArray:
    curve = np.log1p(skewness * t) / skewness if skewness > 0 else np.expm1(-skewness * t) / -skewness
    return np.asarray(curve)


def _log_slope(t: FloatArray, skewness: float) -> FloatArray:
    return np.asarray(-np.log1p(skewness * t) if skewness > 0 else -skewness * t)


def transformed(cells: AnyArray, powers: Powers | None) -> AnyArray:
    """Return a table (n, d) with its columns transformed, where they have a transform; the table itself if none has."""
    if powers is None:
        return cells
    table = np.array(cells)
    for column, power in enumerate(powers):
        if power is not None:
            table[:, column] = power.apply(cells[:, column])
    return table


def in_original_units(cells: AnyArray, powers: Powers | None) -> AnyArray:
    """Return the table (n, d) that a transformed one came from."""
    if powers is None:
        return cells
    table = np.array(cells)
    for column, power in enumerate(powers):
        if power is not None:
            table[:, column] = power.invert(cells[:, column])
    return table


def log_jacobian(cells: AnyArray, powers: Powers | None) -> FloatArray:
    """Return the log determinant of the transform at each row of a transformed table; missing cells add nothing."""
    total = np.zeros(cells.shape[0])
    for column, power in enumerate(powers or ()):
        if power is not None:
            found = power.log_derivative(cells[:, column])
            total += np.where(np.isnan(found), 0.0, found)
    return total


def transformed_table(table: Table, powers: Powers) -> Table:
    """Return a dense table with its columns transformed."""
    return table.mapped(partial(transformed, powers=powers))


def table_log_jacobian(table: Table, weights: FloatArray | None, powers: Powers | None) -> float:
    """Return the sum of the log determinants over the rows of a transformed table, each as often as it counts."""
    if powers is None:
        return 0.0
    return sum(found for _, found in Rows(table, weights).map_parts(partial(_log_jacobian_of, powers=powers)))


def _log_jacobian_of(rows: Rows, powers: Powers) -> float:
    total = 0.0
    for chunk in rows.chunks():
        found = log_jacobian(rows.table.take(chunk), powers)
        total += float(found.sum() if rows.weights is None else found @ rows.weights[chunk])
        rows.table.release(chunk)
    return total
