"""Gaussian classes with covariances shrunken towards the one they share; rows of unknown class may count too.

The mean of a class is that of its rows and half a row at the mean of the table; its scatter is joined by that of some
rows of the covariance within all classes: so many, where that is wanted, that classes share one covariance. Densities
are the predictive ones, Student t distributions (Murphy 2007), which know that few rows tell little of a covariance.
Rows of unknown class count ``unlabelled_weight`` each, by the probability of their classes, for a few steps of
expectation and maximisation.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.linalg import solve_triangular
from scipy.special import gammaln, softmax

from sidelight._storable import storable
from sidelight._typing import FloatArray
from sidelight.experts.expert import Lesson, Opinion
from sidelight.experts.view import View

_MOST_DIMENSIONS = 20
_MEAN_ROWS = 0.5
# The covariance within classes starts from this share of the variances of the table.
_WITHIN = 0.3
_STEPS = 10
# Rows that the covariance within classes counts as, beside one for each coordinate: where every class has its own
# covariance, and where all share one but for what very many rows say.
OWN, SHARED = 10.0, 1000.0


@storable("GaussianOpinion")
@dataclass(frozen=True, eq=False)
class GaussianOpinion:
    """Classes as Student t distributions in the first coordinates.

    Parameters
    ----------
    log_shares : (classes,)
    means : (classes, q)
    factors : (classes, q, q)
        Lower Cholesky factors of the scale matrices.
    degrees : (classes,)
        Degrees of freedom.
    """

    log_shares: FloatArray
    means: FloatArray
    factors: FloatArray
    degrees: FloatArray

    def probabilities(self, view: View) -> FloatArray:
        """Return the probability of each class."""
        return np.asarray(softmax(self.log_joint(view.coordinates[:, : self.means.shape[1]]), axis=1))

    def log_joint(self, points: FloatArray) -> FloatArray:
        """Return the log share plus the log density of each class (n, classes), up to a constant."""
        q = points.shape[1]
        found = np.empty((len(points), len(self.means)))
        for c, (mean, factor, degrees) in enumerate(zip(self.means, self.factors, self.degrees, strict=True)):
            whitened = solve_triangular(factor, (points - mean).T, lower=True, check_finite=False)
            distances = np.einsum("ij,ij->j", whitened, whitened)
            constant = gammaln((degrees + q) / 2) - gammaln(degrees / 2) - 0.5 * q * np.log(degrees)
            constant -= np.log(np.diag(factor)).sum()
            found[:, c] = constant - 0.5 * (degrees + q) * np.log1p(distances / degrees)
        return found + self.log_shares


class _Rows(NamedTuple):
    """Rows in few coordinates (n, q), variances (q,) of the table, how much unlabelled rows and the prior count."""

    points: FloatArray
    variances: FloatArray
    unlabelled_weight: float
    prior_rows: float


@dataclass(frozen=True)
class GaussianExpert:
    """Gaussian classes.

    ``unlabelled_weight`` is how much a row of unknown class counts, ``prior_rows`` as how many rows the covariance
    within all classes does, beside one for each coordinate.
    """

    name: str
    prior_weight: float
    unlabelled_weight: float
    prior_rows: float = OWN

    def consult(self, view: View, lesson: Lesson, random: np.random.RandomState) -> Opinion:
        """Learn from the lesson, and from all other folds for the rows held out."""
        points = view.coordinates[:, :_MOST_DIMENSIONS]
        prior_rows = points.shape[1] + self.prior_rows
        rows = _Rows(points, points.var(axis=0) + 1e-6, self.unlabelled_weight, prior_rows)
        learned = _learn(rows, lesson)
        held_out = np.empty((len(lesson.rows), lesson.n_classes))
        for fold in np.unique(lesson.folds):
            out = np.flatnonzero(lesson.folds == fold)
            part = _learn(rows, lesson.part(np.flatnonzero(lesson.folds != fold)))
            held_out[out] = part.probabilities(view.take(lesson.rows[out]))
        return Opinion(learned, learned.probabilities(view), held_out)


def _learn(rows: _Rows, lesson: Lesson) -> GaussianOpinion:
    """Return the classes after a few steps; one where only the lesson counts."""
    given = np.zeros((len(rows.points), lesson.n_classes))
    given[lesson.rows] = lesson.one_hot()
    learned = _classes(rows, given)
    if rows.unlabelled_weight == 0:
        return learned
    unknown = np.ones(len(rows.points), dtype=bool)
    unknown[lesson.rows] = False
    untold = rows.points[unknown]
    for _ in range(_STEPS):
        believed = softmax(learned.log_joint(untold), axis=1)
        given[unknown] = rows.unlabelled_weight * believed
        learned = _classes(rows, given)
    return learned


def _classes(rows: _Rows, given: FloatArray) -> GaussianOpinion:
    """Return the classes of rows that count ``given`` (n, classes)."""
    points, q = rows.points, rows.points.shape[1]
    mass = given.sum(axis=0)
    means = (given.T @ points + _MEAN_ROWS * points.mean(axis=0)) / (mass + _MEAN_ROWS)[:, None]
    counted = np.flatnonzero(given.any(axis=1))
    chosen, counts = points[counted], given[counted]
    scatters = np.empty((len(mass), q, q))
    for c, mean in enumerate(means):
        apart = chosen - mean
        scatters[c] = (apart * counts[:, c, None]).T @ apart
    prior_rows = rows.prior_rows
    within = (scatters.sum(axis=0) + (q + 2) * np.diag(_WITHIN * rows.variances)) / (mass.sum() + q + 2)
    covariances = (scatters + prior_rows * within) / (mass + prior_rows)[:, None, None]
    return GaussianOpinion(
        np.log((mass + 1) / (mass + 1).sum()), means, np.linalg.cholesky(covariances), prior_rows + mass - q + 1
    )
