"""Columns of numbers: Gaussian, with free covariances or uncorrelated, and the prior that labelled rows suggest."""

from typing import Any, NamedTuple

import numpy as np
from numpy.random import RandomState

from sidelight._typing import FloatArray, IntArray
from sidelight.tables.column_summary import range_of_numbers
from sidelight.tables.comparison import MEANS
from sidelight.tables.frame import RawColumn
from sidelight.tables.schema import Categories, ColumnKind
from sidelight.tables.survey import Survey

# Labels may suggest the width of a class with the weight of at most this many rows: classes differ.
_MOST_ROWS = 100.0
# The least that a column may vary within a class, as a fraction of its variance in the table.
_LEAST_FRACTION = 1e-3


class Gaussian(ColumnKind):
    """Columns of numbers."""

    name, noun, plural = "gaussian", "number", "numbers"
    comparison = MEANS
    summary = staticmethod(range_of_numbers)

    def recognises(self, column: RawColumn) -> bool:
        """Say whether a column holds numbers; integers that look like 0 and 1 or like counts fit other kinds better."""
        return column.holds in ("numbers", "integers")

    def embed(self, cells: Any, weights: FloatArray, survey: Survey, random: RandomState) -> FloatArray:
        """Return the columns standardised."""
        return standardised(cells, survey)

    def family(self, survey: Survey, categories: Categories, settings: Any) -> Any:
        """Return one family of all Gaussian columns, as the estimator has it."""
        return settings.gaussian(survey)


def standardised(cells: FloatArray, survey: Survey) -> FloatArray:
    """Return cells (m, columns) with mean zero and variance one, or none; missing ones lie at the mean."""
    return np.nan_to_num((cells - survey.mean) / survey.scale)


class ClassSpread(NamedTuple):
    """A covariance (d, d) expected of a class, and how many rows it counts for."""

    covariance: FloatArray
    rows: float


def expected_spread(rows: FloatArray, labels: IntArray, weights: FloatArray, variances: FloatArray) -> ClassSpread:
    """Return the pooled covariance within classes, drawn towards its diagonal; without labels that of the table.

    It counts for as many rows as it has degrees of freedom, at least one and at most a hundred. With few labelled rows
    the correlations are drawn more: of d columns, d + 1 rows without correlation are added.

    Parameters
    ----------
    rows : (m, d)
        Labelled rows; NaN where a cell is missing.
    labels : (m,)
        Their label codes.
    weights : (m,)
        How many rows each stands for.
    variances : (d,)
        Of the table; a column that never changes has none.
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
