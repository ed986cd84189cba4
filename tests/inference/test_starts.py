"""Where to start."""

import numpy as np
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist
from sklearn.datasets import make_blobs

from sidelight.inference.starts import (
    SAMPLE_ROWS,
    choose_rows,
    component_means,
    lloyd,
    match_to_labels,
    nearest_components,
    row_order,
    spread_centres,
)

CENTRES = np.array([[0.0, 0.0], [10.0, 0.0], [0.0, 10.0], [10.0, 10.0]])


def blobs(seed=0):
    X, y = make_blobs(200, centers=CENTRES, cluster_std=0.5, random_state=seed)
    return X, y


def test_spread_centres_hit_every_blob():
    X, _ = blobs()
    for seed in range(10):
        centres = spread_centres(X, np.ones(200), np.full(200, -1), np.arange(4), np.random.RandomState(seed))
        assert set(cdist(centres, CENTRES).argmin(axis=1)) == {0, 1, 2, 3}


def test_labelled_classes_start_at_the_mean_of_their_rows():
    X, y = blobs()
    codes = np.where(np.arange(200) % 10 == 0, y, -1)
    codes[codes >= 2] = -1
    centres = spread_centres(X, np.ones(200), codes, np.arange(4), np.random.RandomState(0))
    np.testing.assert_allclose(centres[0], X[codes == 0].mean(axis=0))
    np.testing.assert_allclose(centres[1], X[codes == 1].mean(axis=0))
    assert set(cdist(centres[2:], CENTRES).argmin(axis=1)) == {2, 3}


def test_several_components_of_a_class_are_drawn_from_its_rows():
    X, y = blobs()
    codes = np.where(y < 2, 0, -1)
    classes = np.array([0, 0, 1, 2])
    centres = spread_centres(X, np.ones(200), codes, classes, np.random.RandomState(0))
    assert set(cdist(centres[:2], CENTRES).argmin(axis=1)) == {0, 1}
    assert set(cdist(centres[2:], CENTRES).argmin(axis=1)) == {2, 3}


def test_fewer_labelled_rows_than_components_is_made_up_for():
    X, y = blobs()
    codes = np.full(200, -1)
    codes[np.argmax(y == 0)] = 0
    centres = spread_centres(X, np.ones(200), codes, np.array([0, 0, 0, 0]), np.random.RandomState(0))
    assert np.isfinite(centres).all()


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6))
@example(143684)  # the last two rows, of equal weight, help alike
def test_a_start_depends_neither_on_order_nor_on_repetition(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(30, 2))
    weights = rng.integers(0, 4, size=30)
    codes = rng.integers(-1, 2, size=30)
    shuffled = rng.permutation(30)
    shuffled = shuffled[weights[shuffled] > 0]
    repeated = np.repeat(np.arange(30), weights)
    results = []
    for rows, amount in ((shuffled, weights[shuffled].astype(float)), (repeated, np.ones(len(repeated)))):
        order = row_order(X[rows], codes[rows])
        rows, amount = rows[order], amount[order]
        random = np.random.RandomState(seed % 1000)
        results.append(spread_centres(X[rows], amount, codes[rows], np.arange(4), random))
    np.testing.assert_allclose(results[0], results[1], atol=1e-12)


def test_nearest_components_respects_labels():
    X = np.array([[0.1, 0.0], [9.9, 0.0], [0.0, 0.2]])
    found = nearest_components(X, CENTRES, np.array([-1, 0, 1]), np.array([0, 0, 1, 1]))
    np.testing.assert_array_equal(found, [0, 1, 2])


def test_lloyd_lowers_the_squared_error_and_respects_labels():
    X, y = blobs(1)
    codes = np.where(np.arange(200) % 20 == 0, y, -1)
    start = X[[0, 1, 2, 3]]
    before = nearest_components(X, start, codes, np.arange(4))
    after = lloyd(X, np.ones(200), start, codes, np.arange(4), max_iter=20)

    def error(assignment):
        means = np.stack([X[assignment == k].mean(axis=0) for k in range(4)])
        return np.square(X - means[assignment]).sum()

    assert error(after) <= error(before)
    np.testing.assert_array_equal(after[codes >= 0], codes[codes >= 0])


def test_centres_are_matched_to_labels_at_least_cost():
    X, y = blobs(2)
    codes = np.where(np.arange(200) % 10 == 0, y, -1)
    codes[codes == 3] = -1
    shuffled = CENTRES[[2, 3, 0, 1]]
    np.testing.assert_array_equal(match_to_labels(X, shuffled, codes, np.arange(4)), CENTRES)


def test_a_small_table_is_taken_whole_and_rows_without_weight_are_left_out():
    random = np.random.RandomState(0)
    np.testing.assert_array_equal(choose_rows(70, None, np.full(70, -1), random), np.arange(70))
    weights = np.array([1.0, 0.0, 2.0])
    np.testing.assert_array_equal(choose_rows(3, weights, np.full(3, -1), random), [0, 2])


def test_of_a_large_table_labelled_rows_take_at_most_half():
    n = 100_000
    codes = np.full(n, -1)
    codes[:40] = 0
    rows = choose_rows(n, None, codes, np.random.RandomState(0))
    assert set(range(40)) <= set(rows.tolist())
    assert len(np.unique(rows)) == len(rows) <= SAMPLE_ROWS + 40
    codes[:50_000] = 1
    rows = choose_rows(n, None, codes, np.random.RandomState(0))
    assert 0.3 < np.mean(codes[rows] >= 0) < 0.6
    weights = np.where(np.arange(n) >= n - 6000, 1.0, 0.0)
    rows = choose_rows(n, weights, codes, np.random.RandomState(0))
    assert rows.min() >= n - 6000
    assert len(rows) > 3000


def test_means_of_components_are_those_of_their_observed_cells():
    rows = np.array([[1.0, np.nan, np.nan], [3.0, 4.0, np.nan], [8.0, 6.0, np.nan]])
    weights = np.array([1.0, 3.0, 2.0])
    responsibilities = weights[:, None] * np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 1.0, 0.0]])
    means = component_means(rows, weights, responsibilities)
    everything = [26.0 / 6.0, 24.0 / 5.0, np.nan]
    np.testing.assert_allclose(means, [[1.0, everything[1], np.nan], [5.0, 24.0 / 5.0, np.nan], everything])


def test_means_of_sparse_rows_are_those_of_dense_ones():
    random = np.random.default_rng(0)
    rows = random.poisson(0.2, size=(50, 8)).astype(float)
    responsibilities = random.dirichlet(np.ones(3), size=50)
    dense, sparse = (component_means(X, np.ones(50), responsibilities) for X in (rows, csr_array(rows)))
    np.testing.assert_allclose(sparse, dense)
    np.testing.assert_allclose(dense[0], np.average(rows, axis=0, weights=responsibilities[:, 0]))
