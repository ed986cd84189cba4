"""The sufficient statistics of Gaussian emissions."""

from dataclasses import dataclass, replace

import numpy as np

from sidelight._storable import storable
from sidelight._typing import FloatArray, IntArray
from sidelight.families.regrouping import add_up


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
