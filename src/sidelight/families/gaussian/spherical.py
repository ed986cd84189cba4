"""Gaussian components that are round: one variance each."""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.random import RandomState

from sidelight._storable import storable
from sidelight._typing import FloatArray
from sidelight.families.evaluators.centred import ScaledEvaluator
from sidelight.families.evaluators.evaluator import Evaluator
from sidelight.families.exponential import GaussianStatistics, linear_form_is_exact, quadratic_form_evaluator
from sidelight.families.gaussian.full import CentredFamily, log_density_at_mean, positive_variances
from sidelight.kernels.loops import Backend


@storable("SphericalParameters")
class SphericalParameters(NamedTuple):
    """Means (components, d) and variances (components,)."""

    means: FloatArray
    variances: FloatArray


@storable("SphericalGaussian")
@dataclass(frozen=True, eq=False)
class SphericalGaussian(CentredFamily[SphericalParameters]):
    """Maximum-likelihood (MAP with a prior) Gaussians with one variance per component."""

    def parameters(self, means: FloatArray, covariances: FloatArray) -> SphericalParameters:
        """Return the parameters with these means and variances (components,)."""
        return SphericalParameters(means, positive_variances(covariances))

    def evaluator(self, parameters: SphericalParameters, backend: Backend) -> Evaluator[GaussianStatistics]:
        """Return the quickest evaluator that is exact enough at these parameters."""
        centre = self.centre
        offsets = parameters.means - centre
        precisions = 1.0 / parameters.variances
        reach = np.abs(offsets) + np.sqrt(parameters.variances)[:, None]

        def collect(sums: FloatArray) -> GaussianStatistics:
            return GaussianStatistics(sums[:, 0], sums[:, 1:-1], sums[:, -1], centre)

        if linear_form_is_exact(reach, np.broadcast_to(precisions[:, None], reach.shape)):
            return quadratic_form_evaluator(_norm_coefficients(offsets, precisions), centre, collect, backend)
        scales = np.broadcast_to(np.sqrt(precisions)[:, None], reach.shape)
        return ScaledEvaluator(
            parameters.means, scales, log_density_at_mean(scales), reduce=lambda squares: squares.sum(axis=1)
        )

    def update(self, statistics: GaussianStatistics) -> SphericalParameters:
        """Return the parameters that maximise the expected log density plus the prior: tr(S + Ψ) / d(N + ν)."""
        offsets = statistics.offsets()
        squares = statistics.second - statistics.mass * np.square(offsets).sum(axis=1)
        squares += self.prior.scatter.sum()
        cells = (statistics.mass + self.prior.rows) * len(self.centre)
        variances = np.where(cells > 0, squares / np.where(cells > 0, cells, 1.0), self.prior.spread.mean())
        return self.parameters(statistics.origin + offsets, variances)

    def log_prior(self, parameters: SphericalParameters) -> float:
        """Return the prior's part of the objective."""
        d = len(self.centre)
        precisions = np.repeat(1.0 / parameters.variances[:, None], d, axis=1)
        return self.prior.log_density(d * np.log(parameters.variances), precisions)

    def sample(self, parameters: SphericalParameters, component: int, n: int, random: RandomState) -> FloatArray:
        """Draw n rows from one component."""
        noise = random.standard_normal((n, len(self.centre)))
        return parameters.means[component] + noise * math.sqrt(parameters.variances[component])

    def around(self, means: FloatArray) -> SphericalParameters:
        """Return components with these means, each as wide as the whole table."""
        return self.parameters(means, np.full(len(means), self.prior.spread.mean()))

    def n_parameters(self, n_components: int) -> int:
        """Return the number of free parameters."""
        return n_components * (len(self.centre) + 1)


def _norm_coefficients(offsets: FloatArray, precisions: FloatArray) -> FloatArray:
    """Return the coefficients of [1, x_i, |x|²], x measured from the centre."""
    d = offsets.shape[1]
    distance = precisions * np.square(offsets).sum(axis=1)
    constant = 0.5 * (d * np.log(precisions / (2 * math.pi)) - distance)
    linear = precisions[:, None] * offsets
    return np.concatenate([constant[:, None], linear, -0.5 * precisions[:, None]], axis=1)
