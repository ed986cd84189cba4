"""A first look at a table: where its columns lie, how wide they are, and whether every cell fits its column.

A table is surveyed chunk by chunk, and the surveys of two chunks are merged (Chan, Golub and LeVeque 1983), so that
chunks may be looked at anywhere and in any order.
"""

from collections.abc import Callable, Iterator
from functools import partial, reduce
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import issparse
from sklearn.base import BaseEstimator

from sidelight._typing import AnyArray, BoolArray, FloatArray, IntArray
from sidelight.tables.kinds import kind_named
from sidelight.tables.schema import Schema
from sidelight.tables.table import Rows, Table, row_ranges
from sidelight.tables.usual_values import is_usual

# Squares of larger numbers would overflow, and those of smaller ones would lose their digits.
LARGEST, SMALLEST = 1e150, 1e-150
_BLOCK_ROWS = 3072
_EPSILON = np.finfo(float).eps


class Survey(NamedTuple):
    """Weighted moments of each column over its observed cells.

    Parameters
    ----------
    mean, variance : (d,)
        NaN for a column without an observed cell that counts.
    total : float
        Weight of all rows.
    observed : (d,)
        Weight of the rows in which the cell is observed.
    first_bad : (row, column), optional
        The first cell that is not a usable number; the moments are then of no use.
    usual : (d,), optional
        The usual value of each column, NaN for those that have none; the other figures of a column that has one are of
        its other cells. None where no column has one.
    """

    mean: FloatArray
    variance: FloatArray
    total: float
    observed: FloatArray
    first_bad: tuple[int, int] | None = None
    usual: FloatArray | None = None

    @property
    def scale(self) -> FloatArray:
        """Standard deviations, one where a column is constant."""
        return np.where(self.variance > 0, np.sqrt(self.variance), 1.0)

    def only(self, columns: IntArray) -> "Survey":
        """Return the survey of some columns."""
        return self._replace(
            mean=self.mean[columns],
            variance=self.variance[columns],
            observed=self.observed[columns],
            usual=None if self.usual is None else self.usual[columns],
        )

    def moved_by(self, n_rows: int) -> "Survey":
        """Return the survey of the same rows where they stand further down in a table."""
        if self.first_bad is None:
            return self
        return self._replace(first_bad=(self.first_bad[0] + n_rows, self.first_bad[1]))

    def merge(self, other: "Survey") -> "Survey":
        """Return the survey of the rows of both; ``other`` is of later rows."""
        if self.first_bad is not None or other.first_bad is not None:
            return self if self.first_bad is not None else other
        observed = self.observed + other.observed
        with np.errstate(invalid="ignore", divide="ignore"):
            share = other.observed / observed
            gap = other.mean - self.mean
            mean = self.mean + share * gap
            variance = (1 - share) * self.variance + share * other.variance + share * (1 - share) * np.square(gap)
        for place, one in ((other.observed == 0, self), (self.observed == 0, other)):
            mean, variance = np.where(place, one.mean, mean), np.where(place, one.variance, variance)
        # What rounding leaves of a constant column is not a variance.
        variance = np.where(variance <= np.square(4 * _EPSILON * mean), 0.0, variance)
        return Survey(mean, variance, self.total + other.total, observed)


class _Block(NamedTuple):
    """Rows from ``start`` on, and their weights."""

    start: int
    values: Any
    weights: FloatArray


Look = Callable[[Iterator[_Block], int], Survey]
Misfits = Callable[[AnyArray], BoolArray]


def survey(table: Table, weights: FloatArray | None = None) -> Survey:
    """Survey a table in which every cell must be a number."""
    return _merged(table, weights, _complete)


def survey_incomplete(table: Table, weights: FloatArray | None = None) -> Survey:
    """Survey a table in which NaN marks missing cells, or a sparse one."""
    return _merged(table, weights, _sparse if table.is_sparse else _incomplete)


def survey_finite(estimator: BaseEstimator, table: Table, weights: FloatArray | None = None) -> Survey:
    """Survey a table and refuse NaN, infinity and what is nearly so, saying where the first one stands."""
    found = survey(table, weights)
    if found.first_bad is not None:
        row, column = found.first_bad
        value = table.take(np.array([row]))[0, column]
        names = getattr(estimator, "feature_names_in_", None)
        where = f"{table.place(row)}, column {column if names is None else repr(names[column])}"
        if np.isfinite(value):
            raise ValueError(f"X contains {value} in {where}, too large to square; rescale the column.")
        kind = "NaN (a missing value)" if np.isnan(value) else "infinity"
        raise ValueError(
            f"X contains {kind} in {where}. {type(estimator).__name__} needs a number in every cell: "
            "fill missing ones in (sklearn.impute.SimpleImputer) or leave the row or column out."
        )
    return found


