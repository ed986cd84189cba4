"""Gaussian columns with conjugate priors: given, learned, or in a subspace of low rank."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sidelight._typing import FloatArray
from sidelight.families.conjugate.learned import LearnedGamma, LearnedWishart
from sidelight.families.conjugate.low_rank import LowRank
from sidelight.families.conjugate.normal_gamma import NormalGamma
from sidelight.families.conjugate.normal_wishart import NormalWishart
from sidelight.families.student import DiagonalStudent, FullStudent, student_of
from sidelight.families.subspace import Subspace
from sidelight.inference.protocols import AnyFamily
from sidelight.tables.survey import Survey

CONJUGATE_COVARIANCE_TYPES: dict[str, type[NormalWishart] | type[NormalGamma] | type[LowRank]] = {
    "full": NormalWishart,
    "diag": NormalGamma,
    "low_rank": LowRank,
}


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
class LearnedGaussians:
    """Gaussians whose prior starts from a given one and is learned from the table.

    ``rounding`` (g,) are the variances of what rounding took from the cells of Gaussian columns, None where they are
    taken to be exact; those of low rank and Student t columns are.
    """

    start: ConjugateGaussians | LowRankGaussians
    rounding: FloatArray | None = None

    def gaussian(self, survey: Survey) -> LearnedWishart | LearnedGamma | LowRank:
        """Return the family with the prior that it starts from."""
        prior = self.start.gaussian(survey)
        if isinstance(prior, LowRank):
            return replace(prior, scores=LearnedWishart.centred(prior.scores))
        return _learned(prior, self.rounding)

    def student_t(self, survey: Survey) -> FullStudent | DiagonalStudent:
        """Return the family of Student t columns with the prior that it starts from."""
        return student_of(_learned(self.start.student_t(survey).gaussian, None))


def _learned(prior: NormalWishart | NormalGamma, rounding: FloatArray | None) -> LearnedWishart | LearnedGamma:
    """Return the family that starts from a prior and learns its own."""
    if isinstance(prior, NormalWishart):
        return LearnedWishart.centred(prior, rounding)
    return LearnedGamma.centred(prior, rounding)


@dataclass(frozen=True, eq=False)
class ConjugateNumbers:
    """Numbers with conjugate priors: Gaussian columns and Student t columns, each with a prior of its own."""

    gaussians: ConjugateGaussians | LowRankGaussians | LearnedGaussians
    heavy_tailed: ConjugateGaussians | LowRankGaussians | LearnedGaussians

    def gaussian(self, survey: Survey) -> NormalWishart | NormalGamma | LowRank:
        """Return the family of Gaussian columns with its prior."""
        return self.gaussians.gaussian(survey)

    def student_t(self, survey: Survey) -> FullStudent | DiagonalStudent:
        """Return the family of Student t columns with its prior."""
        return self.heavy_tailed.student_t(survey)


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
