"""The prior of Gaussian columns: how wide a class is, by what labelled rows say before anything is fitted."""

from dataclasses import replace
from typing import Any

import numpy as np

from sidelight._typing import IntArray
from sidelight.estimators.base.emission import ConjugateGaussians
from sidelight.estimators.starts.sample import Problem
from sidelight.families.conjugate import NormalWishart
from sidelight.families.conjugate.gaussian_columns import ClassSpread, expected_spread
from sidelight.inference.protocols import AnyFamily
from sidelight.tables.survey import Survey


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
