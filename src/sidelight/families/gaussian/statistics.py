"""The sufficient statistics of Gaussian emissions."""

from dataclasses import dataclass

import numpy as np

from sidelight.kernels.arrays import FloatArray


@dataclass(frozen=True, eq=False)
class GaussianStatistics:
    """Weighted sums of rows measured from an origin; additive over rows as long as the origin is the same.

    Parameters
    ----------
    mass : (components,)
        Σ r.
    first : (components, d)
        Σ r (x − origin).
    second : array
        Σ r (x − origin)(x − origin)ᵀ, or the part of it that the family needs.
    origin : (d,) or (components, d)
        Where rows are measured from: far from all of them, sums of squares cancel.
    """

    mass: FloatArray
    first: FloatArray
    second: FloatArray
    origin: FloatArray

    def __add__(self, other: "GaussianStatistics") -> "GaussianStatistics":
        return GaussianStatistics(
            self.mass + other.mass, self.first + other.first, self.second + other.second, self.origin
        )

    def offsets(self) -> FloatArray:
        """Return the means measured from the origin; zero for a component that owns nothing."""
        owned = np.where(self.mass > np.finfo(float).tiny, self.mass, np.inf)
        return self.first / owned[:, None]
