"""A first look at the table: is every cell a number, or missing, where is its centre, how wide is it."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from sidelight._typing import BoolArray, FloatArray, IntArray
from sidelight.inference.rows import Block, Rows

# Squares of larger numbers, and their products, would overflow.
LARGEST = 1e100
_SURVEY_ROWS = 3072


class Survey(NamedTuple):
    """Weighted mean and variance of each feature, the total weight, and the first cell that is no usable number."""

    mean: FloatArray
    variance: FloatArray
    total: float
    first_bad: tuple[int, int] | None

    def only(self, columns: IntArray) -> "Survey":
        """Return the survey of some columns."""
        return self._replace(mean=self.mean[columns], variance=self.variance[columns])


def survey(rows: Rows) -> Survey:
    """Read the table once, a block at a time.

    Sums are taken about the first block's mean: squares about zero would cancel for features far from it.
    """
    d = rows.X.shape[1]
    origin, first, second, total = np.zeros(d), np.zeros(d), np.zeros(d), 0.0
    for number, block in enumerate(_blocks(rows)):
        values = np.asarray(block.values, dtype=float)
        if not (values.min() >= -LARGEST and values.max() <= LARGEST):  # NaN compares false
            return Survey(first, second, total, _first(block, ~(np.abs(values) <= LARGEST)))
        if number == 0:
            origin = values.mean(axis=0)
        differences = values - origin
        first += block.weights @ differences
        second += block.weights @ np.square(differences)
        total += float(block.weights.sum())
    return _survey_from(origin, first / total, second / total, total)


def survey_incomplete(rows: Rows) -> Survey:
    """Read a table in which NaN marks missing cells: each feature's moments are those of its observed cells.

    They are NaN for a feature of which no cell that counts is observed.
    """
    d = rows.X.shape[1]
    origin, first, second, observed, total = np.zeros(d), np.zeros(d), np.zeros(d), np.zeros(d), 0.0
    for block in _blocks(rows):
        values = np.asarray(block.values, dtype=float)
        seen = ~np.isnan(values)
        bad = np.abs(values) > LARGEST
        if bad.any():
            return Survey(first, second, total, _first(block, bad))
        # A feature is measured from its mean in the first block that has some of it.
        fresh = observed == 0
        origin[fresh] = (np.where(seen, values, 0.0).sum(axis=0) / np.maximum(seen.sum(axis=0), 1))[fresh]
        differences = np.where(seen, values - origin, 0.0)
        first += block.weights @ differences
        second += block.weights @ np.square(differences)
        observed += block.weights @ seen
        total += float(block.weights.sum())
    counts = np.where(observed > 0, observed, np.nan)
    return _survey_from(origin, first / counts, second / counts, total)


def survey_sparse(rows: Rows) -> Survey:
    """Read a table in CSR form; sums are about zero, where nearly all of its cells are."""
    d = rows.X.shape[1]
    first, second, total = np.zeros(d), np.zeros(d), 0.0
    for block in _blocks(rows):
        cells: Any = block.values
        bad = ~(np.abs(cells.data) <= LARGEST)
        if bad.any():
            row = int(np.searchsorted(cells.indptr, bad.argmax(), side="right")) - 1
            return Survey(first, second, total, (_row_number(block, row), int(cells.indices[bad.argmax()])))
        first += block.weights @ cells
        second += block.weights @ cells.power(2)
        total += float(block.weights.sum())
    return _survey_from(np.zeros(d), first / total, second / total, total)


def _blocks(rows: Rows) -> Iterator[Block]:
    for chunk in rows.chunks():
        yield from rows.blocks(chunk, _SURVEY_ROWS)


def _first(block: Block, bad: BoolArray) -> tuple[int, int]:
    row, column = np.argwhere(bad)[0]
    return _row_number(block, int(row)), int(column)


def _row_number(block: Block, row: int) -> int:
    return block.numbers.start + row if isinstance(block.numbers, slice) else int(block.numbers[row])


def _survey_from(origin: FloatArray, offset: FloatArray, square: FloatArray, total: float) -> Survey:
    """Return the survey, from the means of differences from an origin and of their squares."""
    variance = np.maximum(square - np.square(offset), 0.0)
    # What is left of a constant feature after rounding is not a variance.
    noise = np.finfo(float).eps * (np.abs(origin) + np.sqrt(square))
    return Survey(origin + offset, np.where(variance <= np.square(noise), 0.0, variance), total, None)
