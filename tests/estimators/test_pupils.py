"""Opinions of teachers and pupils together are as certain as those of the teachers."""

import numpy as np
import pytest
from scipy.special import log_softmax, softmax

from sidelight.estimators.guided.pupils import tempering


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
