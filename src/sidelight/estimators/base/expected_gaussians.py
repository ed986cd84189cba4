"""The prior expected of Gaussian columns: from labelled rows, and in the principal subspace of many columns."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from sidelight._typing import FloatArray, IntArray
from sidelight.estimators.base.conjugate_gaussians import ConjugateGaussians, LowRankGaussians
from sidelight.estimators.starts.sample import Problem
from sidelight.families.subspace import Subspace, principal_subspace
from sidelight.inference.starts import SAMPLE_ROWS
from sidelight.tables.survey import Survey

_GOLDEN_RATIO = 0.5 * (1.0 + 5.0**0.5)
# Labels may suggest the width of a class with the weight of at most this many rows: classes differ.
_MOST_ROWS = 100.0
# The least that a column may vary within a class, as a fraction of its variance in the table.
_LEAST_FRACTION = 1e-3


class ClassSpread(NamedTuple):
    """A covariance (d, d) expected of a class, and how many rows it counts for."""

    covariance: FloatArray
    rows: float


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
) -> ClassSpread:
    """Return the spread within labels of what ``measure`` makes of rows, whose ``variances`` in the table are given."""
    labelled = np.flatnonzero(problem.side.labels >= 0)
    if not len(labelled) or not len(variances):
        return ClassSpread(np.diag(variances), 1.0)
    cells = measure(np.asarray(problem.table.gather(labelled), dtype=float))
    return expected_spread(cells, problem.side.labels[labelled], problem.row_weights()[labelled], variances)


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
