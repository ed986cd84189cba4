"""Breathing k-means leaves poor optima of k-means."""

import numpy as np

from sidelight.inference.breathing import breathe


def error(rows, centres):
    return np.square(rows[:, None] - centres).sum(axis=2).min(axis=1).sum()


def test_a_centre_between_two_clusters_and_two_in_one_are_mended():
    rng = np.random.default_rng(0)
    places = np.array([[0.0, 0.0], [10.0, 0.0], [0.0, 10.0], [10.0, 10.0]])
    rows = np.repeat(places, 50, axis=0) + 0.5 * rng.normal(size=(200, 2))
    poor = np.array([[-0.3, 0.0], [0.3, 0.0], [10.0, 5.0], [0.0, 10.0]])
    found = breathe(rows, np.ones(200), poor, np.random.RandomState(0))
    assert len(found) == 4
    assert np.square(places[:, None] - found).sum(axis=2).min(axis=1).max() < 0.1


def test_the_error_never_grows():
    for seed in range(5):
        rng = np.random.default_rng(seed)
        rows, k = rng.standard_t(3, size=(150, 3)), int(rng.integers(1, 8))
        centres = rows[:k]
        assert error(rows, breathe(rows, np.ones(150), centres, np.random.RandomState(seed))) <= error(rows, centres)


def test_rows_that_weigh_nothing_attract_no_centre():
    rng = np.random.default_rng(1)
    rows = np.concatenate([rng.normal(size=(50, 2)), rng.normal(size=(50, 2)) + 20, np.full((10, 2), 1000.0)])
    weights = np.repeat([1.0, 1.0, 0.0], [50, 50, 10])
    found = breathe(rows, weights, rows[[0, 1]], np.random.RandomState(0))
    assert np.abs(found).max() < 30
