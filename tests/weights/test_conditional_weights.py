"""Class weights given links, against the form for single pairs and against other weights."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from sidelight.weights import ConditionalWeights, PairWeights


def differing_pairs(n_pairs):
    """Return ln Z and its gradient for pairs whose classes differ."""

    def normaliser(log_alpha):
        alpha = np.exp(log_alpha)
        # Summed over the others, never as the total less one's own: nothing is left of that where one class has all.
        others = alpha @ (1 - np.eye(len(alpha)))
        chance = alpha @ others
        return n_pairs * np.log(chance), n_pairs * 2 * alpha * others / chance

    return normaliser


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6))
def test_for_single_pairs_it_finds_what_newton_finds(seed):
    rng = np.random.default_rng(seed)
    classes = np.array([0, 0, 1, 2])
    mass, draws = rng.uniform(0.5, 9, size=4), rng.uniform(3, 9, size=3)
    start = np.log(rng.dirichlet(np.ones(4)))
    found = ConditionalWeights(classes, differing_pairs(3.0)).update(mass, draws, start)
    expected = PairWeights(classes, 3.0).update(mass, draws, start)
    np.testing.assert_allclose(np.exp(found), np.exp(expected), atol=1e-5)
    assert np.isclose(
        ConditionalWeights(classes, differing_pairs(3.0)).log_prior(found), PairWeights(classes, 3.0).log_prior(found)
    )


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6))
def test_the_objective_never_falls(seed):
    rng = np.random.default_rng(seed)
    classes = np.arange(3)
    weights = ConditionalWeights(classes, differing_pairs(4.0))
    draws = rng.uniform(0, 9, size=3) + 3
    previous = np.log(rng.dirichlet(np.ones(3)))
    following = weights.update(draws, draws, previous)
    before, after = (draws @ log + weights.log_prior(log) for log in (previous, following))
    assert after >= before - 1e-9 * abs(before)
