"""The M-step for means and variances: maximum likelihood, or the maximum a posteriori.

Both take and return arrays (processes, attributes) in the units of :class:`~sidelight.admixture.scaling.Scaling`, where
an attribute has mean 0 and variance 1.
"""

from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np

from sidelight._typing import FloatArray

_MAX_SWEEPS = 100
_SETTLED = 1e-10


class Gaussians(NamedTuple):
    """Means and variances (K, d)."""

    means: FloatArray
    variances: FloatArray


class Sums(NamedTuple):
    """Σ Q, Σ Q x and Σ Q x² over rows, each (K, d)."""

    mass: FloatArray
    first: FloatArray
    second: FloatArray


class Prior(Protocol):
    """What is known of means and variances beforehand, and what follows from it once there are sums."""

    def update(self, sums: Sums, previous: Gaussians) -> Gaussians:
        """Return the means and variances that maximise the bound given the sums."""

    def log_density(self, gaussians: Gaussians) -> float:
        """Return the prior's part of the bound."""


@dataclass(frozen=True)
class Flat:
    """No prior: maximum likelihood (Li, Ying and Campbell, eq. 8), with variances kept in a range.

    The likelihood has no maximum otherwise: a process could close in on one value. As a function of a variance it has
    one peak, so the nearest end of the range is the maximum within.

    Parameters
    ----------
    lowest, highest : float
        Range of the variances.
    """

    lowest: float
    highest: float

    def update(self, sums: Sums, previous: Gaussians) -> Gaussians:
        """Return weighted means and variances; a process without a cell of an attribute stays as it was there."""
        used = sums.mass > np.finfo(float).tiny
        mass = np.where(used, sums.mass, 1.0)
        means = np.where(used, sums.first / mass, previous.means)
        squares = _squares_about(means, sums)
        variances = np.where(used, np.clip(squares / mass, self.lowest, self.highest), previous.variances)
        return Gaussians(means, variances)

    def log_density(self, gaussians: Gaussians) -> float:
        """Return 0."""
        return 0.0


@dataclass(frozen=True)
class Shrinking:
    """Means drawn from N(0, mean_variance), variances with density ∝ exp(−spread / σ²) (Rogers et al. 2005).

    Li, Ying and Campbell, eq. 9. Its mean is printed with the prior's variance twice in the denominator; it is
    σ_μ² Σ Q x / (σ² + σ_μ² Σ Q).

    Parameters
    ----------
    mean_variance, spread : float
        σ_μ² and s.
    lowest, highest : float
        Range of the variances. The density above has no finite integral, and a process without cells would grow
        without end.
    """

    mean_variance: float
    spread: float
    lowest: float
    highest: float

    def update(self, sums: Sums, previous: Gaussians) -> Gaussians:
        """Return the peak of means and variances together.

        The two halves of eq. 9 each maximise given the other; they are repeated until neither moves.
        """
        variances = previous.variances
        mass = np.maximum(sums.mass, np.finfo(float).tiny)
        for _ in range(_MAX_SWEEPS):
            means = self.mean_variance * sums.first / (variances + self.mean_variance * sums.mass)
            peaks = (_squares_about(means, sums) + 2 * self.spread) / mass
            moved = np.clip(peaks, self.lowest, self.highest)
            settled = (np.abs(moved - variances) <= _SETTLED * moved).all()
            variances = moved
            if settled:
                break
        return Gaussians(means, variances)

    def log_density(self, gaussians: Gaussians) -> float:
        """Return ln p(μ) + ln p(σ²), the latter without the normaliser it does not have."""
        squares = np.square(gaussians.means) / self.mean_variance + np.log(2 * np.pi * self.mean_variance)
        return float(-0.5 * squares.sum() - self.spread * (1.0 / gaussians.variances).sum())


def _squares_about(means: FloatArray, sums: Sums) -> FloatArray:
    squares = sums.second - 2 * means * sums.first + np.square(means) * sums.mass
    return np.maximum(squares, 0.0)
