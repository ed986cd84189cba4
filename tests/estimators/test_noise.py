"""Rows that belong nowhere: found, named -1 and nothing else; the rest of the fit as without them."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import adjusted_rand_score

from oracles.statements import random_side
from sidelight import BayesianMixture, LabelledMixture, SideInformation
from sidelight.estimators.starts.outliers import outlying_rows


@pytest.fixture(
    scope="module",
    params=[
        LabelledMixture(3, noise=True, random_state=0),
        LabelledMixture(3, noise=True, assignment="hard", covariance_type="tied", random_state=0),
        BayesianMixture(noise=True, random_state=0),
        BayesianMixture(noise=True, family="student_t", random_state=0),
        BayesianMixture(noise=True, covariance_type="diag", weights="dirichlet", random_state=0),
    ],
    ids=["labelled", "hard", "bayesian", "student", "diagonal"],
)
def model(request):
    """Mixtures fitted to three heaps and twenty outliers."""
    return request.param.fit(heaps()[0])


def heaps(n_outliers=20, seed=0):
    """Return three heaps of rows, their numbers, and outliers after them with number -1."""
    rng = np.random.default_rng(seed)
    y = np.repeat([0, 1, 2], 60)
    X = np.array([[0.0, 0.0], [12.0, 0.0], [0.0, 12.0]])[y] + rng.normal(size=(180, 2))
    far = rng.uniform(-60, 60, size=(20 * n_outliers + 1, 2))
    far = far[np.abs(far - 6).max(axis=1) > 15][:n_outliers]
    return np.concatenate([X, far]), np.append(y, np.full(n_outliers, -1))


def test_outliers_are_noise_and_the_rest_is_not(model):
    _, y = heaps()
    assert model.n_clusters_ == 3
    assert adjusted_rand_score(y, model.labels_) > 0.98
    assert (model.labels_[180:] == -1).all()
    assert len(model.cluster_names_) == len(model.weights_) == 3
    assert 0.05 < model.noise_weight_ < 0.2
    assert model.weights_.sum() + model.noise_weight_ == pytest.approx(1.0)
    np.testing.assert_allclose(model.posterior_.sum(axis=1) + model.noise_probability_, 1.0)
    assert model.component_clusters_.tolist() == [0, 1, 2]


def test_new_rows_far_from_all_clusters_are_noise(model):
    X, _ = heaps()
    assert model.predict([[1e6, -1e6], [0.0, 0.0]]).tolist()[0] == -1
    chances = model.predict_proba([[1e6, -1e6], [0.0, 0.0]])
    assert chances.shape == (2, 3)
    assert chances[0].sum() < 0.01
    assert chances[1].sum() > 0.99
    assert np.isfinite(model.score_samples(X)).all()
    rows, clusters = model.sample(50)
    assert rows.shape == (50, 2)
    assert set(clusters) <= {0, 1, 2}


@pytest.mark.parametrize("kind", [LabelledMixture, BayesianMixture])
def test_a_given_share_is_kept_to(kind):
    X, _ = heaps()
    assert kind(3, noise=0.25, random_state=0).fit(X).noise_weight_ == pytest.approx(0.25)


@pytest.mark.parametrize("noise", [None, False])
def test_without_noise_there_is_none(noise):
    X, _ = heaps()
    model = LabelledMixture(3, noise=True, random_state=0).fit(X).set_params(noise=noise).fit(X)
    assert not hasattr(model, "noise_weight_")
    assert not hasattr(model, "noise_probability_")
    plain = LabelledMixture(3, random_state=0).fit(X)
    np.testing.assert_array_equal(model.posterior_, plain.posterior_)


@pytest.mark.parametrize("noise", [0, 1.0, -0.1, "yes", np.nan])
def test_other_values_are_refused(noise):
    with pytest.raises(ValueError, match="noise=.* must be None, True, or a share"):
        LabelledMixture(2, noise=noise).fit(heaps()[0])


def test_clean_tables_have_next_to_no_noise():
    X, y = heaps(n_outliers=0)
    for model in (LabelledMixture(3, noise=True, random_state=0), BayesianMixture(noise=True, random_state=0)):
        assert (model.fit(X).labels_ == -1).mean() < 0.03
        assert adjusted_rand_score(y, model.labels_) > 0.95


@pytest.mark.parametrize("kind", [LabelledMixture, BayesianMixture])
def test_a_labelled_row_is_never_noise(kind):
    X, y = heaps()
    known = np.full(len(y), -1)
    known[[0, 1, 2, 60, 61, 62, 120, 121, 122]] = np.repeat([0, 1, 2], 3)
    known[180] = 0
    model = kind(noise=True, random_state=0).fit(X, known)
    assert (model.labels_[known >= 0] == known[known >= 0]).all()
    assert model.noise_probability_[180] < 1e-9
    assert not model.violations_


def test_rows_of_a_block_are_noise_together():
    X, _ = heaps()
    side = SideInformation.build(len(X), blocks=[[180, 181]])
    for model in (LabelledMixture(3, noise=True, random_state=0), BayesianMixture(noise=True, random_state=0)):
        assert model.fit(X, side=side).labels_[[180, 181]].tolist() == [-1, -1]
        assert not model.violations_


def test_links_between_noise_rows_are_kept():
    X, _ = heaps()
    model = BayesianMixture(noise=True, random_state=0).fit(X, must_link=[(180, 181)], cannot_link=[(0, 60)])
    assert model.labels_[180] == model.labels_[181] == -1
    assert not model.violations_


@settings(max_examples=8)
@given(seed=st.integers(0, 1000), labels=st.booleans(), links=st.booleans(), blocks=st.booleans())
def test_the_bound_never_falls(seed, labels, links, blocks):
    X, _ = heaps(seed=seed)
    rng = np.random.default_rng(seed)
    chosen = rng.permutation(len(X))[:60]
    side = random_side(rng, 60, labels=labels, links=links, blocks=blocks)
    model = BayesianMixture(5, noise=True, prune=False, max_iter=15, tol=0, random_state=0, unlabelled_weight=1)
    with pytest.warns(match="still rising"):
        model.fit(X[chosen], side=side)
    rises = np.diff(model.lower_bounds_)
    assert (rises >= -1e-9 * np.abs(model.lower_bounds_[1:])).all(), rises


@pytest.mark.parametrize("assignment", ["soft", "hard"])
@pytest.mark.parametrize("family", ["gaussian", "student_t"])
def test_the_likelihood_never_falls(assignment, family):
    X, _ = heaps()
    model = LabelledMixture(
        4, noise=True, family=family, assignment=assignment, max_iter=2000, tol=1e-7, init_params="k-means++"
    )
    rises = np.diff(model.set_params(random_state=3).fit(X).lower_bounds_)
    assert (rises >= -1e-9 * np.abs(model.lower_bound_)).all(), rises


def test_mixed_tables_with_missing_cells_have_noise():
    X, y = heaps()
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(X, columns=["a", "b"])
    frame["colour"] = np.array(["red", "green", "blue"])[np.where(y < 0, rng.integers(3, size=len(y)), y)]
    frame["visits"] = rng.poisson(np.array([1.0, 4.0, 9.0, 30.0])[y])
    frame["sold"] = rng.random(len(y)) < 0.5
    frame.loc[::9, "a"] = np.nan
    model = BayesianMixture(noise=True, random_state=0).fit(frame)
    assert adjusted_rand_score(y[:180], model.labels_[:180]) > 0.9
    assert (model.labels_[180:] == -1).mean() > 0.7
    by_name = BayesianMixture(noise=True, family={"a": "student_t", "b": "student_t"}, random_state=0).fit(frame)
    assert (by_name.labels_[180:] == -1).mean() > 0.7


def test_rows_of_word_counts_have_no_noise():
    with pytest.raises(ValueError, match="describes whole rows; leave noise out"):
        BayesianMixture(noise=True, family="multinomial").fit(np.random.default_rng(0).poisson(3, size=(20, 4)))


def test_streams_keep_their_noise():
    X, y = heaps()
    order = np.random.default_rng(0).permutation(len(X))
    model = BayesianMixture(6, noise=True, random_state=0)
    for part in np.array_split(order, 3):
        model.partial_fit(X[part])
        assert len(model.labels_) == len(model.noise_probability_) == len(part)
    assert adjusted_rand_score(y, model.predict(X)) > 0.9


def test_a_start_counts_no_outliers():
    X, y = heaps()
    found = outlying_rows(X, np.ones(len(X)), np.full(len(X), -1))
    assert found[180:].mean() > 0.9
    assert found[:180].mean() < 0.05
    assert not outlying_rows(X, np.ones(len(X)), y)[:180].any()
    assert not outlying_rows(np.zeros((30, 2)), np.ones(30), np.full(30, -1)).any()
    assert not outlying_rows(X[:4], np.ones(4), np.full(4, -1)).any()


def test_small_clusters_are_dropped():
    X, _ = heaps(n_outliers=0)
    few = np.concatenate([X, [[40.0, 40.0]] * 4 + np.random.default_rng(1).normal(size=(4, 2)) * 0.1])
    assert BayesianMixture(random_state=0).fit(few).n_clusters_ == 4
    for least in (10, 0.05):
        model = BayesianMixture(min_cluster_size=least, noise=True, random_state=0).fit(few)
        assert model.n_clusters_ == 3
        assert np.bincount(model.labels_[model.labels_ >= 0]).min() >= 10
        assert (model.labels_[-4:] == -1).all()
    # Without noise the rows go to another cluster, and one is left in any case.
    assert BayesianMixture(min_cluster_size=10, random_state=0).fit(few).n_clusters_ == 3
    assert BayesianMixture(min_cluster_size=1000, random_state=0).fit(few).n_clusters_ == 1


def test_clusters_of_labels_may_be_small():
    X, _ = heaps(n_outliers=0)
    few = np.concatenate([X, [[40.0, 40.0]] * 4 + np.random.default_rng(1).normal(size=(4, 2)) * 0.1])
    known = np.full(len(few), -1)
    known[[0, 60, 120, -1]] = [0, 1, 2, 3]
    model = BayesianMixture(min_cluster_size=10, random_state=0).fit(few, known)
    assert model.n_clusters_ == 4
    assert not model.violations_


@pytest.mark.parametrize("size", [0, 0.0, 1.5, -3, "small"])
def test_other_sizes_are_refused(size):
    with pytest.raises(ValueError, match="min_cluster_size"):
        BayesianMixture(min_cluster_size=size).fit(heaps()[0])
