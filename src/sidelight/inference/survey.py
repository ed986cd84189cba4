"""A first look at the table: is every cell a number, where is its centre, how wide is it."""

from typing import NamedTuple

import numpy as np

from sidelight.inference.rows import Rows
from sidelight.kernels.arrays import FloatArray

# Squares of larger numbers, and their products, would overflow.
LARGEST = 1e100
_SURVEY_ROWS = 3072


class Survey(NamedTuple):
    """Weighted mean and variance of each feature, the total weight, and the first cell that is no usable number."""

    mean: FloatArray
    variance: FloatArray
    total: float
    first_bad: tuple[int, int] | None


def survey(rows: Rows) -> Survey:
    """Read the table once, a block at a time.

    Sums are taken about the first block's mean: squares about zero would cancel for features far from it.
    """
    d = rows.X.shape[1]
    origin, first, second, total = np.zeros(d), np.zeros(d), np.zeros(d), 0.0
    for number, chunk in enumerate(rows.chunks()):
        for block in rows.blocks(chunk, _SURVEY_ROWS):
            values = np.asarray(block.values, dtype=float)
            if not (values.min() >= -LARGEST and values.max() <= LARGEST):  # NaN compares false
                row, column = np.argwhere(~(np.abs(values) <= LARGEST))[0]
                start = block.numbers.start if isinstance(block.numbers, slice) else block.numbers[0]
                return Survey(first, second, total, (int(start + row), int(column)))
            if number == 0 and total == 0.0:
                origin = values.mean(axis=0)
            differences = values - origin
            first += block.weights @ differences
            second += block.weights @ np.square(differences)
            total += float(block.weights.sum())
    offset = first / total
    variance = np.maximum(second / total - np.square(offset), 0.0)
    # What is left of a constant feature after rounding is not a variance.
    noise = np.finfo(float).eps * (np.abs(origin) + np.sqrt(second / total))
    return Survey(origin + offset, np.where(variance > np.square(noise), variance, 0.0), total, None)
