"""Sufficient statistics of counts and of cells that may be missing one by one."""

from dataclasses import dataclass

import numpy as np

from sidelight._storable import storable
from sidelight._typing import FloatArray, IntArray
from sidelight.families.regrouping import add_up


@storable("CountStatistics")
@dataclass(frozen=True, eq=False)
class CountStatistics:
    """Weighted counts of categories or words.

    Parameters
    ----------
    mass : (components,)
        Σ r.
    counts : (components, categories)
        Σ r x.
    """

    mass: FloatArray
    counts: FloatArray

    def __add__(self, other: "CountStatistics") -> "CountStatistics":
        return CountStatistics(self.mass + other.mass, self.counts + other.counts)

    def scaled(self, factor: float) -> "CountStatistics":
        """Return the statistics of the same rows, each counted ``factor`` times."""
        return CountStatistics(factor * self.mass, factor * self.counts)

    def regrouped(self, groups: IntArray) -> "CountStatistics":
        """Return the statistics of groups of components put together; those of group -1 are left out."""
        return CountStatistics(add_up(self.mass, groups), add_up(self.counts, groups))


@storable("CellStatistics")
@dataclass(frozen=True, eq=False)
class CellStatistics:
    """Weighted sums of cells.

    Parameters
    ----------
    mass : (components,)
        Σ r over rows.
    cells : (components, columns)
        Σ r over the rows in which the column's cell is observed.
    sums : (components, columns)
        Σ r x over the same.
    """

    mass: FloatArray
    cells: FloatArray
    sums: FloatArray

    def __add__(self, other: "CellStatistics") -> "CellStatistics":
        return CellStatistics(self.mass + other.mass, self.cells + other.cells, self.sums + other.sums)

    def scaled(self, factor: float) -> "CellStatistics":
        """Return the statistics of the same rows, each counted ``factor`` times."""
        return CellStatistics(factor * self.mass, factor * self.cells, factor * self.sums)

    def regrouped(self, groups: IntArray) -> "CellStatistics":
        """Return the statistics of groups of components put together; those of group -1 are left out."""
        return CellStatistics(add_up(self.mass, groups), add_up(self.cells, groups), add_up(self.sums, groups))


@storable("SquareStatistics")
@dataclass(frozen=True, eq=False)
class SquareStatistics:
    """Weighted sums of cells and of their squares, measured from an origin.

    Parameters
    ----------
    mass : (components,)
        Σ r over rows.
    cells : (components, columns)
        Σ r over the rows in which the column's cell is observed.
    first, second : (components, columns)
        Σ r (x − origin) and Σ r (x − origin)² over the same.
    origin : (columns,) or (components, columns)
        Where cells are measured from: far from all of them, sums of squares cancel.
    """

    mass: FloatArray
    cells: FloatArray
    first: FloatArray
    second: FloatArray
    origin: FloatArray

    def __add__(self, other: "SquareStatistics") -> "SquareStatistics":
        if other.origin is not self.origin:
            other = other.measured_from(self.origin)
        return SquareStatistics(
            self.mass + other.mass,
            self.cells + other.cells,
            self.first + other.first,
            self.second + other.second,
            self.origin,
        )

    def scaled(self, factor: float) -> "SquareStatistics":
        """Return the statistics of the same rows, each counted ``factor`` times."""
        return SquareStatistics(
            factor * self.mass, factor * self.cells, factor * self.first, factor * self.second, self.origin
        )

    def measured_from(self, origin: FloatArray) -> "SquareStatistics":
        """Return the statistics of the same rows measured from another origin."""
        shift = self.origin - origin
        first = self.first + self.cells * shift
        return SquareStatistics(self.mass, self.cells, first, self.second + shift * (self.first + first), origin)

    def regrouped(self, groups: IntArray) -> "SquareStatistics":
        """Return the statistics of groups of components put together; those of group -1 are left out."""
        same = self if self.origin.ndim == 1 else self.measured_from(self.origin.mean(axis=0))
        return SquareStatistics(
            add_up(same.mass, groups),
            add_up(same.cells, groups),
            add_up(same.first, groups),
            add_up(same.second, groups),
            same.origin,
        )

    def offsets(self) -> FloatArray:
        """Return the means measured from the origin; zero where a component owns no cell."""
        return self.first / np.where(self.cells > np.finfo(float).tiny, self.cells, np.inf)
