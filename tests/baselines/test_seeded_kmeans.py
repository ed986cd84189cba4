import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.cluster import KMeans
from sklearn.datasets import load_iris

from sidelight.baselines import SeededKMeans
from sidelight.side import draw_labels


def test_seeding_is_k_means_from_the_means_of_the_labelled_rows():
    X, y = load_iris(return_X_y=True)
    partial = draw_labels(y, per_class=5, random_state=0)
    seeds = np.array([X[partial == c].mean(axis=0) for c in range(3)])
    reference = KMeans(3, init=seeds, n_init=1).fit(X)
    model = SeededKMeans().fit(X, partial)
    np.testing.assert_array_equal(model.labels_, reference.labels_)
    np.testing.assert_allclose(model.cluster_centers_, reference.cluster_centers_, rtol=1e-9)
    assert model.inertia_ == pytest.approx(reference.inertia_, rel=1e-9)
    np.testing.assert_array_equal(model.predict(X), model.labels_)


def test_constrained_rows_stay_and_seeded_ones_may_leave():
    X = np.array([[0.0], [0.1], [0.2], [9.0], [9.1], [9.2]])
    wrong = np.array([0, 0, 1, 1, 1, -1])
    free, held = SeededKMeans().fit(X, wrong), SeededKMeans(constrained=True).fit(X, wrong)
    assert free.labels_.tolist() == [0, 0, 0, 1, 1, 1]
    assert free.violations_.labels.tolist() == [2]
    assert held.labels_.tolist() == [0, 0, 1, 1, 1, 1]
    assert not held.violations_


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10_000), st.booleans())
def test_the_objective_never_rises(seed, constrained):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(30, 2)) + 50
    y = np.where(rng.random(30) < 0.3, rng.integers(3, size=30), -1)
    model = SeededKMeans(5, constrained=constrained, random_state=seed).fit(X, y)
    steps = np.array(model.objectives_)
    assert np.all(np.diff(steps) <= 1e-9 * steps[:-1])
    if constrained:
        assert not model.violations_


def test_links_are_refused_with_the_estimators_that_take_them():
    with pytest.raises(ValueError, match="SeededKMeans cannot use must-links: use .*COPKMeans"):
        SeededKMeans(2).fit(np.eye(4), must_link=[(0, 1)])
