"""Columns of numbers: their kind, the prior that keeps a component from collapsing onto a few rows, and factors."""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.random import RandomState

from sidelight._storable import storable
from sidelight._typing import FloatArray, IntArray
from sidelight.exceptions import SingularCovarianceError
from sidelight.families.evaluators.evaluator import Evaluator
from sidelight.kernels.loops import Backend
from sidelight.tables.column_summary import range_of_numbers
from sidelight.tables.comparison import MEANS
from sidelight.tables.frame import RawColumn
from sidelight.tables.schema import Categories, ColumnKind
from sidelight.tables.survey import Survey

Parameters = TypeVar("Parameters", bound=tuple[Any, ...])


class Gaussian(ColumnKind):
    """Columns of numbers."""

    name, noun, plural = "gaussian", "number", "numbers"
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
    """Return lower triangular C with CᵀC = Σ⁻¹ for each of the (m, d, d) covariances."""
    try:
        lower = np.linalg.cholesky(covariances)
    except np.linalg.LinAlgError as error:
        raise SingularCovarianceError(
            "A covariance is singular: a component owns fewer distinct rows than it has free directions. "
            "Use a covariance prior (prior_rows > 0), a simpler covariance_type, or fewer components."
        ) from error
    return np.tril(np.linalg.inv(lower))


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
