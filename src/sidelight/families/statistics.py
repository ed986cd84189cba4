"""Sufficient statistics: weighted sums over rows, so that those of two parts of a table add up to those of both."""

from dataclasses import dataclass, replace

import numpy as np

from sidelight._storable import storable
from sidelight._typing import FloatArray, IntArray


def add_up(values: FloatArray, groups: IntArray) -> FloatArray:
    """Return the sums of values (components, …) over groups of components, without those whose group is -1."""
    total = np.zeros((int(groups.max()) + 1, *values.shape[1:]))
    kept = groups >= 0
    np.add.at(total, groups[kept], values[kept])
    return total


@storable("GaussianStatistics")
@dataclass(frozen=True, eq=False)
class GaussianStatistics:
    """Weighted sums of rows measured from an origin; additive over rows.

    Parameters
    ----------
    mass : (components,)
        Σ r.
    first : (components, d)
        Σ r (x − origin).
    second : array
        Σ r (x − origin)(x − origin)ᵀ, or the part of it that the family needs: all of it (components, d, d), its sum
        over components (1, d, d), its diagonals (components, d) or their sums (components,).
    origin : (d,) or (components, d)
        Where rows are measured from: far from all of them, sums of squares cancel.
    """

    mass: FloatArray
    first: FloatArray
    second: FloatArray
    origin: FloatArray

    def __add__(self, other: "GaussianStatistics") -> "GaussianStatistics":
        if other.origin is not self.origin:
            other = other.measured_from(self.origin)
        return GaussianStatistics(
            self.mass + other.mass, self.first + other.first, self.second + other.second, self.origin
        )

    def scaled(self, factor: float) -> "GaussianStatistics":
        """Return the statistics of the same rows, each counted ``factor`` times."""
        return replace(self, mass=factor * self.mass, first=factor * self.first, second=factor * self.second)

    def measured_from(self, origin: FloatArray) -> "GaussianStatistics":
        """Return the statistics of the same rows measured from another origin."""
        shift = np.broadcast_to(self.origin - origin, self.first.shape)
        first = self.first + self.mass[:, None] * shift
        second = self.second + self._second_by(shift, first)
        return GaussianStatistics(self.mass, first, second, origin)

    def regrouped(self, groups: IntArray) -> "GaussianStatistics":
        """Return the statistics of groups of components put together; those of group -1 are left out.

        A sum over components stays as it is: it does not tell what those left out had.
        """
        same = self if self.origin.ndim == 1 else self.measured_from(self.origin.mean(axis=0))
        pooled = len(same.second) != len(same.mass)
        second = same.second if pooled else add_up(same.second, groups)
        return GaussianStatistics(add_up(same.mass, groups), add_up(same.first, groups), second, same.origin)

    def offsets(self) -> FloatArray:
        """Return the means measured from the origin; zero for a component that owns nothing."""
        owned = np.where(self.mass > np.finfo(float).tiny, self.mass, np.inf)
        return self.first / owned[:, None]

    def _second_by(self, shift: FloatArray, first: FloatArray) -> FloatArray:
        """Return what a shift adds to the second moments: δ f'ᵀ + f δᵀ, with f before and f' after it."""
        if self.second.ndim < 3:
            squares = shift * (self.first + first)
            return squares if self.second.ndim == 2 else squares.sum(axis=1)
        outer = shift[:, :, None] * first[:, None, :] + self.first[:, :, None] * shift[:, None, :]
        return outer if len(self.second) == len(outer) else outer.sum(axis=0, keepdims=True)


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
