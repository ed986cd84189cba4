"""Outliers before a fit: columns measured without them, and rows that no start should count."""

import numpy as np

from sidelight._typing import BoolArray, FloatArray, IntArray
from sidelight.estimators.starts.sample import StartRows
from sidelight.graphs.neighbours import nearest_others
from sidelight.tables.quantiles import trimmed_moments, weighted_quantiles
from sidelight.tables.survey import Survey

# A row is compared with others by the distance to this neighbour: outliers have few of them near.
_NEIGHBOUR = 5
# Distances are compared on a logarithmic scale, with Tukey's fences; equal rows have none to speak of.
_BEYOND_QUARTILES = 1.5
_LEAST_DISTANCE = 1e-3


def steady_survey(survey: Survey, few: StartRows, columns: IntArray) -> Survey:
    """Return the survey in which means and variances of some columns are those without outlying cells.

    They are measured on the rows to start from. A column most of whose cells are equal stays as it is.
    """
    means, variances = trimmed_moments(few.values[:, columns], few.problem.row_weights())
    mean, variance = survey.mean.copy(), survey.variance.copy()
    mean[columns] = np.where(np.isnan(means), mean[columns], means)
    variance[columns] = np.where(np.isnan(variances) | (variances <= 0), variance[columns], variances)
    return survey._replace(mean=mean, variance=variance)


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
