"""Gaussian columns by maximum likelihood: structures of the covariances, and their prior."""

from dataclasses import dataclass

from sidelight._typing import FloatArray
from sidelight.families.gaussian import (
    BoundedGaussian,
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
from sidelight.tables.schema import Schema
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

# Of more columns than this, a matrix d × d for every component takes more memory and time than it tells.
_MOST_FULL = 200


def structure_unless_given(covariance_type: str, schema: Schema) -> str:
    """Return the structure of the covariances: for "auto" full ones, and diagonal ones where columns are many."""
    if covariance_type != "auto":
        return covariance_type
    most = max(len(schema.of_family(kind)) for kind in ("gaussian", "student_t"))
    return "full" if most <= _MOST_FULL else "diag"


@dataclass(frozen=True)
class LikelihoodGaussians:
    """Gaussians by maximum likelihood with a covariance prior.

    Parameters
    ----------
    covariance_type : str
        One of ``COVARIANCE_TYPES``.
    prior_rows, prior_scale : float
        The prior is worth ``prior_rows`` rows whose variances are ``prior_scale`` times those of the table.
    widest : (c, c), optional
        Of Student t columns, what free covariances do not exceed.
    """

    covariance_type: str
    prior_rows: float
    prior_scale: float
    widest: FloatArray | None = None

    def gaussian(self, survey: Survey) -> GaussianFamily:
        """Return the family, centred and with a prior scaled on the surveyed columns."""
        prior = CovariancePrior.scaled(survey.variance, rows=self.prior_rows, fraction=self.prior_scale)
        return COVARIANCE_TYPES[self.covariance_type](centre=survey.mean, prior=prior)

    def student_t(self, survey: Survey) -> LikelihoodStudent:
        """Return the family of Student t columns: rows that are such Gaussians given their scales."""
        gaussian = self.gaussian(survey)
        if self.widest is not None and type(gaussian) is FullGaussian:
            gaussian = BoundedGaussian(gaussian.centre, gaussian.prior, self.widest)
        return LikelihoodStudent(gaussian)
