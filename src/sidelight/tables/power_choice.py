"""Which transform a column wants: the one with the most evidence from one-dimensional Gaussian mixtures.

A transform that makes a column normal may hide clusters that show as modes. So each transform of a grid is judged by
the best mixture of one to five Gaussians on its scale: the log density of the cells in original units, the derivative
of the transform included, less what BIC charges for the mixture (Schwarz 1978) and the prior for the bend. Leaving a
column as it is wins unless another scale is better by what a parameter costs and a little more.
"""

from typing import NamedTuple, Protocol

import numpy as np

from sidelight._typing import AnyArray, FloatArray, IntArray
from sidelight.tables.power import Powers, PowerTransform, bend, log_slope
from sidelight.tables.table import Table

# Rows looked at, evenly spaced; points that stand for the cells of a column; and how many rows they may count for:
# with more, the evidence against any exact shape grows without end.
_ROWS_LOOKED_AT = 5000
_POINTS = 100
_MOST_ROWS = 1000.0
_MOST_COLUMNS = 100
# Columns with fewer different cells, or a cell that is this frequent, are left as they are.
_LEAST_DIFFERENT = 20
_FREQUENT = 0.1
# Cells cut off at either end before scales are compared, at least one: one cell must not choose a scale.
_CUT = 0.005
# The end of the long tail, beyond which a transform is straight: the share of the cells outside.
_OUTSIDE = 0.02
# By how much slopes differ, as a logarithm, between the median and the end of the short tail; positive for logarithms.
_BENDS = np.array([0.4, 0.9, 1.6, 2.6, 4.0])
_FINER = 7
# A smaller bend is a straight line to all digits that count.
_LEAST_BEND = 1e-6
_BEND_DEVIATION = 1.5
# In logarithms: slopes smaller than this would lose digits.
_LEAST_LOG_SLOPE = -12.0
# What another scale must be better by, in nats, beside half the logarithm of the number of rows.
_MARGIN = 4.0
_MOST_COMPONENTS = 5
_STEPS, _STEPS_TO_CONFIRM = 30, 150
# Components are worth this many rows more, of this variance (of the column: one), so that none shrinks to a point.
_PRIOR_ROWS = 2.0
_PRIOR_VARIANCE = 0.01
_QUARTILES_OF_NORMAL = 1.349
_TINY = np.finfo(float).tiny


class Points(NamedTuple):
    """Sorted points (m,) of equal weight that stand for the cells of a column, and the rows they count for together."""

    values: FloatArray
    rows: float


