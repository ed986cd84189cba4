"""The emission of a table: that of its columns' kind or the product of several, with the prior of Gaussian columns."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Protocol

import numpy as np

from sidelight._typing import FloatArray, IntArray
from sidelight.estimators.starts.sample import Problem
from sidelight.families.conjugate.learned import LearnedGamma, LearnedWishart
from sidelight.families.conjugate.low_rank import LowRank
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
from sidelight.families.student import DiagonalStudent, FullStudent, LikelihoodStudent, student_of
from sidelight.families.subspace import Subspace, principal_subspace
from sidelight.inference.protocols import AnyFamily
from sidelight.inference.starts import SAMPLE_ROWS
from sidelight.tables.kinds import kind_named
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
CONJUGATE_COVARIANCE_TYPES: dict[str, type[NormalWishart] | type[NormalGamma] | type[LowRank]] = {
    "full": NormalWishart,
    "diag": NormalGamma,
    "low_rank": LowRank,
}


class EmissionSettings(Protocol):
    """What an estimator decides about the emissions of its columns."""

    def gaussian(self, survey: Survey) -> AnyFamily:
        """Return the family of all Gaussian columns together."""

    def student_t(self, survey: Survey) -> AnyFamily:
        """Return the family of all Student t columns together."""


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

    def student_t(self, survey: Survey) -> FullStudent | DiagonalStudent:
        """Return the family of Student t columns; the prior is that of Gaussians given the scales of the rows."""
        return student_of(self.gaussian(survey))

    def _scaled(
        self, family: type[NormalWishart] | type[NormalGamma], survey: Survey, variances: FloatArray, width: int
    ) -> NormalWishart | NormalGamma:
        degrees = self.rows + 1 + width
        return family.scaled(
            survey.mean, variances, degrees=degrees, fraction=self.rows / degrees, mean_precision=self.mean_precision
        )


@dataclass(frozen=True, eq=False)
class LearnedGaussians:
    """Gaussians whose prior starts from a given one and is learned from the table."""

    start: "ConjugateGaussians | LowRankGaussians"

    def gaussian(self, survey: Survey) -> LearnedWishart | LearnedGamma | LowRank:
        """Return the family with the prior that it starts from."""
        prior = self.start.gaussian(survey)
        match prior:
            case LowRank():
                return replace(prior, scores=LearnedWishart.centred(prior.scores))
            case NormalWishart():
                return LearnedWishart.centred(prior)
        return LearnedGamma.centred(prior)

    def student_t(self, survey: Survey) -> FullStudent | DiagonalStudent:
        """Return the family of Student t columns, whose prior is as given."""
        return self.start.student_t(survey)


@dataclass(frozen=True, eq=False)
class LowRankGaussians:
    """Gaussians in a subspace of the columns with a Normal-Wishart prior, and noise outside of it.

    Parameters
    ----------
    subspace : Subspace
    covariance : (q, q)
        Expected covariance of the scores within a component.
    rows, mean_precision : float
        As in ConjugateGaussians.
    """

    subspace: Subspace
    covariance: FloatArray
    rows: float
    mean_precision: float

    def gaussian(self, survey: Survey) -> LowRank:
        """Return the family with its prior."""
        rank = self.subspace.rank
        degrees = self.rows + 1 + rank
        scores = NormalWishart.scaled(
            np.zeros(rank),
            self.covariance,
            degrees=degrees,
            fraction=self.rows / degrees,
            mean_precision=self.mean_precision,
        )
        return LowRank(self.subspace, scores, survey.total)

    def student_t(self, survey: Survey) -> FullStudent | DiagonalStudent:
        """Return the family of Student t columns: uncorrelated given the scale of the row, for they may be many."""
        expected = np.diag(survey.variance)
        return ConjugateGaussians("diag", expected, self.rows, self.mean_precision).student_t(survey)


@dataclass(frozen=True, eq=False)
class ConjugateNumbers:
    """Numbers with conjugate priors: Gaussian columns and Student t columns, each as they are expected."""

    gaussians: ConjugateGaussians | LowRankGaussians
    heavy_tailed: ConjugateGaussians | LowRankGaussians

    def gaussian(self, survey: Survey) -> NormalWishart | NormalGamma | LowRank:
        """Return the family of Gaussian columns with its prior."""
        return self.gaussians.gaussian(survey)

    def student_t(self, survey: Survey) -> FullStudent | DiagonalStudent:
        """Return the family of Student t columns with its prior."""
        return self.heavy_tailed.student_t(survey)


def emission_of(schema: Schema, survey: Survey, settings: EmissionSettings) -> AnyFamily:
    """Return the family of a table: that of its columns' kind, or the product of several.

    All columns that a family describes are one part. Priors of kinds other than Gaussian are weak and need no choice.
    """
    without = np.isnan(survey.mean) if survey.usual is None else np.isnan(survey.mean) & np.isnan(survey.usual)
    empty = np.flatnonzero(without & [not kind_named(name).ignores for name in schema.kinds])
    if len(empty):
        raise ValueError(f"X: {schema.label(empty[0])} has no cell that is observed and counts; leave it out.")
    parts = []
    for name in sorted(set(schema.families)):
        numbers = schema.of_family(name)
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


_GOLDEN_RATIO = 0.5 * (1.0 + 5.0**0.5)
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
) -> ConjugateGaussians | LowRankGaussians:
    """Return the prior of the Gaussian columns of a table, expected from its labelled rows.

    Parameters
    ----------
    problem : Problem
    survey : Survey
        Of all columns.
    columns : (g,)
        Numbers of the Gaussian columns.
    covariance_type : {"full", "diag", "low_rank"}
    scale : float
        Times the covariance expected.
    rows : float, optional
        How many rows it counts for; as many as the labels tell it with where None.
    mean_precision : float
    """
    if covariance_type == "low_rank" and len(columns):
        subspace = table_subspace(problem, survey, columns)
        spread = _labelled_spread(problem, lambda cells: subspace.scores(cells[:, columns]), subspace.variances)
        expected = spread.rows if rows is None else rows
        return LowRankGaussians(subspace, scale * spread.covariance, expected, mean_precision)
    spread = _labelled_spread(problem, lambda cells: cells[:, columns], survey.variance[columns])
    expected = spread.rows if rows is None else rows
    return ConjugateGaussians(covariance_type, scale * spread.covariance, expected, mean_precision)


def table_subspace(problem: Problem, survey: Survey, columns: IntArray) -> Subspace:
    """Return the principal subspace of some columns of a table, learned from rows from all over it.

    Parameters
    ----------
    problem : Problem
    survey : Survey
        Of all columns.
    columns : (g,)
        Numbers of the columns.
    """
    weights = problem.row_weights()
    counted = np.flatnonzero(weights > 0)
    chosen = counted if len(counted) <= SAMPLE_ROWS else counted[spread_numbers(len(counted), SAMPLE_ROWS)]
    cells = problem.table.gather(chosen)[:, columns]
    own = survey.only(columns)
    return principal_subspace(cells, weights[chosen], own.mean, own.variance, total=own.total)


def spread_numbers(n: int, size: int) -> IntArray:
    """Return about ``size`` numbers below n, spread evenly without a period of their own.

    They are multiples of the golden ratio, less whole numbers, times n. Every second row, say, would be rows of half
    the clusters where these take turns in the table.
    """
    return np.unique((n * (np.arange(size) * _GOLDEN_RATIO % 1.0)).astype(np.int64))


def _labelled_spread(
    problem: Problem, measure: Callable[[FloatArray], FloatArray], variances: FloatArray
) -> "ClassSpread":
    """Return the spread within labels of what ``measure`` makes of rows, whose ``variances`` in the table are given."""
    labelled = np.flatnonzero(problem.side.labels >= 0)
    if not len(labelled) or not len(variances):
        return ClassSpread(np.diag(variances), 1.0)
    cells = measure(np.asarray(problem.table.gather(labelled), dtype=float))
    return expected_spread(cells, problem.side.labels[labelled], problem.row_weights()[labelled], variances)


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
            "for other families and for covariance_type='diag' or 'low_rank'."
        )
    return replace(family, **given)
