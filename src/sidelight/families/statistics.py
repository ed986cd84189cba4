"""Sufficient statistics: weighted sums over rows, so that those of two parts of a table add up to those of both."""

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import Self

import numpy as np

from sidelight._storable import storable
from sidelight._typing import FloatArray, IntArray


def add_up(values: FloatArray, groups: IntArray) -> FloatArray:
    """Return the sums of values (components, …) over groups of components, without those whose group is -1."""
    total = np.zeros((int(groups.max()) + 1, *values.shape[1:]))
    kept = groups >= 0
    np.add.at(total, groups[kept], values[kept])
    return total


@dataclass(frozen=True, eq=False)
class _Sums:
    """Sums over rows with the components along the first axis; a field named ``origin`` is not one of them."""

    mass: FloatArray

    def __add__(self, other: Self) -> Self:
        return self._each(lambda name, values: values + getattr(other, name))

    def scaled(self, factor: float) -> Self:
        """Return the statistics of the same rows, each counted ``factor`` times."""
        return self._each(lambda _, values: factor * values)

    def regrouped(self, groups: IntArray) -> Self:
        """Return the statistics of groups of components put together; those of group -1 are left out.

        A sum over components stays as it is: the share of those left out is not known.
        """
        n_components = len(self.mass)
        return self._each(lambda _, values: add_up(values, groups) if len(values) == n_components else values)

    def _each(self, function: Callable[[str, FloatArray], FloatArray]) -> Self:
        """Return the statistics whose sums are a function of the names and the values of these."""
        names = [field.name for field in fields(self) if field.name != "origin"]
        return replace(self, **{name: function(name, getattr(self, name)) for name in names})


class _MeasuredSums(_Sums):
    """Sums over rows measured from an origin, (d,) or (components, d): far from all of them, sums of squares cancel."""

    origin: FloatArray

    @abstractmethod
    def measured_from(self, origin: FloatArray) -> Self:
        """Return the statistics of the same rows measured from another origin."""

    @abstractmethod
    def offsets(self) -> FloatArray:
        """Return the means measured from the origin."""

    def means(self) -> FloatArray:
        """Return the means (components, d)."""
        return self.origin + self.offsets()

    def __add__(self, other: Self) -> Self:
        return super().__add__(other if other.origin is self.origin else other.measured_from(self.origin))

    def regrouped(self, groups: IntArray) -> Self:
        """Return the statistics of groups of components put together, measured from one origin."""
        same = self if self.origin.ndim == 1 else self.measured_from(self.origin.mean(axis=0))
        return super(_MeasuredSums, same).regrouped(groups)


@storable("CountStatistics")
@dataclass(frozen=True, eq=False)
class CountStatistics(_Sums):
    """Weighted counts of categories or words: Σ r (components,) and Σ r x (components, categories)."""

    counts: FloatArray

    def means(self) -> FloatArray:
        """Return the mean counts (components, categories)."""
        return self.counts / np.maximum(self.mass, np.finfo(float).tiny)[:, None]


@storable("CellStatistics")
@dataclass(frozen=True, eq=False)
class CellStatistics(_Sums):
    """Weighted sums of cells.

    ``mass`` (components,) is Σ r over rows; ``cells`` and ``sums`` (components, columns) are Σ r and Σ r x over the
    rows in which the column's cell is observed.
    """

    cells: FloatArray
    sums: FloatArray

    def means(self) -> FloatArray:
        """Return the mean of each column's observed cells (components, columns)."""
        return self.sums / np.maximum(self.cells, np.finfo(float).tiny)


@storable("GaussianStatistics")
@dataclass(frozen=True, eq=False)
class GaussianStatistics(_MeasuredSums):
    """Weighted sums of rows: Σ r (components,), Σ r (x − origin) (components, d) and Σ r (x − origin)(x − origin)ᵀ.

    ``second`` is the part of the latter that the family needs: all of it (components, d, d), its sum over components
    (1, d, d), its diagonals (components, d) or their sums (components,).
    """

    first: FloatArray
    second: FloatArray
    origin: FloatArray

    def measured_from(self, origin: FloatArray) -> "GaussianStatistics":
        """Return the statistics of the same rows measured from another origin."""
        shift = np.broadcast_to(self.origin - origin, self.first.shape)
        first = self.first + self.mass[:, None] * shift
        second = self.second + self._second_by(shift, first)
        return GaussianStatistics(self.mass, first, second, origin)

    def offsets(self) -> FloatArray:
        """Return the means measured from the origin; zero for a component that owns nothing."""
        owned = np.where(self.mass > np.finfo(float).tiny, self.mass, np.inf)
        return self.first / owned[:, None]

    def _second_by(self, shift: FloatArray, first: FloatArray) -> FloatArray:
        """Return the change of the second moments by a shift: δ f'ᵀ + f δᵀ, with f before and f' after it."""
        if self.second.ndim < 3:
            squares = shift * (self.first + first)
            return squares if self.second.ndim == 2 else squares.sum(axis=1)
        outer = shift[:, :, None] * first[:, None, :] + self.first[:, :, None] * shift[:, None, :]
        return outer if len(self.second) == len(outer) else outer.sum(axis=0, keepdims=True)


@storable("SquareStatistics")
@dataclass(frozen=True, eq=False)
class SquareStatistics(_MeasuredSums):
    """Weighted sums of cells and of their squares.

    ``mass`` (components,) is Σ r over rows; ``cells``, ``first`` and ``second`` (components, columns) are Σ r,
    Σ r (x − origin) and Σ r (x − origin)² over the rows in which the column's cell is observed.
    """

    cells: FloatArray
    first: FloatArray
    second: FloatArray
    origin: FloatArray

    def measured_from(self, origin: FloatArray) -> "SquareStatistics":
        """Return the statistics of the same rows measured from another origin."""
        shift = self.origin - origin
        first = self.first + self.cells * shift
        return SquareStatistics(self.mass, self.cells, first, self.second + shift * (self.first + first), origin)

    def offsets(self) -> FloatArray:
        """Return the means measured from the origin; zero where a component owns no cell."""
        return self.first / np.where(self.cells > np.finfo(float).tiny, self.cells, np.inf)
