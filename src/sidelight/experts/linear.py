"""Multinomial logistic regression on the coordinates of the table."""

from dataclasses import dataclass

import numpy as np
from scipy.special import softmax
from sklearn.linear_model import LogisticRegression

from sidelight._storable import storable
from sidelight._typing import FloatArray
from sidelight.experts.expert import Lesson, Opinion
from sidelight.experts.view import View

_MAX_ITER = 300


@storable("LinearOpinion")
@dataclass(frozen=True, eq=False)
class LinearOpinion:
    """Log odds linear in the coordinates: coefficients (q, classes) and intercepts (classes,)."""

    coefficients: FloatArray
    intercepts: FloatArray

    def probabilities(self, view: View) -> FloatArray:
        """Return the probability of each class."""
        return np.asarray(softmax(view.coordinates @ self.coefficients + self.intercepts, axis=1))


@dataclass(frozen=True)
class LinearExpert:
    """Logistic regression with a ridge penalty, as scikit-learn has it by default."""

    name: str = "linear"
    prior_weight: float = 0.08
    C: float = 1.0

    def consult(self, view: View, lesson: Lesson, random: np.random.RandomState) -> Opinion:
        """Learn from the lesson, and from all other folds for the rows held out."""
        learned = _regression(view, lesson, self.C)
        held_out = np.empty((len(lesson.rows), lesson.n_classes))
        for fold in np.unique(lesson.folds):
            out = np.flatnonzero(lesson.folds == fold)
            others = lesson.part(np.flatnonzero(lesson.folds != fold))
            held_out[out] = _regression(view, others, self.C).probabilities(view.take(lesson.rows[out]))
        return Opinion(learned, learned.probabilities(view), held_out)


def _regression(view: View, lesson: Lesson, C: float) -> LinearOpinion:
    """Return the regression; a class without rows is as improbable as one row among those there are."""
    present = np.unique(lesson.codes)
    coefficients = np.zeros((view.coordinates.shape[1], lesson.n_classes))
    intercepts = np.full(lesson.n_classes, -np.log1p(len(lesson.rows)))
    if len(present) < 2:
        intercepts[present] = 0.0
        return LinearOpinion(coefficients, intercepts)
    model = LogisticRegression(C=C, max_iter=_MAX_ITER)
    model.fit(view.coordinates[lesson.rows], lesson.codes, sample_weight=lesson.weights)
    if len(present) == 2:
        coefficients[:, present[1]], intercepts[present] = model.coef_[0], (0.0, model.intercept_[0])
    else:
        coefficients[:, present], intercepts[present] = model.coef_.T, model.intercept_
    return LinearOpinion(coefficients, intercepts)
