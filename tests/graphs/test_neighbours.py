"""Nearest rows and graphs of similar rows, against all pairs."""

import numpy as np
import pytest
from scipy.spatial.distance import dice, jaccard

from sidelight.graphs.neighbours import (
    SIMILARITIES,
    nearest_others,
    nearest_rows,
    neighbour_gamma,
    row_graph,
    similarities,
    to_neighbours,
)


def distances(first, second):
    return np.sqrt(np.square(first[:, None] - second).sum(axis=2))


@pytest.mark.parametrize("d", [2, 15], ids=["tree", "brute force"])
def test_nearest_rows_are_the_nearest_of_all(d):
    rng = np.random.default_rng(d)
    X, among = rng.normal(size=(20, d)), rng.normal(size=(50, d))
    found, every = nearest_rows(X, among, 4), distances(X, among)
    np.testing.assert_allclose(found.distances, np.sort(every, axis=1)[:, :4])
    np.testing.assert_array_equal(found.rows, np.argsort(every, axis=1)[:, :4])


def test_similarities_of_binary_rows_are_the_usual_ones():
    rng = np.random.default_rng(0)
    X = rng.random((12, 9)) < 0.5
    table = X.astype(float)
    for name, distance in (("dice", dice), ("jaccard", jaccard)):
        found = similarities(table, table, name, 0.0)
        expected = [[1 - distance(a, b) for b in X] for a in X]
        np.testing.assert_allclose(found, expected, atol=1e-12)
    positive = rng.random((6, 4))
    for name in ("cosine", "dice", "jaccard"):
        found = similarities(positive, positive, name, 0.0)
        np.testing.assert_allclose(found.diagonal(), 1)
        assert found.max() <= 1 + 1e-12


@pytest.mark.parametrize("d", [2, 15])
def test_nearest_others_are_those_of_all_distances(d):
    X = np.random.default_rng(0).normal(size=(60, d))
    X[10] = X[11] = X[12] = X[13]
    distances = np.linalg.norm(X[:, None] - X, axis=2)
    np.fill_diagonal(distances, np.inf)
    found = nearest_others(X, 2)
    np.testing.assert_allclose(found.distances, np.sort(distances, axis=1)[:, :2], atol=1e-6)
    assert not (found.rows == np.arange(60)[:, None]).any()
    np.testing.assert_allclose(np.take_along_axis(distances, found.rows, axis=1), found.distances, atol=1e-6)


@pytest.mark.parametrize("d", [2, 15])
def test_no_row_is_its_own_neighbour_even_among_equal_rows(d):
    X = np.repeat(np.random.default_rng(0).normal(size=(6, d)), 5, axis=0)
    found = nearest_others(X, 3)
    assert found.rows.shape == (30, 3)
    assert (found.rows != np.arange(30)[:, None]).all()
    np.testing.assert_allclose(found.distances, 0.0, atol=1e-6)


@pytest.mark.parametrize("similarity", SIMILARITIES)
def test_graphs_join_the_most_similar_rows_both_ways(similarity):
    X = np.random.default_rng(1).uniform(0.1, 1, size=(30, 3))
    graph = row_graph(X, similarity, n_neighbors=4, gamma=0.7).toarray()
    every = similarities(X, X, similarity, 0.7)
    by_rank = -distances(X, X) if similarity in ("rbf", "binary") else every.copy()
    np.fill_diagonal(by_rank, -np.inf)
    chosen = np.zeros_like(every, dtype=bool)
    np.put_along_axis(chosen, np.argsort(-by_rank, axis=1)[:, :4], True, axis=1)
    np.testing.assert_allclose(graph, np.where(chosen | chosen.T, every, 0.0), atol=1e-12)


@pytest.mark.parametrize("similarity", SIMILARITIES)
def test_shares_of_neighbours_sum_to_one_and_are_even_where_none_is_similar(similarity):
    rng = np.random.default_rng(2)
    X, among = rng.uniform(size=(8, 3)), rng.uniform(size=(20, 3))
    X[0] = 0.0
    shares = to_neighbours(X, among, similarity, n_neighbors=5, gamma=1.0).toarray()
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)
    if similarity not in ("rbf", "binary"):
        np.testing.assert_allclose(shares[0], 1 / 20)


def test_the_width_of_the_kernel_is_the_median_distance_of_the_tenth_neighbour():
    X = np.random.default_rng(3).normal(size=(200, 2))
    tenth = np.sort(distances(X, X), axis=1)[:, 10]
    assert neighbour_gamma(X) == pytest.approx(1 / (2 * np.median(tenth) ** 2))
    assert neighbour_gamma(X[:1]) == 1.0
    assert np.isfinite(neighbour_gamma(np.ones((30, 2))))
