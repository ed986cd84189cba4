"""Pupils: experts that learn from what the others together believe of all rows.

Few labels leave most of a table unseen by an expert that learns from labels alone. A pupil learns from every row, as
the class it is believed to have, and gives its opinion on a row without having been told what is believed of it. Where
the others disagree within a group of similar rows, it takes the side of the majority (as in self-training, with several
teachers). The fewer statements there are, the more pupils count. They agree with each other more often than they are
right, so all opinions together are tempered until rows are, on average, as certain as to the teachers alone, whose
probabilities were learned on statements held out. Where labels are few, these flatter still, and rows are somewhat less
certain than that.
"""

from typing import NamedTuple

import numpy as np
from scipy.optimize import brentq
from scipy.special import log_softmax, softmax
from sklearn.ensemble import ExtraTreesClassifier

from sidelight._typing import FloatArray
from sidelight.estimators.guided.rounds import Round, Statements, linked_shares
from sidelight.experts import ForestExpert, GaussianExpert, LinearExpert, View
from sidelight.experts.expert import Expert, Lesson, floored
from sidelight.experts.folds import stratified_folds


class Pupil(NamedTuple):
    """An expert, and how much its opinion counts where there are no statements; its teachers count one in sum."""

    expert: Expert
    weight: float


PUPILS = (
    Pupil(LinearExpert("linear pupil"), 0.2),
    Pupil(ForestExpert("forest pupil", growers=(ExtraTreesClassifier,)), 0.4),
    Pupil(GaussianExpert("Gaussian pupil", 0.1, unlabelled_weight=0.0), 0.1),
)
# How much less certain few labels leave a row: scores are smaller by this share where there is hardly a label.
_LESS_CERTAIN = 0.2
# How much less the teachers count where pupils count fully.
_TEACHERS_LESS = 0.6
# With this many links for each class, pupils count half. A label counts as so many links: it teaches the other experts
# sooner what they need.
_LINKS = 10.0
_LINKS_OF_A_LABEL = 2.5
# How much a row counts whose class is believed with certainty.
_BELIEVED = 0.2
_FOLDS = 2
# By which factor scores become smaller at most, and larger.
_LEAST_FACTOR, _MOST_FACTOR = 0.05, 2.0


def with_pupils(view: View, statements: Statements, teachers: Round, random: np.random.RandomState) -> Round:
    """Let pupils learn from what the experts of a round believe, and join them."""
    n_classes = teachers.log_shares.shape[1]
    lesson = _beliefs(teachers, statements, random)
    n_labels = np.count_nonzero(statements.codes >= 0)
    n_links = len(statements.pairs) + _LINKS_OF_A_LABEL * n_labels
    part = _LINKS * n_classes / (_LINKS * n_classes + n_links)
    opinions = [pupil.expert.consult(view, lesson, random) for pupil in PUPILS]
    spoken = np.array([teachers.log_shares, *(floored(opinion.held_out) for opinion in opinions)])
    weights = part * np.array([pupil.weight for pupil in PUPILS])
    teaching = 1 - _TEACHERS_LESS * part
    scores = np.tensordot(np.concatenate([[teaching], weights]), spoken, 1)
    temper = tempering(scores, float(np.exp(teachers.log_shares.max(axis=1)).mean()))
    if n_labels:
        temper *= 1 - _LESS_CERTAIN * part
    return teachers._replace(
        learned=(*teachers.learned, *(opinion.learned for opinion in opinions)),
        weights=temper * np.concatenate([teaching * teachers.weights, weights]),
        log_shares=np.asarray(log_softmax(temper * scores, axis=1)),
    )


def tempering(scores: FloatArray, certainty: float) -> float:
    """Return the factor with which scores (n, classes) have this mean certainty, the largest probability of a row.

    It is one of the least and the most factor where none between them does.
    """

    def excess(log_factor: float) -> float:
        return float(softmax(np.exp(log_factor) * scores, axis=1).max(axis=1).mean()) - certainty

    least, most = np.log(_LEAST_FACTOR), np.log(_MOST_FACTOR)
    if excess(least) >= 0:
        return _LEAST_FACTOR
    if excess(most) <= 0:
        return _MOST_FACTOR
    return float(np.exp(brentq(excess, least, most, xtol=1e-6)))


def _beliefs(teachers: Round, statements: Statements, random: np.random.RandomState) -> Lesson:
    """Return all rows with the class they are believed to have; what is stated counts more."""
    shares: FloatArray = np.exp(teachers.log_shares)
    rows, known = linked_shares(teachers.log_shares, statements.side, teachers.link_error)
    shares[rows] = known
    certainty = np.square(shares.max(axis=1))
    codes = shares.argmax(axis=1)
    weights = np.where(statements.codes >= 0, 1.0, _BELIEVED * certainty)
    weights[rows] = np.maximum(weights[rows], certainty[rows])
    return Lesson(np.arange(len(codes)), codes, weights, stratified_folds(codes, random, _FOLDS), shares.shape[1])
