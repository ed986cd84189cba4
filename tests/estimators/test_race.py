"""The race of starts, without side information."""

import numpy as np
import pytest

from sidelight import LabelledMixture
from sidelight.estimators.starts import race
from sidelight.inference.loop import Trace


def clusters(n, d, k, seed=0, distance=6.0):
    rng = np.random.default_rng(seed)
    own = rng.integers(k, size=n)
    return (rng.normal(size=(k, d)) * distance)[own] + rng.normal(size=(n, d)), own


def log_likelihood_of_truth(X, own):
    """Return the mean log density of the rows under Gaussians fitted to their own clusters."""
    total = np.zeros(len(X))
    for cluster in np.unique(own):
        rows = X[own == cluster]
        covariance = np.cov(rows.T)
        offsets = X[own == cluster] - rows.mean(axis=0)
        squares = np.einsum("ni,ij,nj->n", offsets, np.linalg.inv(covariance), offsets)
        log_share = np.log(len(rows) / len(X))
        total[own == cluster] = log_share - 0.5 * (squares + np.linalg.slogdet(2 * np.pi * covariance)[1])
    return total.mean()


@pytest.mark.parametrize("n", [1_000, 25_000])
def test_clusters_that_lie_apart_are_found(n):
    X, own = clusters(n, 3, 12)
    model = LabelledMixture(12, covariance_type="full", random_state=0).fit(X)
    assert model.score(X) > log_likelihood_of_truth(X, own) - 1e-2


def test_rows_far_out_are_drawn_in_and_others_stay():
    points = np.random.default_rng(1).normal(size=(500, 3))
    points[:5] *= 100
    inner = race._drawn_in(points)
    norms = np.linalg.norm(points, axis=1)
    near = norms <= 2 * np.median(norms)
    np.testing.assert_array_equal(inner[near], points[near])
    np.testing.assert_allclose(np.linalg.norm(inner[~near], axis=1), 2 * np.median(norms))


def test_of_runs_that_lead_as_high_one_goes_on():
    runs = [Trace(number, (-20.0, height)) for number, height in enumerate([-5.0, -3.0, -3.05, -4.0, -4.2])]
    assert [run.state for run in race._apart(runs, 0.1)] == [1, 3, 4, 0]
    assert [run.state for run in race._apart(runs, 0.5)] == [1, 3, 0]


def test_the_order_of_the_rows_of_a_small_table_does_not_matter():
    X, _ = clusters(800, 2, 4, distance=2.0)
    shuffled = np.random.default_rng(0).permutation(len(X))
    ours = LabelledMixture(4, covariance_type="full", random_state=0).fit(X)
    theirs = LabelledMixture(4, covariance_type="full", random_state=0).fit(X[shuffled])
    np.testing.assert_allclose(ours.lower_bound_, theirs.lower_bound_, rtol=1e-8)
