"""Gaussian columns by maximum likelihood: structures of the covariances, and their prior."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from sidelight._typing import FloatArray
from sidelight.families.gaussian import (
    CovariancePrior,
    DiagonalGaussian,
    EEIGaussian,
    EEVGaussian,
    EIIGaussian,
    EVEGaussian,
    EVIGaussian,
    EVVGaussian,
    FullGaussian,
    SphericalGaussian,
    TiedGaussian,
    VEEGaussian,
    VEIGaussian,
    VEVGaussian,
    VVEGaussian,
)
from sidelight.families.student import LikelihoodStudent
from sidelight.tables.survey import Survey

GaussianFamily = FullGaussian | TiedGaussian | DiagonalGaussian | SphericalGaussian | EVEGaussian | VVEGaussian

# mclust's names, from few parameters to many: volume, shape and orientation equal (E), varying (V) or identity (I).
STRUCTURES: dict[str, type[GaussianFamily]] = {
    "EII": EIIGaussian,
    "VII": SphericalGaussian,
    "EEI": EEIGaussian,
    "VEI": VEIGaussian,
    "EVI": EVIGaussian,
    "VVI": DiagonalGaussian,
    "EEE": TiedGaussian,
    "VEE": VEEGaussian,
    "EVE": EVEGaussian,
    "VVE": VVEGaussian,
    "EEV": EEVGaussian,
    "VEV": VEVGaussian,
    "EVV": EVVGaussian,
    "VVV": FullGaussian,
}
COVARIANCE_TYPES: dict[str, type[GaussianFamily]] = {
    "full": FullGaussian,
    "tied": TiedGaussian,
    "diag": DiagonalGaussian,
    "spherical": SphericalGaussian,
    **STRUCTURES,
}


@dataclass(frozen=True)
class LikelihoodGaussians:
    """Gaussians by maximum likelihood with a covariance prior.

    Parameters
    ----------
    covariance_type : str
        One of ``COVARIANCE_TYPES``.
    prior_rows, prior_scale : float
        The prior is worth ``prior_rows`` rows whose variances are ``prior_scale`` times those of the table.
    """

    covariance_type: str
    prior_rows: float
    prior_scale: float

    def gaussian(self, survey: Survey) -> GaussianFamily:
        """Return the family, centred and with a prior scaled on the surveyed columns."""
        prior = CovariancePrior.scaled(survey.variance, rows=self.prior_rows, fraction=self.prior_scale)
        return COVARIANCE_TYPES[self.covariance_type](centre=survey.mean, prior=prior)

    def student_t(self, survey: Survey) -> LikelihoodStudent:
        """Return the family of Student t columns: rows that are such Gaussians given their scales."""
        return LikelihoodStudent(self.gaussian(survey))


def covariances_from_precisions(covariance_type: str, precisions: Any, n_components: int, d: int) -> FloatArray:
    """Return the covariances whose inverses a user gave as ``precisions_init``, in scikit-learn's shapes."""
    shapes: dict[type[GaussianFamily], tuple[int, ...]] = {
        FullGaussian: (n_components, d, d),
        TiedGaussian: (d, d),
        DiagonalGaussian: (n_components, d),
        SphericalGaussian: (n_components,),
    }
    array = np.asarray(precisions, dtype=float)
    family = COVARIANCE_TYPES[covariance_type]
    expected = shapes.get(family)
    if expected is None:
        raise ValueError(
            f"precisions_init cannot be given with covariance_type={covariance_type!r}, whose covariances share "
            "something; leave it out, or use 'full', 'tied', 'diag' or 'spherical'."
        )
    if array.shape != expected:
        raise ValueError(
            f"precisions_init has shape {array.shape}; covariance_type={covariance_type!r} with {n_components} "
            f"components and {d} features needs {expected}."
        )
    return np.linalg.inv(array) if family in (FullGaussian, TiedGaussian) else 1.0 / array
