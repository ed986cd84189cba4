"""The emission of a table: that of its columns' kind, or the product of several."""

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from sidelight._typing import FloatArray
from sidelight.families.conjugate.normal_gamma import NormalGamma
from sidelight.families.conjugate.normal_wishart import NormalWishart
from sidelight.families.conjugate.product import ProductFamily
from sidelight.families.gaussian import (
    CovariancePrior,
    DiagonalGaussian,
    FullGaussian,
    SphericalGaussian,
    TiedGaussian,
)
from sidelight.inference.protocols import AnyFamily
from sidelight.tables.schema import Schema, kind_named
from sidelight.tables.survey import Survey

GaussianFamily = FullGaussian | TiedGaussian | DiagonalGaussian | SphericalGaussian

COVARIANCE_TYPES: dict[str, type[GaussianFamily]] = {
    "full": FullGaussian,
    "tied": TiedGaussian,
    "diag": DiagonalGaussian,
    "spherical": SphericalGaussian,
}
CONJUGATE_COVARIANCE_TYPES: dict[str, type[NormalWishart] | type[NormalGamma]] = {
    "full": NormalWishart,
    "diag": NormalGamma,
}


class EmissionSettings(Protocol):
    """What an estimator decides about the emissions of its columns."""

    def gaussian(self, survey: Survey) -> AnyFamily:
        """Return the family of all Gaussian columns together."""


@dataclass(frozen=True)
class LikelihoodGaussians:
    """Gaussians by maximum likelihood with a covariance prior.

    Parameters
    ----------
    covariance_type : {"full", "tied", "diag", "spherical"}
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


@dataclass(frozen=True, eq=False)
class ConjugateGaussians:
    """Gaussians with Normal-Wishart or Normal-Gamma priors.

    Parameters
    ----------
    covariance_type : {"full", "diag"}
    covariance : (g, g)
        Expected covariance of the g Gaussian columns within a component.
    rows : float
        How many rows the expectation counts for.
    mean_precision : float
        How many rows the prior mean, that of the table, counts for.
    """

    covariance_type: str
    covariance: FloatArray
    rows: float
    mean_precision: float

    def gaussian(self, survey: Survey) -> NormalWishart | NormalGamma:
        """Return the family with its prior."""
        # With these degrees the expected covariance is Ψ / rows; a Gamma is a Wishart of a single column.
        if self.covariance_type == "full":
            return self._scaled(NormalWishart, survey, self.covariance, len(survey.mean))
        return self._scaled(NormalGamma, survey, np.diagonal(self.covariance).copy(), 1)

    def _scaled(
        self, family: type[NormalWishart] | type[NormalGamma], survey: Survey, variances: FloatArray, width: int
    ) -> NormalWishart | NormalGamma:
        degrees = self.rows + 1 + width
        return family.scaled(
            survey.mean, variances, degrees=degrees, fraction=self.rows / degrees, mean_precision=self.mean_precision
        )


def emission_of(schema: Schema, survey: Survey, settings: EmissionSettings) -> AnyFamily:
    """Return the family of a table: that of its columns' kind, or the product of several.

    All columns of a kind are one part. Priors of kinds other than Gaussian are weak and need no choice.
    """
    empty = np.flatnonzero(np.isnan(survey.mean))
    if len(empty):
        raise ValueError(f"X: {schema.label(empty[0])} has no cell that is observed and counts; leave it out.")
    parts = []
    for name in sorted(set(schema.kinds)):
        numbers = schema.of_kind(name)
        categories = tuple(schema.categories[number] for number in numbers)
        parts.append((kind_named(name).family(survey.only(numbers), categories, settings), numbers))
    return parts[0][0] if len(parts) == 1 else ProductFamily(tuple(parts))


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