def survey_columns(table: Table, weights: FloatArray | None, schema: Schema) -> Survey:
    """Survey an encoded table, NaN for missing cells, and refuse the first cell that does not fit its column's kind."""
    usual = schema.usual_values()
    found = survey_incomplete(table, weights) if usual is None else _survey_apart(table, weights, usual)
    if found.first_bad is not None:
        row, column = found.first_bad
        value = table.take(np.array([row]))[0, column]
        where = f"{table.place(row)}, {schema.label(column)}"
        if np.isfinite(value):
            raise ValueError(f"X contains {value} in {where}, too large to square; rescale the column.")
        bad = "NaN" if np.isnan(value) else "infinity"
        raise ValueError(f"X contains {bad} in {where}; correct it, or leave the row or column out.")
    for name in dict.fromkeys(schema.kinds):
        kind = kind_named(name)
        misfit = None if kind.takes is None else _first_misfit(table, schema.of_kind(name), kind.misfits)
        if misfit is not None:
            row, column = misfit
            value = table.take(np.array([row]))[0, column]
            raise ValueError(
                f"X contains {value:g} in {table.place(row)}, {schema.label(column)}, which is {name} and takes "
                f"{kind.takes}; correct it, or give the column another family."
            )
    return found


def refuse_small(table: Table, found: Survey, label: Callable[[int], str]) -> None:
    """Refuse to fit a column whose values differ by so little that their squares would all be nothing.

    ``found`` is the survey of the table and ``label`` says what messages call a column. A column that never changes is
    not refused.
    """
    if table.is_sparse:
        return
    # Numbers that are further from zero than this differ by more, or not at all.
    near_zero = np.abs(found.mean) < SMALLEST / _EPSILON
    suspects = np.flatnonzero(near_zero & (found.variance < np.square(SMALLEST)))
    if not len(suspects):
        return
    ranges = [found for _, found in Rows(table).map_parts(partial(_ranges, columns=suspects))]
    lowest = np.fmin.reduce([low for low, _ in ranges])
    highest = np.fmax.reduce([high for _, high in ranges])
    small = np.flatnonzero((lowest < highest) & (highest - lowest < SMALLEST))
    if len(small):
        first = small[0]
        raise ValueError(
            f"X: the values of {label(int(suspects[first]))} lie between {lowest[first]:g} and {highest[first]:g}, too "
            "close to each other to square their differences; rescale the column."
        )


def _ranges(rows: Rows, columns: IntArray) -> tuple[FloatArray, FloatArray]:
    """Return the lowest and the highest observed cell of some columns."""
    lowest, highest = np.full(len(columns), np.inf), np.full(len(columns), -np.inf)
    for chunk in rows.chunks():
        values = np.asarray(rows.table.take(chunk)[:, columns], dtype=float)
        lowest, highest = np.fmin(lowest, np.fmin.reduce(values)), np.fmax(highest, np.fmax.reduce(values))
        rows.table.release(chunk)
    return lowest, highest


def _survey_apart(table: Table, weights: FloatArray | None, usual: FloatArray) -> Survey:
    """Survey a table without the cells that hold the usual value (d,) of their column, as if they were missing."""
    return _merged(table, weights, partial(_apart, usual=usual))._replace(usual=usual)


def _apart(blocks: Iterator[_Block], d: int, usual: FloatArray) -> Survey:
    others = (block._replace(values=np.where(is_usual(block.values, usual), np.nan, block.values)) for block in blocks)
    return _incomplete(others, d)


def _merged(table: Table, weights: FloatArray | None, look: Look) -> Survey:
    parts = Rows(table, weights).map_parts(partial(_survey_part, look=look))
    return reduce(Survey.merge, (found.moved_by(start) for start, found in parts))


def _survey_part(rows: Rows, look: Look) -> Survey:
    d = rows.shape[1]
    return reduce(Survey.merge, (look(_blocks(rows, chunk), d) for chunk in rows.chunks()))


def _blocks(rows: Rows, chunk: slice) -> Iterator[_Block]:
    for part in row_ranges(chunk.stop - chunk.start, _BLOCK_ROWS):
        numbers = slice(chunk.start + part.start, chunk.start + part.stop)
        values = rows.table.take(numbers)
        yield _Block(numbers.start, values, np.ones(values.shape[0]) if rows.weights is None else rows.weights[numbers])
    rows.table.release(chunk)


