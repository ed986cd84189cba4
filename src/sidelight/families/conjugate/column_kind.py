"""What a kind of column learns about the columns of a table, and what kinds of counts have in common."""

from typing import Any, Protocol

import numpy as np

from sidelight._typing import AnyArray, FloatArray


class RawColumn(Protocol):
    """A column before it is encoded."""

    @property
    def values(self) -> AnyArray:
        """Floats, NaN where missing, or objects, None where missing."""

    @property
    def holds(self) -> str:
        """One of "numbers", "integers", "booleans", "text", "objects"."""


class Survey(Protocol):
    """A first look at some columns of a table."""

    @property
    def mean(self) -> FloatArray:
        """Weighted means (columns,)."""

    @property
    def variance(self) -> FloatArray:
        """Weighted variances (columns,)."""

    @property
    def total(self) -> float:
        """The total weight of the rows."""


Categories = tuple[tuple[Any, ...] | None, ...]


def observed_integers(column: RawColumn) -> FloatArray:
    """Return the observed cells of a column of integers; none of a column that holds anything else."""
    if column.holds != "integers":
        return np.empty(0)
    return column.values[~np.isnan(column.values)]


def is_count(cells: AnyArray) -> AnyArray:
    """Say of each cell whether it is a count: 0, 1, 2 and so on."""
    return (cells >= 0) & (cells == np.floor(cells)) & (cells < np.inf)
