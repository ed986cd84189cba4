"""The search's second start: distances as the components of the first one see them."""

import numpy as np
from sklearn.metrics import adjusted_rand_score

from sidelight import BayesianMixture
from sidelight.estimators.starts.ward import ward_groups
from sidelight.graphs.metric import by_components


def stripes(seed, k=4, n=50, d=6, width=30.0):
    """Return long clusters side by side: all are wide in one direction, and apart in the others."""
    rng = np.random.default_rng(seed)
    y = np.repeat(np.arange(k), n)
    centres = np.zeros((k, d))
    centres[:, 1:] = 2.5 * rng.normal(size=(k, d - 1))
    turned = np.linalg.qr(rng.normal(size=(d, d)))[0]
    return (centres[y] + rng.normal(size=(k * n, d)) * np.r_[width, np.ones(d - 1)]) @ turned, y


def test_the_covariance_within_components_becomes_the_identity():
    X, y = stripes(0, n=5000, width=3.0)
    points = by_components(X, np.ones(len(X)), np.eye(4)[y])
    within = np.mean([np.cov(points[y == component].T) for component in range(4)], axis=0)
    np.testing.assert_allclose(within, np.eye(6), atol=0.02)


def test_weights_count_rows_as_often():
    X, y = stripes(1)
    twice = np.arange(len(X)) % 3 == 0
    often = np.concatenate([np.arange(len(X)), np.flatnonzero(twice)])
    weighted = by_components(X, 1.0 + twice, np.eye(4)[y])
    repeated = by_components(X[often], np.ones(len(often)), np.eye(4)[y][often])
    np.testing.assert_allclose(np.abs(weighted), np.abs(repeated[: len(X)]), rtol=1e-6)


def test_wards_tree_finds_long_clusters_by_these_distances():
    X, y = stripes(2)
    none, random = np.full(len(X), -1), np.random.RandomState(0)
    points = by_components(X, np.ones(len(X)), np.eye(4)[y])
    assert adjusted_rand_score(y, ward_groups(X, none, 4, random)) < 0.3
    assert adjusted_rand_score(y, ward_groups(points, none, 4, random)) > 0.9
    assert adjusted_rand_score(y, BayesianMixture(random_state=0).fit(X).labels_) > 0.9


def test_a_column_that_is_constant_within_components_is_no_obstacle():
    X, y = stripes(3)
    points = by_components(np.column_stack([X, y, np.zeros(len(X))]), np.ones(len(X)), np.eye(4)[y])
    assert np.isfinite(points).all()