def _complete(blocks: Iterator[_Block], d: int) -> Survey:
    """Survey a chunk; sums are about the first block's mean, since squares about zero would cancel far from it."""
    origin, first, second, total = np.zeros(d), np.zeros(d), np.zeros(d), 0.0
    for number, block in enumerate(blocks):
        values = np.asarray(block.values, dtype=float)
        if not (values.min() >= -LARGEST and values.max() <= LARGEST):  # NaN compares false
            return _bad(block.start, ~(np.abs(values) <= LARGEST))
        if number == 0:
            origin = values.mean(axis=0)
        differences = values - origin
        first += block.weights @ differences
        second += block.weights @ np.square(differences)
        total += float(block.weights.sum())
    return _from_sums(origin, first, second, np.full(d, total), total)


def _incomplete(blocks: Iterator[_Block], d: int) -> Survey:
    """Survey a chunk with missing cells; a column is measured from its mean in the first block that has some of it."""
    origin, first, second, observed, total = np.zeros(d), np.zeros(d), np.zeros(d), np.zeros(d), 0.0
    for block in blocks:
        values = np.asarray(block.values, dtype=float)
        bad = np.abs(values) > LARGEST
        if bad.any():
            return _bad(block.start, bad)
        seen = ~np.isnan(values)
        fresh = observed == 0
        if seen.all():
            means = values.mean(axis=0)
            differences = values - np.where(fresh, means, origin)
        else:
            means = np.where(seen, values, 0.0).sum(axis=0) / np.maximum(seen.sum(axis=0), 1)
            differences = np.where(seen, values - np.where(fresh, means, origin), 0.0)
        origin[fresh] = means[fresh]
        first += block.weights @ differences
        second += block.weights @ np.square(differences)
        observed += block.weights @ seen
        total += float(block.weights.sum())
    return _from_sums(origin, first, second, observed, total)


def _sparse(blocks: Iterator[_Block], d: int) -> Survey:
    """Survey a chunk in CSR form; sums are about zero, where nearly all of its cells are."""
    first, second, total = np.zeros(d), np.zeros(d), 0.0
    for block in blocks:
        cells = block.values
        bad = ~(np.abs(cells.data) <= LARGEST)
        if bad.any():
            row = int(np.searchsorted(cells.indptr, bad.argmax(), side="right")) - 1
            return _at(block.start + row, int(cells.indices[bad.argmax()]))
        first += block.weights @ cells
        second += block.weights @ cells.power(2)
        total += float(block.weights.sum())
    return _from_sums(np.zeros(d), first, second, np.full(d, total), total)


def _from_sums(origin: FloatArray, first: FloatArray, second: FloatArray, observed: FloatArray, total: float) -> Survey:
    """Return the survey, from sums of differences from an origin and of their squares."""
    counts = np.where(observed > 0, observed, np.nan)
    offset, square = first / counts, second / counts
    variance = np.maximum(square - np.square(offset), 0.0)
    # What is left of a constant column after rounding is not a variance.
    noise = _EPSILON * (np.abs(origin) + np.sqrt(square))
    return Survey(origin + offset, np.where(variance <= np.square(noise), 0.0, variance), total, observed)


def _bad(start: int, bad: BoolArray) -> Survey:
    row, column = np.argwhere(bad)[0]
    return _at(start + int(row), int(column))


def _at(row: int, column: int) -> Survey:
    nothing = np.empty(0)
    return Survey(nothing, nothing, 0.0, nothing, (row, column))


def _first_misfit(table: Table, columns: IntArray, misfits: Misfits) -> tuple[int, int] | None:
    """Return the place of the first bad cell in some columns, None where there is none."""
    for start, found in Rows(table).map_parts(partial(_misfit_in_part, columns=columns, misfits=misfits)):
        if found is not None:
            return start + found[0], found[1]
    return None


def _misfit_in_part(rows: Rows, columns: IntArray, misfits: Misfits) -> tuple[int, int] | None:
    table = rows.table
    for chunk in table.chunks():
        block: Any = table.take(chunk)
        if issparse(block):
            bad = np.flatnonzero(misfits(block.data))
            if bad.size:
                row = int(np.searchsorted(block.indptr, bad[0], side="right")) - 1
                return chunk.start + row, int(block.indices[bad[0]])
        else:
            found = np.argwhere(misfits(block[:, columns]))
            if found.size:
                return chunk.start + int(found[0, 0]), int(columns[found[0, 1]])
        table.release(chunk)
    return None
