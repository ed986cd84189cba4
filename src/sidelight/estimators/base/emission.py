"""The emission of a table: that of its columns' kind or the product of several, with the prior of Gaussian columns."""

from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Protocol

import numpy as np

from sidelight._typing import FloatArray, IntArray
from sidelight.estimators.starts.sample import Problem
from sidelight.families.conjugate.normal_gamma import NormalGamma
from sidelight.families.conjugate.normal_wishart import NormalWishart
from sidelight.families.conjugate.product import ProductFamily
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
from sidelight.inference.protocols import AnyFamily
from sidelight.tables.schema import Schema, kind_named
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


# Labels may suggest the width of a class with the weight of at most this many rows: classes differ.
_MOST_ROWS = 100.0
# The least that a column may vary within a class, as a fraction of its variance in the table.
_LEAST_FRACTION = 1e-3


def expected_gaussians(
    problem: Problem,
    survey: Survey,
    columns: IntArray,
    *,
    covariance_type: str,
    scale: float,
    rows: float | None,
    mean_precision: float,
) -> ConjugateGaussians:
    """Return the prior of the Gaussian columns of a table, expected from its labelled rows.

    Parameters
    ----------
    problem : Problem
    survey : Survey
        Of all columns.
    columns : (g,)
        Numbers of the Gaussian columns.
    covariance_type : {"full", "diag"}
    scale : float
        Times the covariance expected.
    rows : float, optional
        How many rows it counts for; as many as the labels tell it with where None.
    mean_precision : float
    """
    variances = survey.variance[columns]
    spread = ClassSpread(np.diag(variances), 1.0)
    labelled = np.flatnonzero(problem.side.labels >= 0)
    if len(labelled) and len(columns):
        cells = np.asarray(problem.table.gather(labelled), dtype=float)[:, columns]
        weights = problem.row_weights()[labelled]
        spread = expected_spread(cells, problem.side.labels[labelled], weights, variances)
    expected = spread.rows if rows is None else rows
    return ConjugateGaussians(covariance_type, scale * spread.covariance, expected, mean_precision)


class ClassSpread(NamedTuple):
    """A covariance (d, d) expected of a class, and how many rows it counts for."""

    covariance: FloatArray
    rows: float


def expected_spread(rows: FloatArray, labels: IntArray, weights: FloatArray, variances: FloatArray) -> ClassSpread:
    """Return the pooled covariance within classes, drawn towards its diagonal; without labels that of the table.

    It counts for as many rows as it has degrees of freedom, at least one and at most a hundred. With few labelled rows
    the correlations are drawn more: of d columns, d + 1 rows without correlation are added.

    ``rows`` (m, d) are labelled rows, NaN where a cell is missing, ``labels`` (m,) their codes and ``weights`` (m,) how
    many rows each stands for; ``variances`` (d,) are those of the table, zero where a column never changes.
    """
    counted = np.flatnonzero(weights > 0)
    rows, labels, weights = rows[counted], labels[counted], weights[counted]
    freedom = float(weights.sum() - len(np.unique(labels)))
    if freedom < 1:
        return ClassSpread(np.diag(variances), 1.0)
    d = len(variances)
    scatter, seen = np.zeros((d, d)), np.zeros(d)
    for label in np.unique(labels):
        members, shares = rows[labels == label], weights[labels == label]
        observed = ~np.isnan(members)
        counts = shares @ observed
        means = shares @ np.where(observed, members, 0.0) / np.maximum(counts, np.finfo(float).tiny)
        deviations = np.where(observed, members - means, 0.0)
        scatter += deviations.T @ (shares[:, None] * deviations)
        seen += np.maximum(counts - 1, 0)
    # Each column by its own number of observed cells, which keeps the matrix positive.
    scale = 1.0 / np.sqrt(np.maximum(seen, 1.0))
    pooled = scatter * np.outer(scale, scale)
    diagonal = np.where(seen > 0, np.maximum(np.diagonal(pooled), _LEAST_FRACTION * variances), variances)
    share = freedom / (freedom + d + 1)
    changing = variances > 0
    covariance = share * pooled * np.outer(changing, changing)
    np.fill_diagonal(covariance, np.where(changing, diagonal, 0.0))
    return ClassSpread(covariance, min(max(freedom, 1.0), _MOST_ROWS))


def given_prior(family: AnyFamily, *, mean: Any, degrees: float | None, scatter: Any) -> AnyFamily:
    """Return a Normal-Wishart family with what a user gave of its prior.

    Parameters
    ----------
    family : Family
    mean : (d,) or (components, d), optional
    degrees : float, optional
    scatter : (d, d), optional
    """
    given: dict[str, Any] = {
        name: value if name == "degrees" else np.asarray(value, dtype=float)
        for name, value in (("mean", mean), ("degrees", degrees), ("scatter", scatter))
        if value is not None
    }
    if not given:
        return family
    if not isinstance(family, NormalWishart):
        raise ValueError(  # noqa: TRY004  (it is what the user asks for that does not fit)
            "mean_prior, degrees_of_freedom_prior and covariance_prior are those of full Gaussians; leave them out "
            "for other families and for covariance_type='diag'."
        )
    return replace(family, **given)
