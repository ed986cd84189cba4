"""Gaussian components, each with a covariance of its own."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.random import RandomState
from scipy.linalg import solve_triangular

from sidelight._storable import storable
from sidelight._typing import FloatArray
from sidelight.families.evaluators.evaluator import Evaluator
from sidelight.families.evaluators.linear import quadratic_evaluator
from sidelight.families.gaussian.columns import CentredFamily, log_density_at_mean, log_scales, precision_factors
from sidelight.families.statistics import GaussianStatistics
from sidelight.kernels.loops import Backend


@storable("FullParameters")
class FullParameters(NamedTuple):
    """Means (components, d), covariances and lower factors C with CᵀC = Σ⁻¹ (components, d, d)."""

    means: FloatArray
    covariances: FloatArray
    factors: FloatArray


@storable("FullGaussian")
@dataclass(frozen=True, eq=False)
class FullGaussian(CentredFamily[FullParameters]):
    """Maximum-likelihood (MAP with a prior) Gaussians with free covariances."""

    def parameters(self, means: FloatArray, covariances: FloatArray) -> FullParameters:
        """Return the parameters with these means and covariances."""
        return FullParameters(means, covariances, precision_factors(covariances))

    def evaluator(self, parameters: FullParameters, backend: Backend) -> Evaluator[GaussianStatistics]:
        """Return the quickest evaluator that is exact enough at these parameters."""
        deviations = np.sqrt(np.diagonal(parameters.covariances, axis1=1, axis2=2))
        constants = log_density_at_mean(np.diagonal(parameters.factors, axis1=1, axis2=2))
        return quadratic_evaluator(parameters.means, parameters.factors, deviations, constants, self.centre, backend)

    def update(self, statistics: GaussianStatistics) -> FullParameters:
        """Return the parameters that maximise the expected log density plus the prior: (S + Ψ) / (N + ν)."""
        offsets = statistics.offsets()
        scatter = statistics.second - np.einsum("k,ki,kj->kij", statistics.mass, offsets, offsets)
        scatter += np.diag(self.prior.scatter)
        rows = statistics.mass + self.prior.rows
        covariances = np.where(
            (rows > 0)[:, None, None],
            scatter / np.where(rows > 0, rows, 1.0)[:, None, None],
            np.diag(self.prior.spread),
        )
        return self.parameters(statistics.origin + offsets, covariances)

    def log_prior(self, parameters: FullParameters) -> float:
        """Return the prior's part of the objective."""
        return self.prior.log_density(-2 * log_scales(parameters.factors), np.square(parameters.factors).sum(axis=1))

    def sample(self, parameters: FullParameters, component: int, n: int, random: RandomState) -> FloatArray:
        """Draw n rows from one component."""
        noise = random.standard_normal((len(self.centre), n))
        rows = solve_triangular(parameters.factors[component], noise, lower=True).T
        return parameters.means[component] + rows

    def around(self, means: FloatArray) -> FullParameters:
        """Return components with these means, each as wide as the whole table."""
        return self.parameters(means, np.repeat(np.diag(self.prior.spread)[None], len(means), axis=0))

    def n_parameters(self, n_components: int) -> int:
        """Return the number of free parameters."""
        d = len(self.centre)
        return n_components * (d + d * (d + 1) // 2)
