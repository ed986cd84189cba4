"""Outliers before a fit: columns measured without them, and rows that no start should count."""

import numpy as np

from sidelight._typing import BoolArray, FloatArray, IntArray
from sidelight.estimators.starts.sample import StartRows
from sidelight.families.gaussian.full import standardised
from sidelight.graphs.neighbours import nearest_others
from sidelight.tables.quantiles import trimmed_moments, weighted_quantiles
from sidelight.tables.survey import Survey

# A row is compared with others by the distance to this neighbour: outliers have few of them near.
_NEIGHBOUR = 5
# Distances are compared on a logarithmic scale, with Tukey's fences; equal rows have none to speak of.
_BEYOND_QUARTILES = 1.5
_LEAST_DISTANCE = 1e-3
# How much wider than the table without outlying rows a component may be, and its least width in any direction: both as
# multiples of variances.
_WIDER = 2.0
_LEAST_SHARE = 1e-5


def steady_survey(survey: Survey, few: StartRows, columns: IntArray) -> Survey:
    """Return the survey in which means and variances of some columns are those without outlying cells.

    They are measured on the rows to start from. A column most of whose cells are equal stays as it is.
    """
    means, variances = trimmed_moments(few.values[:, columns], few.problem.row_weights())
    mean, variance = survey.mean.copy(), survey.variance.copy()
    mean[columns] = np.where(np.isnan(means), mean[columns], means)
    variance[columns] = np.where(np.isnan(variances) | (variances <= 0), variance[columns], variances)
    return survey._replace(mean=mean, variance=variance)


def widest_covariance(survey: Survey, few: StartRows, columns: IntArray) -> FloatArray:
    """Return the covariance (c, c) of some columns that no component should exceed: twice that without outlying rows.

    ``survey`` has their means and variances without outlying cells. Missing cells lie at the mean; covariances are then
    those of the observed cells as far as they go.
    """
    own = survey.only(columns)
    cells, weights = few.values[:, columns], few.problem.row_weights()
    points = standardised(cells, own)
    inner = weights * ~outlying_rows(points, weights, few.problem.side.labels)
    deviations = points - np.average(points, axis=0, weights=inner)
    observed = np.maximum(np.average(~np.isnan(cells), axis=0, weights=inner), 1 / len(cells))
    deviations *= own.scale / np.sqrt(observed)
    covariance = (deviations * inner[:, None]).T @ deviations / inner.sum()
    # So that it can be inverted where columns determine each other. More would leave outliers room in such directions.
    return np.asarray(_WIDER * (covariance + _LEAST_SHARE * np.diag(np.square(own.scale))))


def outlying_rows(points: FloatArray, weights: FloatArray, codes: IntArray) -> BoolArray:
    """Say of each row whether its neighbours are much farther away than those of most rows; not of labelled ones.

    Byers and Raftery (1998) find clutter by the same distances, but as a mixture of two densities, which clusters of
    different densities mislead.

    Parameters
    ----------
    points : (m, d)
        In units in which distances mean something.
    weights : (m,)
    codes : (m,)
        Label codes, -1 unknown.
    """
    n = len(points)
    if n <= 2 * _NEIGHBOUR:
        return np.zeros(n, dtype=bool)
    distances = nearest_others(points, _NEIGHBOUR).distances[:, -1]
    positive = distances[distances > 0]
    if not len(positive):
        return np.zeros(n, dtype=bool)
    logs = np.log(np.maximum(distances, _LEAST_DISTANCE * np.median(positive)))
    low, high = weighted_quantiles(logs[:, None], weights, (0.25, 0.75))[:, 0]
    return (logs > high + _BEYOND_QUARTILES * (high - low)) & (codes < 0)
