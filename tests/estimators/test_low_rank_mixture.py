"""BayesianMixture with covariances of low rank: wide tables, side information, missing cells, relevance of columns."""

import tracemalloc

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import adjusted_rand_score

from sidelight import BayesianMixture, GuidedMixture, load, save
from sidelight.estimators.base.expected_gaussians import spread_numbers
from sidelight.estimators.starts.sample import embedding, rotated
from sidelight.tables.schema import Schema
from sidelight.tables.survey import survey_columns
from sidelight.tables.table import ArrayTable


def wide_table(n=180, d=400, informative=60, seed=0):
    """Return rows of three clusters that differ in the first columns, in units of all sizes, and the clusters."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 3
    centres = np.zeros((3, d))
    centres[:, :informative] = rng.normal(scale=1.5, size=(3, informative))
    common = rng.normal(size=(n, 2)) @ rng.normal(scale=0.7, size=(2, d))
    X = centres[y] + common + rng.normal(size=(n, d))
    return 100 + X * 10 ** rng.uniform(-3, 3, size=d), y


def fitted(X, y=None, **settings):
    return BayesianMixture(covariance_type="low_rank", random_state=0, **settings).fit(X, y)


@pytest.mark.parametrize(("n", "d", "informative"), [(180, 400, 60), (600, 40, 30)])
def test_clusters_of_a_table_are_found_whatever_its_shape(n, d, informative):
    X, truth = wide_table(n, d, informative)
    model = fitted(X)
    assert adjusted_rand_score(truth, model.labels_) > 0.95
    assert model.n_clusters_ == 3
    bounds = np.array(model.lower_bounds_)
    assert np.all(np.diff(bounds) >= -1e-9 * np.abs(bounds[0]))
    means = np.stack([X[model.labels_ == cluster].mean(axis=0) for cluster in range(3)])
    # The subspace leaves some of the noise out of the means.
    assert np.abs((model.means_ - means) / X.std(axis=0)).max() < 1.0
    assert adjusted_rand_score(truth, model.predict(X)) > 0.95
    assert np.isfinite(model.score_samples(X)).all()


def test_columns_that_differ_between_clusters_are_relevant():
    X, _ = wide_table(informative=60)
    X[:, -1] = 3.0
    model = fitted(X, family="gaussian")
    relevance = model.column_relevance_
    assert relevance.shape == (400,)
    assert np.all((relevance >= 0) & (relevance <= 1))
    assert np.median(relevance[:60]) > 0.3
    assert np.median(relevance[60:]) < 0.05
    assert relevance[-1] == 0


def test_missing_cells_are_taken():
    X, truth = wide_table(d=150, informative=40)
    X[np.random.default_rng(1).random(X.shape) < 0.2] = np.nan
    model = fitted(X)
    assert adjusted_rand_score(truth, model.labels_) > 0.9
    assert np.all(np.diff(model.lower_bounds_) >= -1e-9 * np.abs(model.lower_bounds_[0]))
    assert np.isfinite(model.score_samples(X)).all()


def test_labels_and_links_are_heard():
    X, truth = wide_table()
    merged = np.minimum(truth, 1)  # what the labels say is one class are two clusters of the table
    y = np.where(np.arange(180) < 60, merged, -1)
    model = fitted(X, y)
    assert adjusted_rand_score(merged, model.labels_) > 0.8
    apart = BayesianMixture(covariance_type="low_rank", random_state=0).fit(X, must_link=[(0, 3)], cannot_link=[(0, 6)])
    assert apart.labels_[0] == apart.labels_[3]
    assert apart.labels_[0] != apart.labels_[6]


def test_wide_columns_may_be_part_of_a_mixed_table():
    X, truth = wide_table(d=80, informative=40)
    frame = pd.DataFrame(X, columns=[f"gene {j}" for j in range(80)])
    frame["tissue"] = np.array(["a", "b", "b"])[truth]
    model = fitted(frame)
    assert adjusted_rand_score(truth, model.labels_) > 0.95
    assert model.parts_[1]["column_relevance_"].shape == (80,)


def test_a_table_of_categories_alone_has_no_subspace():
    frame = pd.DataFrame({"a": ["x", "y"] * 20, "b": ["u", "v"] * 20})
    assert fitted(frame).n_clusters_ == 2


def test_a_model_comes_back_from_disk(tmp_path):
    X, _ = wide_table(n=30)
    X[3, 5] = np.nan
    model = fitted(X)
    save(model, tmp_path / "model")
    again = load(tmp_path / "model")
    for name in ("predict_proba", "score_samples"):
        np.testing.assert_array_equal(getattr(again, name)(X), getattr(model, name)(X))
    np.testing.assert_array_equal(again.column_relevance_, model.column_relevance_)
    np.testing.assert_array_equal(again.sample(4)[0], model.sample(4)[0])


def test_a_stream_is_followed_in_the_subspace_of_its_first_batch():
    X, truth = wide_table(n=360)
    model = BayesianMixture(covariance_type="low_rank", random_state=0)
    for batch in (X[:180], X[180:]):
        model.partial_fit(batch)
    assert adjusted_rand_score(truth[180:], model.labels_) > 0.9


def test_priors_of_full_covariances_are_refused():
    with pytest.raises(ValueError, match="covariance_type='diag' or 'low_rank'"):
        fitted(wide_table()[0], mean_prior=np.zeros(400))


@pytest.mark.parametrize("covariance_type", ["low_rank", "auto"])
def test_memory_is_a_few_times_the_table(covariance_type):
    X, _ = wide_table(n=60, d=2000)
    tracemalloc.start()
    try:
        BayesianMixture(covariance_type=covariance_type, keep_history=False, random_state=0).fit(X)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    # A single d × d matrix would be 33 times the table.
    assert peak < 10 * X.nbytes


@pytest.mark.parametrize("estimator", [BayesianMixture, GuidedMixture])
def test_few_rows_of_many_columns_take_little_memory(estimator):
    X, truth = wide_table(n=30, d=2000)
    labels = np.where(np.arange(30) < 6, truth, -1)
    tracemalloc.start()
    try:
        model = estimator(random_state=0).fit(X, labels)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert np.isfinite(model.posterior_).all()
    # A covariance matrix of all columns would be 32 MB, in each cluster.
    assert peak < 40 * X.nbytes


@pytest.mark.parametrize("clusters", [2, 3, 5, 8, 12, 55])
def test_rows_to_learn_from_are_of_all_clusters_also_where_these_take_turns(clusters):
    numbers = spread_numbers(10_000, 5000)
    assert 4500 <= len(numbers) <= 5000
    assert numbers.max() < 10_000
    counts = np.bincount(numbers % clusters, minlength=clusters)
    # As even as rows drawn at random would be: within four standard deviations of a binomial count.
    even = len(numbers) / clusters
    assert np.abs(counts - even).max() < 4 * np.sqrt(even * (1 - 1 / clusters))


def test_starts_of_wide_tables_are_points_of_few_coordinates_with_the_same_distances():
    X, _ = wide_table(n=20, d=100)
    columns = Schema.uniform("gaussian", 100, None)
    survey = survey_columns(ArrayTable(X), None, columns)
    points = embedding(X, np.ones(20), columns, survey, np.random.RandomState(0))
    standard = (X - X.mean(axis=0)) / X.std(axis=0)
    assert points.shape[1] <= 20
    np.testing.assert_allclose(points @ points.T, standard @ standard.T, atol=1e-9)
    narrow, few = Schema.uniform("gaussian", 40, None), survey.only(np.arange(40))
    assert embedding(X[:, :40], np.ones(20), narrow, few, np.random.RandomState(0)).shape == (20, 40)
    assert rotated(np.zeros((3, 9))).shape == (3, 1)
