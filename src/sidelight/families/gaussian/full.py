"""Gaussian components, each with a covariance of its own."""

import math
from dataclasses import dataclass
from functools import cache, partial
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import solve_triangular

from sidelight.families.gaussian.centred import TriangularEvaluator
from sidelight.families.gaussian.centred_family import CentredFamily
from sidelight.families.gaussian.precision import (
    LARGEST_QUADRATIC_DIMENSION,
    linear_form_is_exact,
    precision_factors,
)
from sidelight.families.gaussian.statistics import GaussianStatistics
from sidelight.families.linear import LinearEvaluator
from sidelight.kernels.arrays import AnyArray, FloatArray, IntArray
from sidelight.kernels.backend import Backend


class FullParameters(NamedTuple):
    """Means (components, d), covariances and lower factors C with CᵀC = Σ⁻¹ (components, d, d)."""

    means: FloatArray
    covariances: FloatArray
    factors: FloatArray


@dataclass(frozen=True, eq=False)
class FullGaussian(CentredFamily):
    """Maximum-likelihood (MAP with a prior) Gaussians with free covariances."""

    def parameters(self, means: FloatArray, covariances: FloatArray) -> FullParameters:
        """Return the parameters with these means and covariances."""
        return FullParameters(means, covariances, precision_factors(covariances))

    def evaluator(
        self, parameters: FullParameters, backend: Backend
    ) -> "LinearEvaluator[GaussianStatistics] | TriangularEvaluator":
        """Return the quickest evaluator that is exact enough at these parameters."""
        d = len(self.centre)
        if d <= LARGEST_QUADRATIC_DIMENSION:
            offsets = parameters.means - self.centre
            precisions = parameters.factors.swapaxes(1, 2) @ parameters.factors
            deviations = np.sqrt(np.diagonal(parameters.covariances, axis1=1, axis2=2))
            if linear_form_is_exact(np.abs(offsets) + deviations, precisions):
                fill = partial(_fill_quadratic, centre=self.centre, backend=backend)
                coefficients = _quadratic_coefficients(offsets, precisions, parameters.factors)
                sweep = None if backend.quadratic_sweep is None else partial(_sweep_quadratic, self.centre, backend)
                return LinearEvaluator(fill, coefficients, self._collect, sweep)
        return TriangularEvaluator(parameters.means, parameters.factors)

    def _collect(self, sums: FloatArray) -> GaussianStatistics:
        d = len(self.centre)
        rows, columns = _upper_triangle(d)
        second = np.empty((len(sums), d, d))
        second[:, rows, columns] = sums[:, d + 1 :]
        second[:, columns, rows] = sums[:, d + 1 :]
        return GaussianStatistics(sums[:, 0], sums[:, 1 : d + 1], second, self.centre)

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
        log_determinants = -2 * np.log(np.diagonal(parameters.factors, axis1=1, axis2=2)).sum(axis=1)
        return self.prior.log_density(log_determinants, np.square(parameters.factors).sum(axis=1))

    def sample(self, parameters: FullParameters, component: int, n: int, random: np.random.RandomState) -> FloatArray:
        """Draw n rows from one component."""
        noise = random.standard_normal((len(self.centre), n))
        rows = solve_triangular(parameters.factors[component], noise, lower=True).T
        return parameters.means[component] + rows

    def attributes(self, parameters: FullParameters) -> dict[str, FloatArray]:
        """Return the parameters by the names that a fitted estimator shows them under."""
        return {"means_": parameters.means, "covariances_": parameters.covariances}

    def select(self, parameters: FullParameters, components: IntArray) -> FullParameters:
        """Return the parameters of these components, in this order."""
        return FullParameters(*(values[components] for values in parameters))

    def around(self, means: FloatArray) -> FullParameters:
        """Return components with these means, each as wide as the whole table."""
        return self.parameters(means, np.repeat(np.diag(self.prior.spread)[None], len(means), axis=0))

    def n_parameters(self, n_components: int) -> int:
        """Return the number of free parameters."""
        d = len(self.centre)
        return n_components * (d + d * (d + 1) // 2)


@cache
def _upper_triangle(d: int) -> tuple[IntArray, IntArray]:
    """Return the rows and columns of the upper triangle, in the order of the quadratic features."""
    return np.triu_indices(d)


def _fill_quadratic(block: AnyArray, out: FloatArray, *, centre: FloatArray, backend: Backend) -> None:
    # One layout and type for the compiled loop, which would else be compiled again for each.
    backend.quadratic_features(np.require(block, np.float64, ["C", "W"]), centre, out)


def _sweep_quadratic(centre: FloatArray, backend: Backend, rows: AnyArray, *arguments: Any) -> float:
    assert backend.quadratic_sweep is not None
    return backend.quadratic_sweep(np.require(rows, np.float64, ["C", "W"]), centre, *arguments)


def _quadratic_coefficients(offsets: FloatArray, precisions: FloatArray, factors: FloatArray) -> FloatArray:
    """Return what [1, x_i, x_i x_j (i <= j)] is multiplied with, x measured from the centre."""
    d = offsets.shape[1]
    whitened = np.einsum("kij,kj->ki", factors, offsets)
    log_scales = np.log(np.diagonal(factors, axis1=1, axis2=2)).sum(axis=1)
    constant = log_scales - 0.5 * d * math.log(2 * math.pi) - 0.5 * np.square(whitened).sum(axis=1)
    linear = np.einsum("kij,kj->ki", precisions, offsets)
    rows, columns = _upper_triangle(d)
    quadratic = np.where(rows == columns, -0.5, -1.0) * precisions[:, rows, columns]
    return np.concatenate([constant[:, None], linear, quadratic], axis=1)
