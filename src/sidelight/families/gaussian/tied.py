"""Gaussian components that share one covariance."""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.random import RandomState
from scipy.linalg import solve_triangular

from sidelight._storable import storable
from sidelight._typing import AnyArray, FloatArray, IntArray
from sidelight.families.evaluators.centred import TriangularEvaluator
from sidelight.families.evaluators.evaluator import Evaluator
from sidelight.families.exponential import GaussianStatistics, linear_form_is_exact
from sidelight.families.gaussian.full import CentredFamily, log_density_at_mean, precision_factors
from sidelight.kernels.loops import Backend, front, rows_per_block


@storable("TiedParameters")
class TiedParameters(NamedTuple):
    """Means (components, d), the covariance (d, d) and its lower factor C with CᵀC = Σ⁻¹."""

    means: FloatArray
    covariance: FloatArray
    factor: FloatArray


class TiedEvaluator(Evaluator[GaussianStatistics]):
    """Densities of components that differ only in their means, so that d + 2 features are enough.

    The features are [1, x_i, −½ xᵀΛx]; the last depends on the shared precision and is the same for all components.
    The scatter is summed over components, which is all that a shared covariance needs.
    """

    def __init__(self, offsets: FloatArray, factor: FloatArray, centre: FloatArray) -> None:
        n_components, d = offsets.shape
        self.n_components = n_components
        self.block_rows = rows_per_block(n_components + 2 * d)
        self._centre = centre
        self._factor = factor
        whitened = offsets @ factor.T
        constant = np.log(np.diagonal(factor)).sum() - 0.5 * d * math.log(2 * math.pi)
        constants = constant - 0.5 * np.square(whitened).sum(axis=1)
        self._coefficients = np.concatenate([constants[:, None], whitened @ factor, np.ones((n_components, 1))], axis=1)
        self._feature_buffer = np.empty((d + 2) * self.block_rows)
        self._white_buffer = np.empty(d * self.block_rows)
        self._score_buffer = np.empty(n_components * self.block_rows)
        self._features = front(self._feature_buffer, d + 2, 0)
        self._start()

    def _start(self) -> None:
        d = len(self._centre)
        self._sums = np.zeros((self.n_components, d + 1))
        self._scatter = np.zeros((1, d, d))

    def load(self, block: AnyArray) -> None:
        """Take a block of rows."""
        self._features = front(self._feature_buffer, len(self._centre) + 2, len(block))
        self._features[0] = 1.0
        np.subtract(block.T, self._centre[:, None], out=self._features[1:-1])

    def log_likelihood(self) -> FloatArray:
        """Return the log densities (components, rows) of the block, in a buffer that the next call overwrites."""
        features, n = self._features, self._features.shape[1]
        white = front(self._white_buffer, len(self._centre), n)
        np.matmul(self._factor, features[1:-1], out=white)
        np.einsum("dn,dn->n", white, white, out=features[-1])
        features[-1] *= -0.5
        return np.matmul(self._coefficients, features, out=front(self._score_buffer, self.n_components, n))

    def accumulate(self, responsibilities: FloatArray) -> None:
        """Add the statistics of the block, weighted by responsibilities (components, rows)."""
        features = self._features[:-1]
        weighted = front(self._white_buffer, len(self._centre), features.shape[1])
        self._sums += responsibilities @ features.T
        np.multiply(features[1:], responsibilities.sum(axis=0), out=weighted)
        self._scatter += weighted @ features[1:].T

    def statistics(self) -> GaussianStatistics:
        """Return the statistics accumulated since the last call, and start anew."""
        collected = GaussianStatistics(self._sums[:, 0], self._sums[:, 1:], self._scatter, self._centre)
        self._start()
        return collected


@storable("TiedGaussian")
@dataclass(frozen=True, eq=False)
class TiedGaussian(CentredFamily[TiedParameters]):
    """Maximum-likelihood (MAP with a prior) Gaussians with one covariance for all."""

    def parameters(self, means: FloatArray, covariances: FloatArray) -> TiedParameters:
        """Return the parameters with these means and this covariance (d, d)."""
        return TiedParameters(means, covariances, precision_factors(covariances))

    def evaluator(self, parameters: TiedParameters, backend: Backend) -> Evaluator[GaussianStatistics]:
        """Return the quickest evaluator that is exact enough at these parameters."""
        offsets = parameters.means - self.centre
        reach = np.abs(offsets) + np.sqrt(np.diagonal(parameters.covariance))
        precisions = np.broadcast_to(parameters.factor.T @ parameters.factor, (len(offsets), *parameters.factor.shape))
        if linear_form_is_exact(reach, precisions):
            return TiedEvaluator(offsets, parameters.factor, self.centre)
        factors = np.broadcast_to(parameters.factor, precisions.shape)
        constants = log_density_at_mean(np.diagonal(factors, axis1=1, axis2=2))
        return TriangularEvaluator(
            parameters.means, factors, constants, reduce=lambda second: second.sum(axis=0, keepdims=True)
        )

    def update(self, statistics: GaussianStatistics) -> TiedParameters:
        """Return the parameters that maximise the expected log density plus the prior: (S + Ψ) / (N + ν)."""
        offsets = statistics.offsets()
        between = (offsets * statistics.mass[:, None]).T @ offsets
        scatter = statistics.second.sum(axis=0) - between + np.diag(self.prior.scatter)
        rows = statistics.mass.sum() + self.prior.rows
        return self.parameters(statistics.origin + offsets, scatter / rows)

    def log_prior(self, parameters: TiedParameters) -> float:
        """Return the prior's part of the objective."""
        log_determinant = -2 * np.log(np.diagonal(parameters.factor)).sum(keepdims=True)
        return self.prior.log_density(log_determinant, np.square(parameters.factor).sum(axis=0)[None])

    def sample(self, parameters: TiedParameters, component: int, n: int, random: RandomState) -> FloatArray:
        """Draw n rows from one component."""
        noise = random.standard_normal((len(self.centre), n))
        return parameters.means[component] + solve_triangular(parameters.factor, noise, lower=True).T

    def select(self, parameters: TiedParameters, components: IntArray) -> TiedParameters:
        """Return the parameters of these components, in this order."""
        return parameters._replace(means=parameters.means[components])

    def around(self, means: FloatArray) -> TiedParameters:
        """Return components with these means, each as wide as the whole table."""
        return self.parameters(means, np.diag(self.prior.spread))

    def n_parameters(self, n_components: int) -> int:
        """Return the number of free parameters."""
        d = len(self.centre)
        return n_components * d + d * (d + 1) // 2
