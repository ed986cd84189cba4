"""The units in which a fit works: every attribute about its mean, in standard deviations, over the cells there are."""

from typing import NamedTuple

import numpy as np

from sidelight._typing import FloatArray, IntArray
from sidelight.inference.rows import Rows

_BLOCK_ROWS = 1024


class Scaling(NamedTuple):
    """Units of every attribute.

    Parameters
    ----------
    centre, scale : (d,)
        Mean and standard deviation of the cells that are there; the scale of a constant attribute is 1, and both are
        0 and 1 where no cell is there.
    n_observed : (d,)
        Number of cells that are there.
    """

    centre: FloatArray
    scale: FloatArray
    n_observed: IntArray

    @property
    def log_volume(self) -> float:
        """What the log density of the whole table loses by going from these units to the table's own."""
        return float(self.n_observed @ np.log(self.scale))


def find_infinite(rows: Rows) -> tuple[int, int] | None:
    """Return row and column of the first infinite cell, None where there is none."""
    for chunk in rows.chunks():
        for block in rows.blocks(chunk, _BLOCK_ROWS):
            infinite = np.isinf(block.values)
            if infinite.any():
                row, column = np.argwhere(infinite)[0]
                assert isinstance(block.numbers, slice)
                return int(block.numbers.start + row), int(column)
    return None


def survey_observed(rows: Rows) -> Scaling:
    """Read the table twice, a block at a time: first for the means, then for the squares about them."""
    d = rows.shape[1]
    total, n_observed, squares = np.zeros(d), np.zeros(d, dtype=np.int64), np.zeros(d)
    for chunk in rows.chunks():
        for block in rows.blocks(chunk, _BLOCK_ROWS):
            values = np.asarray(block.values, dtype=float)
            there = ~np.isnan(values)
            total += np.where(there, values, 0.0).sum(axis=0)
            n_observed += there.sum(axis=0)
    count = np.maximum(n_observed, 1)
    centre = total / count
    for chunk in rows.chunks():
        for block in rows.blocks(chunk, _BLOCK_ROWS):
            differences = np.asarray(block.values, dtype=float) - centre
            with np.errstate(over="ignore"):
                squares += np.square(np.where(np.isnan(differences), 0.0, differences)).sum(axis=0)
    scale = np.sqrt(squares / count)
    # What is left of a constant attribute after rounding is not a spread.
    noise = 8 * np.finfo(float).eps * np.abs(centre)
    return Scaling(centre, np.where(scale > noise, scale, 1.0), n_observed)