class StandardColumn(NamedTuple):
    """The points of a column in robust standard units, and the transforms that it may be taken through.

    Parameters
    ----------
    values : (m,)
        Sorted.
    rows : float
        How many rows the points count for together.
    centre, scale : float
        Of the column: its median and a robust standard deviation.
    short_left, short_right : float
        The ends of the short tail, where it is on the left and where it is on the right, in standard units.
    """

    values: FloatArray
    rows: float
    centre: float
    scale: float
    short_left: float
    short_right: float

    @classmethod
    def of(cls, points: Points) -> "StandardColumn | None":
        """Return the column of these points; None where too many cells are alike at the median for any bend."""
        centre, scale = _centre_and_scale(points.values)
        standard = (points.values - centre) / scale
        left, right = (float(np.quantile(standard, share)) for share in (_OUTSIDE, 1 - _OUTSIDE))
        return cls(standard, points.rows, centre, scale, left, right) if left < 0 < right else None

    def transform(self, bending: float) -> PowerTransform | None:
        """Return the transform whose slopes differ this much; None for one that would not bend the column."""
        if abs(bending) < _LEAST_BEND:
            return None
        if bending > 0:
            skewness = float(np.expm1(-bending) / self.short_left)
            return PowerTransform(self.centre, self.scale, skewness, self.short_left, np.inf)
        rate = -bending / self.short_right
        low = max(self.short_left, _LEAST_LOG_SLOPE / rate)
        return PowerTransform(self.centre, self.scale, -rate, low, self.short_right)

    def on_scales(self, bends: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the points (s, m) on the scale of each bend, and the logarithms of the slopes there."""
        bent, slopes = np.tile(self.values, (len(bends), 1)), np.zeros((len(bends), len(self.values)))
        for number, bending in enumerate(bends):
            power = self.transform(float(bending))
            if power is not None:
                curve = power.skewness, power.low, power.high
                bent[number], slopes[number] = bend(self.values, *curve), log_slope(self.values, *curve)
        return bent, slopes


class PowerChoice(Protocol):
    """A rule that gives a column its transform, None where it is left as it is."""

    def __call__(self, cells: AnyArray, weights: FloatArray) -> PowerTransform | None:
        """Return the transform of the cells (n,), NaN for missing ones, which count for ``weights`` (n,) rows."""


def learn_powers(table: Table, weights: FloatArray | None, columns: IntArray, choose: PowerChoice) -> Powers | None:
    """Return the transform of each column of a table, None for columns left as they are; None if all are.

    Parameters
    ----------
    table : Table
        As numbers, dense, NaN for missing cells.
    weights : (n,), optional
        How many rows each row stands for.
    columns : (g,)
        The columns that may be transformed. More than a hundred stay as they are: each takes its time, and together
        they say less about a scale than a subspace of them does.
    choose : callable
        The rule that gives a column its transform.
    """
    n, d = table.shape
    if len(columns) > _MOST_COLUMNS:
        return None
    rows = np.linspace(0, n - 1, min(n, _ROWS_LOOKED_AT)).astype(np.int64)
    cells = table.gather(rows)
    counts = np.ones(len(rows)) if weights is None else weights[rows]
    powers: list[PowerTransform | None] = [None] * d
    for column in columns:
        powers[column] = choose(cells[:, column], counts)
    return tuple(powers) if any(power is not None for power in powers) else None


def choose_power(cells: AnyArray, weights: FloatArray) -> PowerTransform | None:
    """Return the transform that a column wants; None where it is left as it is.

    ``cells`` (n,) may have NaN for missing ones; ``weights`` (n,) say how many rows each stands for.
    """
    points = representative_points(cells, weights)
    column = None if points is None else StandardColumn.of(points)
    if column is None:
        return None

    def evidence(bends: FloatArray, n_steps: int = _STEPS) -> FloatArray:
        bent, slopes = column.on_scales(bends)
        return scale_evidence(bent, slopes, column.rows, n_steps) - 0.5 * np.square(bends / _BEND_DEVIATION)

    grid = np.concatenate([-_BENDS[::-1], [0.0], _BENDS])
    coarse = evidence(grid)
    best = int(coarse.argmax())
    # Around the best, between its neighbours, whose evidence is known.
    finer = np.linspace(grid[max(best - 1, 0)], grid[min(best + 1, len(grid) - 1)], _FINER)
    finer = finer[~np.isin(finer, grid)]
    bends, found = np.append(grid, finer), np.append(coarse, evidence(finer))
    bending, least_gain = float(bends[found.argmax()]), 0.5 * np.log(column.rows) + _MARGIN
    if found.max() - coarse[grid == 0][0] <= least_gain:
        return None
    # Mixtures on the scale as it is may only be slower to converge.
    straight, bent = evidence(np.array([0.0, bending]), _STEPS_TO_CONFIRM)
    return column.transform(bending) if bent - straight > least_gain else None


def representative_points(
    cells: AnyArray, weights: FloatArray, least_different: int = _LEAST_DIFFERENT, frequent: float = _FREQUENT
) -> Points | None:
    """Return points that stand for the cells of a column, without its ends; None for a column of few values.

    Cells are rounded: each value is spread as far as half way to the nearest other. Points are then evenly spaced
    quantiles, so that the work does not depend on the number of cells, nor the result on repeating rows instead of
    weighting them. A column has few values where less than ``least_different`` differ, or one of them has more than
    the share ``frequent`` of all cells.
    """
    counted = np.isfinite(cells) & (weights > 0)
    values, places = np.unique(np.asarray(cells, dtype=float)[counted], return_inverse=True)
    if len(values) < least_different:
        return None
    mass = np.bincount(places, weights=weights[counted])
    total = float(mass.sum())
    if mass.max() > frequent * total:
        return None
    gaps = np.diff(values)
    reach = 0.5 * np.minimum(np.append(gaps, np.inf), np.insert(gaps, 0, np.inf))
    upper = np.cumsum(mass)
    edges = np.stack([values - reach, values + reach], axis=1).ravel()
    heights = np.stack([upper - mass, upper], axis=1).ravel()
    cut = max(_CUT * total, 1.0)
    if total <= 2 * cut:
        return None
    wanted = cut + (np.arange(_POINTS) + 0.5) / _POINTS * (total - 2 * cut)
    return Points(np.interp(wanted, heights, edges), min(total - 2 * cut, _MOST_ROWS))


def _centre_and_scale(values: FloatArray) -> tuple[float, float]:
    """Return the median and a robust standard deviation; where half of the cells are alike, the plain one."""
    lower, median, upper = np.quantile(values, [0.25, 0.5, 0.75])
    scale = (upper - lower) / _QUARTILES_OF_NORMAL
    return float(median), float(scale if scale > 0 else values.std())


def scale_evidence(bent: FloatArray, log_slopes: FloatArray, rows: float, n_steps: int = _STEPS) -> FloatArray:
    """Return the evidence (s,) of s scales: log density of the best mixture in original units, less what BIC charges.

    Parameters
    ----------
    bent : (s, m)
        The points on each scale, sorted.
    log_slopes : (s, m)
        The logarithms of the derivatives there.
    rows : float
        How many rows the points count for together.
    n_steps : int
        Of EM.
    """
    mean, deviation = bent.mean(axis=1, keepdims=True), bent.std(axis=1, keepdims=True)
    standard = (bent - mean) / deviation
    best = np.full(len(bent), -np.inf)
    for n_components in range(1, _MOST_COMPONENTS + 1):
        charge = 0.5 * (3 * n_components - 1) * np.log(rows)
        starts = _starts(standard, n_components)
        # A single component is at its best after one step.
        steps = 1 if n_components == 1 else n_steps
        found = mixture_log_likelihood(np.tile(standard, (len(starts), 1)), np.concatenate(starts), rows, steps)
        best = np.maximum(best, found.reshape(len(starts), -1).max(axis=0) - charge)
    return np.asarray(best + rows * (log_slopes.mean(axis=1) - np.log(deviation[:, 0])))


def _starts(points: FloatArray, n_components: int) -> list[FloatArray]:
    """Return responsibilities (s, k, m) to start from: groups of equal numbers of points, and of equal widths."""
    n_points = points.shape[1]
    numbers = np.arange(n_components)[:, None]
    equal = np.broadcast_to(np.arange(n_points) * n_components // n_points, points.shape)
    low, high = points[:, :1], points[:, -1:]
    wide = np.minimum((points - low) / (high - low) * n_components, n_components - 1).astype(np.int64)
    groupings = [equal] if n_components == 1 else [equal, wide]
    return [(groups[:, None] == numbers).astype(float) for groups in groupings]


def mixture_log_likelihood(
    points: FloatArray, responsibilities: FloatArray, rows: float, n_steps: int = _STEPS
) -> FloatArray:
    """Return the log likelihood (s,) of Gaussian mixtures after some steps of EM.

    A point stands for an interval as wide as the way to its nearest neighbour, so its square is that of the interval's
    middle plus the interval's variance; otherwise a few points far out would look like a narrow component.

    Parameters
    ----------
    points : (s, m)
        Of s mixtures, sorted.
    responsibilities : (s, k, m)
        Where to start.
    rows : float
        How many rows the points of a mixture count for together.
    n_steps : int
    """
    ways = np.diff(points, axis=1)
    widths = np.minimum(np.pad(ways, ((0, 0), (0, 1)), mode="edge"), np.pad(ways, ((0, 0), (1, 0)), mode="edge"))
    features = np.stack([np.ones_like(points), points, np.square(points) + np.square(widths) / 12], axis=1)
    share = rows / points.shape[1]
    sums = features.transpose(0, 2, 1) * share
    parameters = np.empty((*responsibilities.shape[:2], 3))
    top = totals = np.empty((len(points), 1, points.shape[1]))
    for _ in range(n_steps):
        statistics = responsibilities @ sums
        mass, first, second = statistics[..., 0], statistics[..., 1], statistics[..., 2]
        means = first / np.maximum(mass, _TINY)
        scatter = np.maximum(second - first * means, 0.0)
        precisions = (mass + _PRIOR_ROWS) / (scatter + _PRIOR_ROWS * _PRIOR_VARIANCE)
        weights = np.log(np.maximum(mass / rows, _TINY))
        parameters[..., 1] = means * precisions
        parameters[..., 2] = -0.5 * precisions
        parameters[..., 0] = weights + 0.5 * (np.log(precisions / (2 * np.pi)) - means * parameters[..., 1])
        responsibilities = parameters @ features
        top = responsibilities.max(axis=1, keepdims=True)
        responsibilities -= top
        np.exp(responsibilities, out=responsibilities)
        totals = responsibilities.sum(axis=1, keepdims=True)
        responsibilities /= totals
    return np.asarray((top + np.log(totals)).sum(axis=(1, 2)) * share)
