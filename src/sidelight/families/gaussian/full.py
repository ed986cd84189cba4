"""Gaussian columns: their kind, what all covariance types share, and components with free covariances."""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cache
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np
from numpy.random import RandomState
from scipy.linalg import solve_triangular

from sidelight._storable import storable
from sidelight._typing import FloatArray, IntArray
from sidelight.exceptions import SingularCovarianceError
from sidelight.families.evaluators.centred import TriangularEvaluator
from sidelight.families.evaluators.evaluator import Evaluator
from sidelight.families.exponential import GaussianStatistics, linear_form_is_exact, quadratic_form_evaluator
from sidelight.kernels.loops import Backend
from sidelight.tables.column_summary import range_of_numbers
from sidelight.tables.comparison import MEANS
from sidelight.tables.frame import RawColumn
from sidelight.tables.kinds import Categories, ColumnKind
from sidelight.tables.survey import Survey

# Above this many columns the triangular form is quicker than the quadratic features: it takes half the operations.
_LARGEST_QUADRATIC_DIMENSION = 48

Parameters = TypeVar("Parameters", bound=tuple[Any, ...])


class Gaussian(ColumnKind):
    """Columns of numbers."""

    name, noun, plural = "gaussian", "number", "numbers"
    in_arrays = True
    comparison = MEANS
    summary = staticmethod(range_of_numbers)

    def recognises(self, column: RawColumn) -> bool:
        """Say whether a column holds numbers; integers that look like 0 and 1 or like counts fit other kinds better."""
        return column.holds in ("numbers", "integers")

    def embed(self, cells: Any, weights: FloatArray, survey: Survey, random: RandomState) -> FloatArray:
        """Return the columns standardised."""
        return standardised(cells, survey)

    def family(self, survey: Survey, categories: Categories, settings: Any) -> Any:
        """Return one family of all Gaussian columns, as the estimator has it."""
        return settings.gaussian(survey)


def standardised(cells: FloatArray, survey: Survey) -> FloatArray:
    """Return cells (m, columns) with mean zero and variance one, or none; missing ones lie at the mean."""
    return np.nan_to_num((cells - survey.mean) / survey.scale)


@storable("CovariancePrior")
@dataclass(frozen=True, eq=False)
class CovariancePrior:
    """A penalty -½ [ν ln|Σ| + tr(Ψ Σ⁻¹)] with diagonal Ψ; the covariance that maximises is (S + Ψ) / (N + ν).

    It is part of the objective, so that every step still raises it; a ridge added after the step does not.
    ``scatter`` (d,) is the diagonal of Ψ, ``rows`` is ν, the number of rows the prior counts for, and ``spread`` (d,)
    are the variances of the whole table: the covariance of a component that owns no row when there is no prior.
    """

    scatter: FloatArray
    rows: float
    spread: FloatArray

    @classmethod
    def scaled(cls, variances: FloatArray, *, rows: float, fraction: float) -> "CovariancePrior":
        """Return the prior worth ``rows`` rows whose variances are a ``fraction`` of the table's.

        A column that never changes has no variance to scale by; it takes the mean variance of the others.
        """
        positive = variances[variances > 0]
        spread = np.where(variances > 0, variances, positive.mean() if positive.size else 1.0)
        return cls(scatter=rows * fraction * spread, rows=rows, spread=spread)

    def log_density(self, log_determinant: FloatArray, precision_diagonal: FloatArray) -> float:
        """Return the penalty summed over covariances, by ln|Σ| (m,) and the diagonals (m, d) of their inverses."""
        return float(-0.5 * (self.rows * log_determinant.sum() + (precision_diagonal @ self.scatter).sum()))


@dataclass(frozen=True, eq=False)
class CentredFamily(ABC, Generic[Parameters]):
    """Gaussians whose rows are measured from a centre and whose covariances have a prior.

    The first two of their parameters are the means and the covariances, or the variances. ``centre`` (d,), the mean of
    the table, is where rows are measured from in the linear form.
    """

    centre: FloatArray
    prior: CovariancePrior

    @abstractmethod
    def evaluator(self, parameters: Parameters, backend: Backend) -> Evaluator[Any]:
        """Return an evaluator of log densities and statistics."""

    @abstractmethod
    def update(self, statistics: GaussianStatistics) -> Parameters:
        """Return the parameters that maximise the expected log density plus the prior."""

    @abstractmethod
    def log_prior(self, parameters: Parameters) -> float:
        """Return the prior's part of the objective."""

    @abstractmethod
    def sample(self, parameters: Parameters, component: int, n: int, random: RandomState) -> FloatArray:
        """Draw n rows from one component."""

    @abstractmethod
    def around(self, means: FloatArray) -> Parameters:
        """Return components with these means, each as wide as the whole table."""

    @abstractmethod
    def n_parameters(self, n_components: int) -> int:
        """Return the number of free parameters."""

    def admits(self, statistics: GaussianStatistics) -> bool:
        """Say whether every component owns some rows, whose scatter is positive definite with the prior's."""
        return bool(statistics.mass.min() > 0) and is_positive_definite(statistics.scatter(), self.prior.scatter)

    def predictive(self, parameters: Parameters, backend: Backend) -> Evaluator[Any]:
        """Return a scorer of new rows: by the parameters as they are."""
        return self.evaluator(parameters, backend)

    def attributes(self, parameters: Parameters) -> dict[str, FloatArray]:
        """Return the parameters under the names of a fitted estimator's attributes."""
        means, covariances, *_ = parameters
        return {"means_": means, "covariances_": covariances}

    def select(self, parameters: Parameters, components: IntArray) -> Parameters:
        """Return the parameters of these components, in this order."""
        return type(parameters)(*(values[components] for values in parameters))


