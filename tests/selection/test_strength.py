"""The strength of side information, by held-out statements."""

import numpy as np
import pytest
from sklearn.datasets import make_blobs

from sidelight import ClassMixture, HMRFKMeans, SideInformation
from sidelight.selection import select_strength
from sidelight.selection.strength import log_probability, split_statements, violated_fraction
from sidelight.side import draw_labels, draw_side

X, TRUTH = make_blobs(160, centers=[[-4, 0], [0, 0], [4, 0]], random_state=0)
CLASSES = np.array([0, 1, 0])[TRUTH]


class FixedModel:
    """A fitted model with a given posterior."""

    def __init__(self, posterior, names):
        self.posterior_ = np.asarray(posterior, dtype=float)
        self.labels_ = self.posterior_.argmax(axis=1)
        self.cluster_names_ = np.array(names, dtype=object)


def test_every_statement_is_held_out_once_and_fitted_otherwise():
    side = draw_side(CLASSES, labels=11, links=17, confidence=0.9, random_state=0)
    side = side | SideInformation.build(160, blocks=[[3, 4, 5]])
    folds = split_statements(side, 4, np.random.RandomState(0))
    for fold in folds:
        both = fold.train | fold.held_out
        assert both.without_unused_names() == side.without_unused_names()
        assert (fold.train.blocks >= 0).sum() == 3
        assert not (fold.held_out.blocks >= 0).any()
    for name in ("must_link", "cannot_link"):
        assert sum(len(getattr(fold.held_out, name)) for fold in folds) == len(getattr(side, name))
    held_rows = np.concatenate([np.flatnonzero(fold.held_out.labels >= 0) for fold in folds])
    np.testing.assert_array_equal(np.sort(held_rows), np.flatnonzero(side.labels >= 0))
    assert max(len(f.held_out.must_link) for f in folds) - min(len(f.held_out.must_link) for f in folds) <= 1


def test_probabilities_and_violations_are_counted_right():
    model = FixedModel([[0.9, 0.1], [0.8, 0.2], [0.3, 0.7], [0.5, 0.5]], ["b", "a"])
    held = SideInformation.build(
        4,
        must_link=[(0, 1)],
        cannot_link=[(1, 2)],
        confidence={"must_link": 0.9, "cannot_link": 1.0},
        y=[None, None, "a", "gone"],
    )
    together, same = 0.9 * 0.8 + 0.1 * 0.2, 0.8 * 0.3 + 0.2 * 0.7
    expected = np.log(
        [0.9 * together + 0.1 * (1 - together), 0.999 * (1 - same) + 0.001 * same, 0.999 * 0.7 + 0.001 * 0.3, 0.001]
    ).mean()
    assert log_probability(model, held) == pytest.approx(expected)
    assert violated_fraction(model, held) == pytest.approx(1 / 4)


def test_a_strength_that_helps_is_chosen():
    side = draw_side(CLASSES, links=60, random_state=1)
    model = ClassMixture(3, init_params="kmeans", random_state=0)
    found = select_strength(model, X, side, strengths=[0.0, 2.0], cv=4)
    assert found.best == 2.0
    assert found.scores.shape == (2, 4)
    assert not found.lower_is_better
    assert found.best_estimator.strength == 2.0
    assert found.best_estimator.violations_.n_statements == 60
    again = select_strength(model, X, side, strengths=[0.0, 2.0], cv=4, n_jobs=2)
    np.testing.assert_array_equal(found.scores, again.scores)


def test_labels_are_held_out_too():
    partial = draw_labels(CLASSES, fraction=0.3, random_state=0)
    found = select_strength(ClassMixture(3, init_params="kmeans", random_state=0), X, y=partial, strengths=[1.0], cv=3)
    assert found.values[0] > np.log(0.8)


def test_estimators_without_probabilities_are_judged_by_violations():
    side = draw_side(CLASSES, links=40, random_state=1)
    found = select_strength(
        HMRFKMeans(3, random_state=0),
        X,
        side,
        strengths=[0.5, 2.0],
        criterion="violations",
        parameter="link_weight",
        cv=3,
    )
    assert found.lower_is_better
    assert (found.scores >= 0).all()
    assert (found.scores <= 1).all()


def test_errors_say_what_to_do():
    model = ClassMixture(3)
    with pytest.raises(ValueError, match="cv=5 folds need as many links or labels, but there are 2; use fewer folds"):
        select_strength(model, X, must_link=[(0, 1), (2, 3)])
    with pytest.raises(ValueError, match="cv=1 must be a whole number of at least 2"):
        select_strength(model, X, must_link=[(0, 1), (2, 3)], cv=1)
    with pytest.raises(ValueError, match="criterion='ari' is not known; choose one of 'log_probability', 'violations'"):
        select_strength(model, X, must_link=[(0, 1), (2, 3)], criterion="ari")
    with pytest.raises(ValueError, match="strengths is empty"):
        select_strength(model, X, must_link=[(0, 1), (2, 3)], strengths=[])
    with pytest.raises(ValueError, match="side has 3 rows, but X has 160"):
        select_strength(model, X, SideInformation.build(3))
