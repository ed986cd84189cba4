"""Projection of posteriors onto what links say, against a general optimiser."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from sidelight.couplings.projection import Projection, incidence_of, project


def draw(seed):
    rng = np.random.default_rng(seed)
    n, n_classes = rng.integers(3, 7), rng.integers(2, 5)
    pairs = np.array([(a, b) for a in range(n) for b in range(a) if rng.uniform() < 0.5] or [(0, 1)])
    return rng.normal(size=(n, n_classes)) * 3, rng.choice([1.0, 2.0, 0.5], size=n), pairs


def bound(q, scores, mass):
    return mass @ (q * scores - q * np.log(np.maximum(q, 1e-300))).sum(axis=1)


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10**6))
def test_no_other_posteriors_that_respect_the_links_are_better(seed):
    scores, mass, pairs = draw(seed)
    links = incidence_of(pairs, len(mass))
    found = project(scores, mass, links, None)
    assert (found.shares[pairs].sum(axis=1) <= 1 + 1e-6).all()
    # What the dual attains bounds the problem from above, and the projection attains it.
    np.testing.assert_allclose(found.value, bound(found.shares, scores, mass), rtol=1e-7, atol=1e-6)
    rng = np.random.default_rng(seed)
    for spread in (0.1, 1.0):
        # The projection of any other scores respects the links as well.
        other = project(scores + spread * rng.normal(size=scores.shape), mass, links, None).shares
        assert bound(other, scores, mass) <= found.value + 1e-5


@pytest.mark.parametrize("seed", range(4))
def test_a_general_optimiser_finds_nothing_better(seed):
    scores, mass, pairs = draw(seed)
    shape = scores.shape
    constraints = [
        {"type": "eq", "fun": lambda x: x.reshape(shape).sum(axis=1) - 1},
        {"type": "ineq", "fun": lambda x: (1 - x.reshape(shape)[pairs].sum(axis=1)).ravel()},
    ]
    reference = minimize(
        lambda x: -bound(x.reshape(shape), scores, mass),
        np.full(scores.size, 1 / shape[1]),
        bounds=[(1e-12, 1)] * scores.size,
        constraints=constraints,
    )
    found = project(scores, mass, incidence_of(pairs, len(mass)), None)
    np.testing.assert_allclose(found.value, -reference.fun, atol=1e-3)
    assert found.value >= -reference.fun - 1e-6


def test_links_that_hold_already_change_nothing():
    scores = np.log([[0.9, 0.1], [0.1, 0.9]])
    found = project(scores, np.ones(2), incidence_of(np.array([[0, 1]]), 2), None)
    np.testing.assert_allclose(found.shares, [[0.9, 0.1], [0.1, 0.9]])
    np.testing.assert_array_equal(found.multipliers, 0)
    np.testing.assert_allclose(found.value, 0, atol=1e-12)


def test_two_rows_of_two_classes_have_a_closed_form():
    # Both log odds move by the same amount, until they are opposite.
    odds = np.array([5.0, 1.0])
    scores = np.column_stack([odds / 2, -odds / 2])
    found = project(scores, np.ones(2), incidence_of(np.array([[0, 1]]), 2), None)
    expected = 1 / (1 + np.exp(-np.array([2.0, -2.0])))
    np.testing.assert_allclose(found.shares[:, 0], expected, atol=1e-7)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6))
def test_rows_of_a_chunklet_share_the_distribution_nearest_to_all_of_them(seed):
    rng = np.random.default_rng(seed)
    classes = np.array([0, 0, 1])
    log_likelihood, log_weights = rng.normal(size=(3, 3)) * 2, np.log(rng.dirichlet(np.ones(3)))
    coupling = Projection(
        np.arange(3), np.array([0]), np.ones((1, 2), dtype=bool), np.empty((0, 2), int), np.ones(3), classes
    )
    found = coupling(log_likelihood, log_weights, None)
    joint = np.exp(log_likelihood + log_weights)
    by_class = np.column_stack([joint[:, :2].sum(axis=1), joint[:, 2]])
    posterior = by_class / by_class.sum(axis=1, keepdims=True)
    shared = np.exp(np.log(posterior).mean(axis=0))
    shared /= shared.sum()
    np.testing.assert_allclose(found.posterior @ np.eye(2)[classes], np.tile(shared, (3, 1)), rtol=1e-9)
    divergence = (shared * np.log(shared / posterior)).sum()
    np.testing.assert_allclose(found.evidence, np.log(by_class.sum(axis=1)).sum() - divergence, rtol=1e-9)
    np.testing.assert_allclose(found.class_counts, 3 * shared, rtol=1e-9)
