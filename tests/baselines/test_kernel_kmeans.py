from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.cluster import KMeans
from sklearn.datasets import load_iris, make_moons
from sklearn.metrics import adjusted_rand_score
from sklearn.metrics.pairwise import polynomial_kernel, rbf_kernel

from sidelight.baselines import ConstrainedKernelKMeans
from sidelight.baselines.kernel_kmeans import exchange
from sidelight.baselines.support.similarity import link_matrix, soft_links
from sidelight.side import SideInformation, draw_links


def objective(A, w, z):
    total = (A.diagonal() / w).sum()
    for k in np.unique(z):
        total -= A[np.ix_(z == k, z == k)].sum() / w[z == k].sum()
    return total


@settings(max_examples=80, deadline=None)
@given(st.integers(0, 10_000))
def test_moves_never_raise_the_objective_and_end_where_none_lowers_it(seed):
    rng = np.random.default_rng(seed)
    n, k = 9, 3
    A = rng.normal(size=(n, n))
    A = A + A.T
    w = rng.uniform(0.5, 2, size=n)
    start = rng.permutation(np.arange(n) % k)
    run = exchange(A, w, start, k, max_iter=200)
    steps = np.array(run.objectives)
    assert run.converged
    assert np.all(np.diff(steps) <= 1e-9 * np.abs(steps[:-1]))
    assert steps[0] <= objective(A, w, start) + 1e-9
    assert steps[-1] == pytest.approx(objective(A, w, run.clusters))
    for row, cluster in product(range(n), range(k)):
        moved = run.clusters.copy()
        moved[row] = cluster
        if len(np.unique(moved)) == k:
            assert objective(A, w, moved) >= steps[-1] - 1e-9


def test_with_a_linear_kernel_and_no_links_it_is_k_means():
    X = load_iris().data
    model = ConstrainedKernelKMeans(3, kernel="linear", row_weights="uniform", n_init=10, random_state=0).fit(X)
    reference = KMeans(3, n_init=10, random_state=0).fit(X)
    # Single moves can leave the fixed points of Lloyd's steps, so the sum of squares may be lower, never higher.
    assert model.objective_ <= reference.inertia_ * (1 + 1e-9)
    assert model.objective_ == pytest.approx(
        sum(np.square(X[model.labels_ == k] - X[model.labels_ == k].mean(axis=0)).sum() for k in range(3)), rel=1e-9
    )
    centres = np.array([X[model.labels_ == k].mean(axis=0) for k in range(3)])
    nearest = np.square(X[:, None] - centres).sum(axis=2).argmin(axis=1)
    np.testing.assert_array_equal(model.predict(X), nearest)


def test_a_precomputed_kernel_and_a_callable_give_what_the_named_one_gives():
    X, y = make_moons(80, noise=0.05, random_state=0)
    links = draw_links(y, 10, random_state=0)
    known = {"must_link": links.must_link, "cannot_link": links.cannot_link}
    named = ConstrainedKernelKMeans(2, kernel="poly", gamma=0.5, degree=2, random_state=0).fit(X, **known)
    kernel = polynomial_kernel(X, gamma=0.5, degree=2)
    given_ = ConstrainedKernelKMeans(2, kernel="precomputed", random_state=0).fit(kernel, **known)
    called = ConstrainedKernelKMeans(
        2, kernel=lambda a, b, gamma: (gamma * a @ b + 1) ** 2, kernel_params={"gamma": 0.5}, random_state=0
    ).fit(X, **known)
    np.testing.assert_array_equal(named.labels_, given_.labels_)
    np.testing.assert_array_equal(named.labels_, called.labels_)
    new = X[:7] + 0.01
    np.testing.assert_array_equal(named.predict(new), given_.predict(polynomial_kernel(new, X, gamma=0.5, degree=2)))


def test_two_moons_with_the_bandwidth_found():
    scores = []
    for seed in range(20):
        X, y = make_moons(400, noise=0.08, random_state=seed)
        links = draw_links(y, 40, random_state=seed)
        model = ConstrainedKernelKMeans(2, random_state=seed)
        model.fit(X, must_link=links.must_link, cannot_link=links.cannot_link)
        scores.append(adjusted_rand_score(y, model.labels_))
    assert sum(score >= 0.95 for score in scores) >= 18


def test_rows_far_from_all_others_go_to_the_nearest():
    X, y = make_moons(100, noise=0.03, random_state=0)
    model = ConstrainedKernelKMeans(random_state=0).fit(X, np.where(np.arange(100) < 20, y, -1))
    assert rbf_kernel([[1e4, 0.0]], X, gamma=model.gamma_).sum() == 0
    assert model.predict([[1e4, 0.0]])[0] == model.labels_[np.argmax(X[:, 0])]


def test_misuse_is_refused():
    with pytest.raises(ValueError, match="needs a square X"):
        ConstrainedKernelKMeans(2, kernel="precomputed").fit(np.ones((3, 2)))
    with pytest.raises(ValueError, match="needs a kernel without negative entries"):
        ConstrainedKernelKMeans(2, kernel="linear", row_weights="degree").fit(np.array([[1.0], [-1.0], [2.0]]))


class Counted(np.ndarray):
    """A matrix that counts the products with it, and its rows that are looked up."""

    products = rows = 0

    def __array_ufunc__(self, ufunc, method, *inputs, **settings):
        Counted.products += ufunc is np.matmul
        plain = [np.asarray(each) for each in inputs]
        settings["out"] = tuple(np.asarray(each) for each in settings["out"]) if "out" in settings else None
        return getattr(ufunc, method)(*plain, **settings)

    def __getitem__(self, key):
        Counted.rows += np.ndim(key) == 0 and not isinstance(key, tuple)
        return np.asarray(self)[key]


def test_many_labels_take_one_product_and_few_moves():
    n, n_clusters = 600, 10
    rng = np.random.default_rng(0)
    truth = np.arange(n) % n_clusters
    X = 2 * rng.normal(size=(n_clusters, 5))[truth] + rng.normal(size=(n, 5))
    kernel = rbf_kernel(X)
    weights = kernel.sum(axis=1)
    side = SideInformation.build(n, y=np.where(rng.random(n) < 0.4, truth, -1))
    links = link_matrix(soft_links(side), n).toarray()
    similarity = (kernel + 0.1 * weights.mean() * links).view(Counted)
    Counted.products = Counted.rows = 0
    run = exchange(similarity, weights, rng.permutation(truth), n_clusters, max_iter=100)
    assert run.converged
    assert Counted.products == 1
    # A move looks up two rows: from a random start, a row moves about once.
    assert Counted.rows <= 4 * n
    assert len(run.objectives) <= 20
