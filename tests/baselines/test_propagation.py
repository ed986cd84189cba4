import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from sklearn.datasets import load_digits, make_blobs, make_moons

from sidelight.baselines import GraphPropagation
from sidelight.baselines.propagation import propagate
from sidelight.graphs.neighbours import row_graph
from sidelight.side import draw_labels


def dense_solution(W, y, n_classes, smoothness):
    S = np.diag((y >= 0).astype(float))
    Y = np.zeros((len(y), n_classes))
    Y[y >= 0, y[y >= 0]] = 1
    return np.linalg.solve(S + 2 * smoothness * (np.diag(W.sum(axis=1)) - W), S @ Y), S, Y


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 10_000), st.sampled_from([0.01, 0.5, 20.0]))
def test_conjugate_gradients_equal_a_dense_solve(seed, smoothness):
    rng = np.random.default_rng(seed)
    n, n_classes = 30, 3
    W = np.where(rng.random((n, n)) < 0.2, rng.random((n, n)), 0)
    W = np.triu(W, 1) + np.triu(W, 1).T
    W[np.arange(n - 1), np.arange(1, n)] = W[np.arange(1, n), np.arange(n - 1)] = 0.5
    y = np.where(rng.random(n) < 0.3, rng.integers(n_classes, size=n), -1)
    y[:n_classes] = np.arange(n_classes)
    found = propagate(csr_array(W), y, n_classes, smoothness=smoothness, tol=1e-12, max_iter=1000)
    expected, S, Y = dense_solution(W, y, n_classes, smoothness)
    np.testing.assert_allclose(found.shares, expected, atol=1e-8)
    np.testing.assert_allclose(found.shares.sum(axis=1), 1, atol=1e-8)
    assert found.shares.min() >= -1e-8

    def criterion(F):
        smooth = 0.5 * (W * np.square(F[:, None] - F).sum(axis=2)).sum()
        return 0.5 * np.square(S @ F - S @ Y).sum() + smoothness * smooth

    assert found.criterion == pytest.approx(criterion(expected), rel=1e-6, abs=1e-9)
    for _ in range(10):
        assert criterion(expected + 0.01 * rng.normal(size=expected.shape)) > criterion(expected)


@pytest.mark.parametrize("similarity", ["rbf", "binary", "cosine", "dice", "jaccard"])
@pytest.mark.parametrize("n_neighbors", [5, None])
def test_the_estimator_equals_a_dense_solve(similarity, n_neighbors):
    X, y = load_digits(return_X_y=True)
    X, y = X[:150], y[:150]
    partial = draw_labels(y, per_class=4, random_state=0)
    model = GraphPropagation(similarity=similarity, n_neighbors=n_neighbors, gamma=1e-3, smoothness=0.3)
    model.fit(X, partial)
    W = row_graph(X, similarity, n_neighbors=n_neighbors, gamma=1e-3).toarray()
    np.testing.assert_allclose(model.posterior_, dense_solution(W, partial, 10, 0.3)[0], atol=1e-8)
    np.testing.assert_array_equal(model.labels_, model.posterior_.argmax(axis=1))


def test_new_rows_take_the_mean_of_their_neighbours():
    X, y = make_moons(200, noise=0.05, random_state=0)
    partial = draw_labels(y, per_class=3, random_state=0)
    model = GraphPropagation(n_neighbors=6).fit(X, partial)
    new = np.array([[0.3, 0.2], [1e6, 1e6]])
    squares = np.square(new[:, None] - X).sum(axis=2)
    for row, found in zip(squares, model.predict_proba(new), strict=True):
        near = np.argsort(row)[:6]
        weights = np.exp(-model.gamma_ * (row[near] - row[near].min()))
        np.testing.assert_allclose(found, weights @ model.posterior_[near] / weights.sum(), atol=1e-9)
    np.testing.assert_array_equal(model.predict(new), model.predict_proba(new).argmax(axis=1))
    assert (model.labels_ == y).mean() > 0.95


def test_rows_that_no_label_reaches_are_placed_and_counted():
    X = np.concatenate([np.arange(5.0), 100 + np.arange(5.0), 200 + np.arange(5.0)])[:, None]
    y = np.full(15, -1)
    y[[0, 5]] = 0, 1
    with pytest.warns(UserWarning, match=r"No label reaches 5 of 15 rows \(row 10 is the first\)"):
        model = GraphPropagation(n_neighbors=2).fit(X, y)
    assert model.labels_.tolist() == [0] * 5 + [1] * 10
    np.testing.assert_allclose(model.posterior_.sum(axis=1), 1)


def test_rows_joined_by_a_similarity_that_vanishes_count_as_unreached():
    least = np.nextafter(0.0, 1.0)
    edges = np.array([[0.0, 1, 0], [1, 0, least], [0, least, 0]])
    spread = propagate(csr_array(edges), np.array([0, -1, -1]), 1, smoothness=0.01, tol=1e-10, max_iter=100)
    assert spread.reached.tolist() == [True, True, False]
    assert np.isfinite(spread.criterion)
    assert spread.converged


def test_clusters_nobody_labelled_are_seeded():
    X, y = make_blobs(150, centers=3, cluster_std=0.5, random_state=1)
    partial = np.where((y == 0) & (np.arange(150) < 60), "known", None)
    model = GraphPropagation(3, n_neighbors=40, random_state=0).fit(X, partial)
    assert model.cluster_names_.tolist() == ["known", "new 1", "new 2"]
    assert (model.labels_[y == 0] == 0).mean() > 0.9


def test_too_few_steps_say_so():
    X, y = make_moons(200, noise=0.05, random_state=0)
    with pytest.warns(UserWarning, match="raise max_iter"):
        GraphPropagation(max_iter=2).fit(X, draw_labels(y, per_class=3, random_state=0))


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("settings", [{"tol": 0.5}, {"tol": 1e300}, {"tol": 0.3, "smoothness": 1e6}, {"max_iter": 1}])
def test_probabilities_sum_to_one_with_loose_tolerances(settings):
    random = np.random.default_rng(0)
    X = random.normal(size=(60, 2)) + np.repeat([[0], [4]], 30, axis=0)
    y = np.full(60, -1)
    y[[0, 1, 30, 31]] = [0, 0, 1, 1]
    model = GraphPropagation(2, random_state=0, **settings).fit(X, y)
    for probabilities in (model.posterior_, model.predict_proba(X)):
        assert (probabilities >= 0).all()
        np.testing.assert_allclose(probabilities.sum(axis=1), 1, rtol=1e-12)