def precision_factors(covariances: FloatArray) -> FloatArray:
    """Return lower triangular C with CᵀC = Σ⁻¹ for each of the (…, d, d) covariances.

    Columns may be of very different scales. The Cholesky factor does not mind, but its inversion would: it pivots, and
    so compares rows. They are therefore brought to one scale before, by powers of two, which are exact.
    """
    lower = _cholesky(covariances)
    scales = powers_of_two(np.sqrt(np.diagonal(covariances, axis1=-2, axis2=-1)))
    factors = np.tril(np.linalg.inv(lower / scales[..., :, None])) / scales[..., None, :]
    # So that rounding can make none of them negative.
    along = np.arange(covariances.shape[-1])
    factors[..., along, along] = 1 / lower[..., along, along]
    return factors


def powers_of_two(scales: FloatArray) -> FloatArray:
    """Return the next power of two above each of the scales; to divide by it is exact."""
    return np.ldexp(1.0, np.frexp(scales)[1])


def inverse_covariance(covariance: FloatArray) -> FloatArray:
    """Return Σ⁻¹ of a covariance (d, d) whose columns may be of very different scales."""
    factor = precision_factors(covariance)
    return factor.T @ factor


def log_determinant(covariance: FloatArray) -> float:
    """Return ln|Σ| of a covariance (d, d) whose columns may be of very different scales."""
    return 2 * float(np.log(np.diagonal(_cholesky(covariance))).sum())


def _cholesky(covariances: FloatArray) -> FloatArray:
    try:
        return np.asarray(np.linalg.cholesky(covariances), dtype=np.float64)
    except np.linalg.LinAlgError as error:
        raise SingularCovarianceError(
            "A covariance is singular: a component owns fewer distinct rows than it has free directions. "
            "Use a covariance prior (prior_rows > 0), a simpler covariance_type, or fewer components."
        ) from error


def is_positive_definite(scatter: FloatArray, prior: FloatArray) -> bool:
    """Say whether scatters are positive definite once that of a prior is added, whose diagonal is ``prior`` (d,).

    Scatters are matrices (…, d, d), diagonals (components, d), or sums of these (components,).
    """
    if scatter.ndim < 3:
        least = (scatter + prior if scatter.ndim == 2 else scatter + prior.sum()).min()
        return bool(least > 0)
    try:
        np.linalg.cholesky(scatter + np.diag(prior))
    except np.linalg.LinAlgError:
        return False
    return True


def log_scales(factors: FloatArray) -> FloatArray:
    """Return half the log determinants of the precisions CᵀC, from the triangular C (components, d, d)."""
    return np.log(np.diagonal(factors, axis1=1, axis2=2)).sum(axis=1)


def log_density_at_mean(scales: FloatArray) -> FloatArray:
    """Return the log densities at the means of Gaussians whose precisions have the determinants Π scales²."""
    return np.log(scales).sum(axis=1) - 0.5 * scales.shape[1] * math.log(2 * math.pi)


def positive_variances(variances: FloatArray) -> FloatArray:
    """Return the variances, or say that one of them is zero."""
    if not np.all(variances > 0):
        raise SingularCovarianceError(
            "A variance is zero: a component owns only rows that are equal in some feature. "
            "Use a covariance prior (prior_rows > 0), leave constant columns out, or use fewer components."
        )
    return variances


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


def quadratic_evaluator(
    means: FloatArray,
    factors: FloatArray,
    deviations: FloatArray,
    constants: FloatArray,
    centre: FloatArray,
    backend: Backend,
) -> Evaluator[GaussianStatistics]:
    """Return the quickest evaluator of c − ½ |C(x − m)|² that is exact enough.

    ``means`` (components, d) are m, ``factors`` (components, d, d) lower triangular C, and ``constants`` (components,)
    c, the value at the mean. ``deviations`` (components, d) say how far the rows of each component lie from its mean:
    square roots of the diagonal of (CᵀC)⁻¹. The linear form measures rows from ``centre`` (d,).
    """
    d = len(centre)
    rows, columns = _upper_triangle(d)

    def collect(sums: FloatArray) -> GaussianStatistics:
        second = np.empty((len(sums), d, d))
        second[:, rows, columns] = sums[:, d + 1 :]
        second[:, columns, rows] = sums[:, d + 1 :]
        return GaussianStatistics(sums[:, 0], sums[:, 1 : d + 1], second, centre)

    if d <= _LARGEST_QUADRATIC_DIMENSION:
        offsets = means - centre
        precisions = factors.swapaxes(1, 2) @ factors
        if linear_form_is_exact(np.abs(offsets) + deviations, precisions):
            coefficients = _coefficients(offsets, precisions, factors, constants)
            return quadratic_form_evaluator(coefficients, centre, collect, backend)
    return TriangularEvaluator(means, factors, constants)


@cache
def _upper_triangle(d: int) -> tuple[IntArray, IntArray]:
    """Return the rows and columns of the upper triangle, in the order of the quadratic features."""
    return np.triu_indices(d)


def _coefficients(
    offsets: FloatArray, precisions: FloatArray, factors: FloatArray, constants: FloatArray
) -> FloatArray:
    """Return the coefficients of [1, x_i, x_i x_j (i <= j)], x measured from the centre."""
    whitened = np.einsum("kij,kj->ki", factors, offsets)
    constant = constants - 0.5 * np.square(whitened).sum(axis=1)
    linear = np.einsum("kij,kj->ki", precisions, offsets)
    rows, columns = _upper_triangle(offsets.shape[1])
    quadratic = np.where(rows == columns, -0.5, -1.0) * precisions[:, rows, columns]
    return np.concatenate([constant[:, None], linear, quadratic], axis=1)
