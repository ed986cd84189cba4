"""The conjugate family of a table, made of those of its columns."""

from typing import NamedTuple

import numpy as np

from sidelight._typing import FloatArray
from sidelight.families.conjugate import (
    BetaBernoulli,
    ConjugateFamily,
    DirichletCategorical,
    DirichletMultinomial,
    GammaPoisson,
    NormalGamma,
    NormalWishart,
    ProductFamily,
)
from sidelight.tables.schema import Columns
from sidelight.tables.survey import Survey

_CATEGORY_ROWS = 0.5
_BIT_ROWS = 0.5
_RATE_SHAPE = 1.0
_WORD_OCCURRENCES = 2.0
_UNSEEN_OCCURRENCES = 0.5

_GAUSSIANS: dict[str, type[NormalWishart] | type[NormalGamma]] = {"full": NormalWishart, "diag": NormalGamma}


class GaussianPrior(NamedTuple):
    """What is thought of the Gaussian columns of a component before it has rows.

    Parameters
    ----------
    covariance_type : {"full", "diag"}
    variances : (g,) or (g, g)
        Expected variances of the g Gaussian columns, or their covariance, for "full" only.
    rows : float
        How many rows the expectation counts for.
    mean_precision : float
        How many rows the prior mean, that of the table, counts for.
    """

    covariance_type: str
    variances: FloatArray
    rows: float
    mean_precision: float


def family_of(columns: Columns, survey: Survey, gaussian: GaussianPrior) -> ConjugateFamily:
    """Return the family of a table: that of its columns' kind, or the product of several.

    All Gaussian columns together are one part, with Normal-Wishart or Normal-Gamma prior. The other priors are weak and
    need no choice. Categories, and the values 0 and 1, count for half a row each (Jeffreys' prior). A rate has the
    column's mean and as much of a standard deviation. The words of a multinomial count for two occurrences on average,
    in proportion to how often the table has them: with the same for all, another component would have to pay for every
    common word anew, and sparse tables of many words would end up as one cluster.

    Parameters
    ----------
    columns : Columns
    survey : Survey
        Of the encoded table.
    gaussian : GaussianPrior
        Unused where no column is Gaussian.
    """
    _refuse_unobserved(columns, survey)
    parts = [(kind, columns.of_kind(kind)) for kind in sorted(set(columns.kinds))]
    families = [(_part(kind, columns, survey.only(numbers), gaussian), numbers) for kind, numbers in parts]
    return families[0][0] if len(families) == 1 else ProductFamily(tuple(families))


def _part(kind: str, columns: Columns, survey: Survey, gaussian: GaussianPrior) -> ConjugateFamily:
    """Return the family of the columns of a kind, which the survey is of."""
    d = len(survey.mean)
    match kind:
        case "gaussian":
            return _gaussian(survey, gaussian)
        case "categorical":
            sizes = tuple(len(categories) for categories in columns.categories if categories is not None)
            return DirichletCategorical.symmetric(sizes, concentration=_CATEGORY_ROWS)
        case "bernoulli":
            return BetaBernoulli.symmetric(d, concentration=_BIT_ROWS)
        case "poisson":
            return GammaPoisson.scaled(survey.mean, shape=_RATE_SHAPE)
        case _:
            return _multinomial(survey)


def _multinomial(survey: Survey) -> ConjugateFamily:
    # Words that the table lacks may still be met later.
    occurrences = survey.total * survey.mean + _UNSEEN_OCCURRENCES
    concentrations = _WORD_OCCURRENCES * len(occurrences) * occurrences / occurrences.sum()
    return DirichletMultinomial(concentrations, length=max(round(survey.mean.sum()), 1))


def _gaussian(survey: Survey, prior: GaussianPrior) -> ConjugateFamily:
    family = _GAUSSIANS[prior.covariance_type]
    # With so many degrees the expected covariance is Ψ / rows; a Gamma is a Wishart of a single column.
    degrees = prior.rows + 1 + (len(survey.mean) if family is NormalWishart else 1)
    return family.scaled(
        survey.mean,
        prior.variances,
        degrees=degrees,
        fraction=prior.rows / degrees,
        mean_precision=prior.mean_precision,
    )


def _refuse_unobserved(columns: Columns, survey: Survey) -> None:
    empty = np.flatnonzero(np.isnan(survey.mean))
    if len(empty):
        raise ValueError(f"X: {columns.label(empty[0])} has no cell that is observed and counts; leave it out.")
