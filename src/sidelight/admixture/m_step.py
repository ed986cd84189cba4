"""The M-step: α of the Dirichlet, and means and variances by maximum likelihood or maximum a posteriori.

Means and variances are arrays (processes, attributes) in the units of :class:`~sidelight.admixture.scaling.Scaling`,
where an attribute has mean 0 and variance 1.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.special import digamma, polygamma

from sidelight._typing import BoolArray, FloatArray
from sidelight.admixture.model import ALPHA_RANGE, log_normaliser

_SMALLEST_SLOPE = 1e-10
_MAX_HALVINGS = 40
_MAX_SWEEPS = 100
_SWEEP_TOLERANCE = 1e-10


def maximise_alpha(alpha: FloatArray, mean_log: FloatArray, *, max_steps: int = 100) -> FloatArray:
    """Return the α that maximises ln Γ(Σα) − Σ ln Γ(α_k) + Σ α_k E_k, starting from the given one.

    Newton's method as in the appendix of Li, Ying and Campbell (after Blei et al. 2003), with safeguards: the objective
    is concave, steps are halved until they do not lower it, and an α_k that presses against an end of its range stays
    there. The Hessian is inverted in O(K).
    ``mean_log`` (K,) is E_k, the mean over blocks of E ln θ_ck.
    """
    low, high = ALPHA_RANGE

    def objective(candidate: FloatArray) -> float:
        return float(log_normaliser(candidate) + candidate @ mean_log)

    height = objective(alpha)
    for _ in range(max_steps):
        gradient = digamma(alpha.sum()) - digamma(alpha) + mean_log
        free = ~((alpha <= low) & (gradient < 0)) & ~((alpha >= high) & (gradient > 0))
        if np.abs(gradient * alpha)[free].max(initial=0.0) < _SMALLEST_SLOPE:
            break
        step = _newton_step(alpha, gradient, free)
        for _ in range(_MAX_HALVINGS):
            candidate = np.clip(alpha + step, low, high)
            reached = objective(candidate)
            if reached >= height:
                break
            step = step / 2
        else:
            break
        if np.array_equal(candidate, alpha):
            break
        alpha, height = candidate, reached
    return alpha


def _newton_step(alpha: FloatArray, gradient: FloatArray, free: BoolArray) -> FloatArray:
    """Return −H⁻¹g of the free α_k; H = ψ'(Σα) 11ᵀ − diag ψ'(α) is inverted by the Sherman-Morrison formula."""
    curvature = np.where(free, 1.0 / polygamma(1, alpha), 0.0)
    shared = polygamma(1, alpha.sum())
    common = shared * (curvature @ gradient) / (1.0 - shared * curvature.sum())
    return curvature * (gradient + common)


class Gaussians(NamedTuple):
    """Means and variances (K, d)."""

    means: FloatArray
    variances: FloatArray


class Sums(NamedTuple):
    """Σ Q, Σ Q x and Σ Q x² over rows, each (K, d)."""

    mass: FloatArray
    first: FloatArray
    second: FloatArray


@dataclass(frozen=True)
class FlatPrior:
    """No prior: maximum likelihood (Li, Ying and Campbell, eq. 8), with variances kept in a range.

    Without the range the likelihood has no maximum: a process could shrink to a single value. As a function of a
    variance it has one peak, so the nearest end of the range is the maximum within.
    """

    lowest: float
    highest: float

    def update(self, sums: Sums, previous: Gaussians) -> Gaussians:
        """Return weighted means and variances; a process without cells of an attribute keeps its previous ones."""
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
class ShrinkagePrior:
    """Means drawn from N(0, mean_variance), variances with density ∝ exp(−spread / σ²) (Rogers et al. 2005).

    Li, Ying and Campbell, eq. 9. The paper prints the prior's variance twice in the denominator of the mean, which is
    σ_μ² Σ Q x / (σ² + σ_μ² Σ Q).
    Variances are kept in the range from ``lowest`` to ``highest``: the density above has no finite integral, and the
    variance of a process without cells would grow without limit.
    """

    mean_variance: float
    spread: float
    lowest: float
    highest: float

    def update(self, sums: Sums, previous: Gaussians) -> Gaussians:
        """Return the joint maximum of means and variances.

        Each half of eq. 9 maximises one given the other; the two are repeated until neither changes.
        """
        variances = previous.variances
        mass = np.maximum(sums.mass, np.finfo(float).tiny)
        for _ in range(_MAX_SWEEPS):
            means = self.mean_variance * sums.first / (variances + self.mean_variance * sums.mass)
            peaks = (_squares_about(means, sums) + 2 * self.spread) / mass
            updated = np.clip(peaks, self.lowest, self.highest)
            settled = (np.abs(updated - variances) <= _SWEEP_TOLERANCE * updated).all()
            variances = updated
            if settled:
                break
        return Gaussians(means, variances)

    def log_density(self, gaussians: Gaussians) -> float:
        """Return ln p(μ) + ln p(σ²), the latter without a normaliser because it has none."""
        squares = np.square(gaussians.means) / self.mean_variance + np.log(2 * np.pi * self.mean_variance)
        return float(-0.5 * squares.sum() - self.spread * (1.0 / gaussians.variances).sum())


Prior = FlatPrior | ShrinkagePrior


def _squares_about(means: FloatArray, sums: Sums) -> FloatArray:
    squares = sums.second - 2 * means * sums.first + np.square(means) * sums.mass
    return np.maximum(squares, 0.0)
