"""Precisions from covariances, and how many digits the linear form of the log density would lose."""

import numpy as np

from sidelight._typing import FloatArray
from sidelight.exceptions import SingularCovarianceError

# Above this many features the triangular form takes fewer operations than the quadratic features.
LARGEST_QUADRATIC_DIMENSION = 64
# Absolute error of a log density that the linear form may make.
_TOLERATED_ERROR = 1e-8


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


def linear_form_is_exact(reach: FloatArray, precisions: FloatArray) -> bool:
    """Say whether log densities as a sum over quadratic features keep their digits.

    The terms of the sum are as large as |x|ᵀ|Λ||x| with x measured from the centre of the table, and cancel down to
    the squared distance from the component's mean; what is lost is machine precision times that size. This bounds
    the error by absolute values, where (μ−c)ᵀΛ(μ−c) alone would miss the terms that cancel within it.

    Parameters
    ----------
    reach : (components, d)
        How far the rows of each component lie from the centre, per feature.
    precisions : (components, d, d) or (components, d)
        Inverse covariances, or their diagonals.
    """
    magnitude = np.abs(precisions)
    subscripts = "ki,kij,kj->k" if precisions.ndim == 3 else "ki,ki,ki->k"
    operands = (reach, magnitude, reach) if precisions.ndim == 3 else (reach, reach, magnitude)
    size = np.einsum(subscripts, *operands)
    return bool(np.finfo(float).eps * size.max() < _TOLERATED_ERROR)


def positive_variances(variances: FloatArray) -> FloatArray:
    """Return the variances, or say that one of them is zero."""
    if not np.all(variances > 0):
        raise SingularCovarianceError(
            "A variance is zero: a component owns only rows that are equal in some feature. "
            "Use a covariance prior (prior_rows > 0), leave constant columns out, or use fewer components."
        )
    return variances
