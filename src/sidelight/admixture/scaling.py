"""The units of a fit: each attribute is measured from its mean, in standard deviations of its observed cells."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from sidelight._typing import AnyArray, FloatArray, IntArray
from sidelight.tables.survey import SMALLEST
from sidelight.tables.table import Rows

_BLOCK_ROWS = 1024


class Scaling(NamedTuple):
    """Units of every attribute.

    ``centre`` and ``scale`` (d,) are mean and standard deviation of the observed cells, of which there are
    ``n_observed`` (d,); the scale of a constant attribute is 1.
    """

    centre: FloatArray
    scale: FloatArray
    n_observed: IntArray

    @property
    def log_volume(self) -> float:
        """Log density of the table in these units, less its log density in the table's own."""
        return float(self.n_observed @ np.log(self.scale))

    def standardise(self, rows: AnyArray) -> FloatArray:
        """Return rows (m, d) of the table in these units."""
        values: FloatArray = np.asarray(rows, dtype=float) - self.centre
        values /= self.scale
        return values


def survey_scaling(rows: Rows, column_names: AnyArray | None = None) -> Scaling:
    """Return the units of a table; refuse infinite cells, columns without an observed cell, and overflow.

    The first pass finds the means, the second the squares about them. The single pass of
    :mod:`sidelight.tables.survey` differs in the last bits; the ascent amplifies that to about 1e-8. Error messages
    number the columns where they have no names.
    """
    refuse_infinity(rows, column_names)
    d = rows.shape[1]
    total, n_observed, squares = np.zeros(d), np.zeros(d, dtype=np.int64), np.zeros(d)
    lowest, highest = np.full(d, np.inf), np.full(d, -np.inf)
    for _, values in _blocks(rows):
        observed = ~np.isnan(values)
        total += np.where(observed, values, 0.0).sum(axis=0)
        n_observed += observed.sum(axis=0)
        lowest, highest = np.fmin(lowest, np.fmin.reduce(values)), np.fmax(highest, np.fmax.reduce(values))
    if not n_observed.all():
        empty = _column(int(np.argmin(n_observed)), column_names)
        raise ValueError(f"X has no value in any row of {empty}, only NaN; leave the column out.")
    centre = total / n_observed
    for _, values in _blocks(rows):
        differences = values - centre
        with np.errstate(over="ignore"):
            squares += np.square(np.where(np.isnan(differences), 0.0, differences)).sum(axis=0)
    scale = np.sqrt(squares / n_observed)
    if not np.isfinite(scale).all():
        wide = _column(int(np.argmax(~np.isfinite(scale))), column_names)
        raise ValueError(f"X: the values of {wide} are too large to be squared; rescale the column.")
    with np.errstate(over="ignore"):
        small = (lowest < highest) & (highest - lowest < SMALLEST)
    if small.any():
        narrow = _column(int(np.argmax(small)), column_names)
        raise ValueError(f"X: the values of {narrow} differ by too little to be squared; rescale the column.")
    # A constant attribute has no spread; what remains is rounding, more in a long table.
    noise = 8 * np.finfo(float).eps * np.abs(centre)
    return Scaling(centre, np.where((lowest < highest) & (scale > noise), scale, 1.0), n_observed)


def refuse_infinity(rows: Rows, column_names: AnyArray | None = None) -> None:
    """Raise an error that names the first infinite cell, if there is one; huge and missing cells are allowed."""
    for first_row, values in _blocks(rows):
        infinite = np.isinf(values)
        if infinite.any():
            row, column = np.argwhere(infinite)[0]
            where = f"row {first_row + row}, {_column(column, column_names)}"
            raise ValueError(f"X contains infinity in {where}; use NaN where a cell is missing.")


def _blocks(rows: Rows) -> Iterator[tuple[int, FloatArray]]:
    """Yield the table a few rows at a time, each time with the number of the first."""
    for chunk in rows.chunks():
        for block in rows.blocks(chunk, _BLOCK_ROWS):
            assert isinstance(block.numbers, slice)
            yield block.numbers.start, np.asarray(block.values, dtype=float)


def _column(number: int, names: AnyArray | None) -> str:
    return f"column {number}" if names is None else f"column {names[number]!r}"
