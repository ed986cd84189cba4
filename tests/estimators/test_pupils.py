"""Opinions of teachers and pupils together are as certain as those of the teachers."""

import numpy as np
import pytest
from scipy.special import log_softmax, softmax

from sidelight import SideInformation
from sidelight.estimators.guided.pupils import tempering, with_pupils
from sidelight.estimators.guided.rounds import Round, Statements
from sidelight.experts import View


def mean_certainty(scores: np.ndarray) -> float:
    return float(softmax(scores, axis=1).max(axis=1).mean())


@pytest.mark.parametrize("factor", [0.06, 0.2, 0.45, 0.9, 1.0, 1.7])
def test_tempered_scores_are_as_certain_as_asked_for(factor):
    scores = 4 * np.random.default_rng(0).normal(size=(200, 3))
    wanted = mean_certainty(factor * scores)
    np.testing.assert_allclose(mean_certainty(tempering(scores, wanted) * scores), wanted, atol=1e-6)


def test_where_no_factor_is_enough_scores_come_as_near_as_they_may():
    # Pupils that all agree are far more certain than their teachers ever were.
    scores = log_softmax(10 * np.eye(2)[np.arange(50) % 2], axis=1)
    assert mean_certainty(scores) > 0.99
    assert mean_certainty(tempering(scores, 0.55) * scores) < 0.65
    # Scores that are all equal have no side to take, whatever the factor.
    assert mean_certainty(tempering(np.zeros((5, 4)), 0.9) * np.zeros((5, 4))) == pytest.approx(0.25)


@pytest.mark.parametrize(("n_labels", "less"), [(4, 0.2 * 20 / 31), (40, 0.2 * 20 / 121), (0, 0.0)])
def test_few_labels_leave_rows_less_certain_than_teachers_say(n_labels, less):
    random = np.random.default_rng(0)
    codes = np.arange(200) % 2
    points = random.normal(size=(200, 2)) + 2.0 * codes[:, None]
    y = np.where(np.arange(200) < n_labels, codes, -1) if n_labels else None
    statements = Statements.of(SideInformation.build(200, y=y, must_link=[(0, 2)]))
    said = log_softmax(np.column_stack([-points.sum(axis=1), points.sum(axis=1) - 4]) / 2, axis=1)
    nothing = np.empty(0)
    teachers = Round((), nothing, said, 0.0, 0.02, nothing, nothing)
    joined = with_pupils(View(points, points), statements, teachers, np.random.RandomState(0))
    certain = mean_certainty(said)
    # A label counts for two and a half links. But for that share, rows are as certain as to their teachers.
    assert mean_certainty(joined.log_shares / (1 - less)) == pytest.approx(certain, abs=1e-6)
    assert (mean_certainty(joined.log_shares) < certain - 1e-3) == (n_labels > 0)
