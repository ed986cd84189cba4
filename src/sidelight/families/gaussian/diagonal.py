"""Gaussian components whose features are uncorrelated."""

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


@storable("DiagonalParameters")
class DiagonalParameters(NamedTuple):
    """Means and variances (components, d)."""

    means: FloatArray
    variances: FloatArray


@storable("DiagonalGaussian")
@dataclass(frozen=True, eq=False)
class DiagonalGaussian(CentredFamily[DiagonalParameters]):
    """Maximum-likelihood (MAP with a prior) Gaussians with one variance per feature and component."""

    def parameters(self, means: FloatArray, covariances: FloatArray) -> DiagonalParameters:
        """Return the parameters with these means and variances, both (components, d)."""
        return DiagonalParameters(means, positive_variances(covariances))

    def evaluator(self, parameters: DiagonalParameters, backend: Backend) -> Evaluator[GaussianStatistics]:
        """Return the quickest evaluator that is exact enough at these parameters."""
        centre, d = self.centre, len(self.centre)
        offsets = parameters.means - centre
        precisions = 1.0 / parameters.variances

        def collect(sums: FloatArray) -> GaussianStatistics:
            return GaussianStatistics(sums[:, 0], sums[:, 1 : d + 1], sums[:, d + 1 :], centre)

        if linear_form_is_exact(np.abs(offsets) + np.sqrt(parameters.variances), precisions):
            return quadratic_form_evaluator(_square_coefficients(offsets, precisions), centre, collect, backend)
        scales = np.sqrt(precisions)
        return ScaledEvaluator(parameters.means, scales, log_density_at_mean(scales))

    def update(self, statistics: GaussianStatistics) -> DiagonalParameters:
        """Return the parameters that maximise the expected log density plus the prior: (s + ψ) / (N + ν)."""
        offsets = statistics.offsets()
        squares = statistics.second - statistics.mass[:, None] * np.square(offsets) + self.prior.scatter
        rows = statistics.mass + self.prior.rows
        variances = np.where((rows > 0)[:, None], squares / np.where(rows > 0, rows, 1.0)[:, None], self.prior.spread)
        return self.parameters(statistics.origin + offsets, variances)

    def log_prior(self, parameters: DiagonalParameters) -> float:
        """Return the prior's part of the objective."""
        return self.prior.log_density(np.log(parameters.variances).sum(axis=1), 1.0 / parameters.variances)

    def sample(self, parameters: DiagonalParameters, component: int, n: int, random: RandomState) -> FloatArray:
        """Draw n rows from one component."""
        noise = random.standard_normal((n, len(self.centre)))
        return parameters.means[component] + noise * np.sqrt(parameters.variances[component])

    def around(self, means: FloatArray) -> DiagonalParameters:
        """Return components with these means, each as wide as the whole table."""
        return self.parameters(means, np.repeat(self.prior.spread[None], len(means), axis=0))

    def n_parameters(self, n_components: int) -> int:
        """Return the number of free parameters."""
        return 2 * n_components * len(self.centre)


def _square_coefficients(offsets: FloatArray, precisions: FloatArray) -> FloatArray:
    """Return the coefficients of [1, x_i, x_i²], x measured from the centre."""
    constant = 0.5 * (np.log(precisions / (2 * math.pi)) - precisions * np.square(offsets)).sum(axis=1)
    return np.concatenate([constant[:, None], precisions * offsets, -0.5 * precisions], axis=1)
