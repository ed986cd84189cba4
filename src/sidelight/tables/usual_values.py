"""The usual value of a column: its most frequent one, where it is more frequent than a smooth density would make it.

A measurement that was rounded repeats its values too, so that neither repeats nor a share of the cells tell a usual
value. What tells it are the neighbours. Let the recorded values about ``a`` lie a step ``h`` apart. A Gaussian of
standard deviation ``s`` whose mean is ``a`` makes the cell of ``a`` exp(h² / 2s²) times as frequent as the next one.
While the steps resolve it, s ≥ h / 2, that is at most e² = 7.4 times. A value that is more frequent than e² times its
neighbours is not a place of a smooth density but a value of its own: an atom.

A column with an atom is independent of the other columns given the component, so that their correlations are lost. What
the atom gains must be worth it: at least ln 2 per cell, which is −½ ln(1 − R²), the loss of a column of whose variance
the other columns explain R² = ¾. The gain is the divergence KL(p ‖ q) of the share p of the usual value from the share
q that the density through the neighbours gives it.
"""

from typing import NamedTuple

import numpy as np
from scipy.stats import binom

from sidelight._typing import AnyArray, BoolArray, FloatArray, IntArray

# How many times as frequent as the next value the mean of a Gaussian is whose deviation is half a step.
_RESOLVED = float(np.exp(2.0))
# Neighbouring values, and steps, that are looked at on either side.
_NEIGHBOURS = 16
# What the atom must gain per cell.
_LEAST_GAIN = float(np.log(2.0))
# The neighbours are few and their number is chance; this is how rarely chance may look like a usual value.
_ERROR = 0.01
# A step without any cell may still hold some in a larger table.
_LEAST_DENSITY = 0.5
# Cells that are looked at, evenly spaced over the column.
MOST_CELLS = 20_000


class _Density(NamedTuple):
    """Cells per step on one side of a value.

    Parameters
    ----------
    highest : float
        The largest mean over the nearest steps: one, two, four, … of them.
    cells : float
        The cells in all steps looked at, or what would be there at the least density.
    steps : int
    """

    highest: float
    cells: float
    steps: int


def is_usual(cells: AnyArray, usual: FloatArray) -> BoolArray:
    """Say of cells (…, d) whether they hold the usual value (d,) of their column, NaN for a column that has none."""
    # A table of single precision holds the usual value in single precision.
    return cells == usual.astype(cells.dtype)


def most_frequent(values: FloatArray) -> float:
    """Return the most frequent value of observed cells, the smallest of several; NaN where there is no cell."""
    found, counts = np.unique(evenly_spaced(values), return_counts=True)
    return float(found[counts.argmax()]) if len(found) else np.nan


def has_usual_value(values: FloatArray) -> bool:
    """Say whether the most frequent of the observed cells (m,) of a column is an atom.

    The step is the median distance between the neighbouring values on a side. The density is the largest mean over
    the nearest one, two, four, eight or sixteen steps on either side, so that a value on a slope is compared with the
    upper end of it. Given the cells of ``a`` and those in K steps on a side, the number of the former is binomial with
    a probability of at most e² / (e² + K) if ``a`` is not an atom; atoms are values for which that is very unlikely.
    """
    found, counts = np.unique(evenly_spaced(values), return_counts=True)
    if len(found) == 1:  # the other values are rare, and elsewhere
        found, counts = np.unique(values, return_counts=True)
    # Continuous columns, of which there may be thousands, are decided here.
    if len(found) < 2 or counts.max() <= _RESOLVED * _LEAST_DENSITY:
        return False
    place = int(counts.argmax())
    below = _density((found[place] - found[:place])[::-1], counts[:place][::-1])
    above = _density(found[place + 1 :] - found[place], counts[place + 1 :])
    sides = [side for side in (below, above) if side is not None]
    count, total = int(counts[place]), int(counts.sum())
    if not all(_stands_out(count, side) for side in sides):
        return False
    return _divergence(count / total, max(side.highest for side in sides) / total) > _LEAST_GAIN


def evenly_spaced(values: FloatArray) -> FloatArray:
    """Return at most 20 000 of the cells, evenly spaced."""
    return values[rows_to_look_at(len(values))]


def rows_to_look_at(n_rows: int, most: int = MOST_CELLS) -> slice | IntArray:
    """Return at most ``most`` rows, evenly spaced."""
    return slice(None) if n_rows <= most else np.linspace(0, n_rows - 1, most).astype(np.int64)


def _density(distances: FloatArray, counts: IntArray) -> _Density | None:
    """Return the cells per step on one side, from the distances of its values, nearest first; None without any."""
    distances, counts = distances[:_NEIGHBOURS], counts[:_NEIGHBOURS]
    if not len(distances):
        return None
    step = np.median(np.diff(distances)) if len(distances) > 1 else distances[0]
    steps = np.maximum(np.rint(distances / step), 1)
    farthest = int(min(steps[-1], _NEIGHBOURS))
    widths = [width for width in (1, 2, 4, 8) if width < farthest] + [farthest]
    within = np.array([counts[steps <= width].sum() for width in widths])
    highest = max(float((within / widths).max()), _LEAST_DENSITY)
    return _Density(highest, max(float(within[-1]), _LEAST_DENSITY * farthest), farthest)


def _stands_out(count: int, side: _Density) -> bool:
    """Say whether a value is so much more frequent than those on one side that no smooth density explains it."""
    if count <= _RESOLVED * side.highest:
        return False
    total = count + int(np.ceil(side.cells))
    return bool(binom.sf(count - 1, total, _RESOLVED / (_RESOLVED + side.steps)) < _ERROR)


def _divergence(share: float, expected: float) -> float:
    """Return KL(p ‖ q) of two Bernoulli distributions."""
    return float(share * np.log(share / expected) + (1 - share) * np.log((1 - share) / (1 - expected)))
