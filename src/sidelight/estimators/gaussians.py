"""The Gaussian family that scikit-learn's ``covariance_type`` names."""

from typing import Any

import numpy as np

from sidelight._typing import FloatArray
from sidelight.families.gaussian import (
    CovariancePrior,
    DiagonalGaussian,
    FullGaussian,
    SphericalGaussian,
    TiedGaussian,
)
from sidelight.tables.survey import Survey

GaussianFamily = FullGaussian | TiedGaussian | DiagonalGaussian | SphericalGaussian

COVARIANCE_TYPES: dict[str, type[GaussianFamily]] = {
    "full": FullGaussian,
    "tied": TiedGaussian,
    "diag": DiagonalGaussian,
    "spherical": SphericalGaussian,
}


def gaussian_family(covariance_type: str, survey: Survey, *, prior_rows: float, prior_scale: float) -> GaussianFamily:
    """Return the family, centred and with a prior scaled on the surveyed table."""
    prior = CovariancePrior.scaled(survey.variance, rows=prior_rows, fraction=prior_scale)
    return COVARIANCE_TYPES[covariance_type](centre=survey.mean, prior=prior)


def covariances_from_precisions(covariance_type: str, precisions: Any, n_components: int, d: int) -> FloatArray:
    """Return the covariances whose inverses a user gave as ``precisions_init``, in scikit-learn's shapes."""
    shapes = {
        "full": (n_components, d, d),
        "tied": (d, d),
        "diag": (n_components, d),
        "spherical": (n_components,),
    }
    array = np.asarray(precisions, dtype=float)
    expected = shapes[covariance_type]
    if array.shape != expected:
        raise ValueError(
            f"precisions_init has shape {array.shape}; covariance_type={covariance_type!r} with {n_components} "
            f"components and {d} features needs {expected}."
        )
    return np.linalg.inv(array) if covariance_type in ("full", "tied") else 1.0 / array
