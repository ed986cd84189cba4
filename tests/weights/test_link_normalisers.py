"""Class weights with the normalisers of link models: of cannot-linked pairs, and of any graph of links."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from sidelight.weights import ConditionalWeights, MaximumLikelihoodWeights, PairWeights
from sidelight.weights.maximum_likelihood import newton


def counts(rng, n_classes, n_apart):
    """Return draws as an E-step gives them: singles, and of every pair that differs one row per class at most."""
    pairs = np.array([rng.dirichlet(np.ones(n_classes * (n_classes - 1))) for _ in range(n_apart)]).reshape(-1)
    first, second = np.nonzero(~np.eye(n_classes, dtype=bool))
    draws = np.bincount(np.tile(first, n_apart), weights=pairs, minlength=n_classes)
    draws += np.bincount(np.tile(second, n_apart), weights=pairs, minlength=n_classes)
    return draws + rng.uniform(0, 3, size=n_classes)


def objective(draws, n_apart, weights):
    return draws @ np.log(weights) - n_apart * np.log(1 - np.square(weights).sum())


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 6), st.integers(1, 9))
def test_an_independent_optimiser_finds_the_same(seed, n_classes, n_apart):
    rng = np.random.default_rng(seed)
    draws = counts(rng, n_classes, n_apart)
    start = np.log(rng.dirichlet(np.ones(n_classes)))
    weights = PairWeights(np.arange(n_classes), float(n_apart))
    found = np.exp(weights.update(draws, draws, start))
    np.testing.assert_allclose(found.sum(), 1.0)

    def cost(scores):
        e = np.exp(scores - scores.max())
        return -objective(draws, n_apart, e / e.sum())

    reference = minimize(cost, np.zeros(n_classes), method="BFGS", options={"gtol": 1e-8})
    assert objective(draws, n_apart, found) >= -reference.fun - 1e-9 * abs(reference.fun)
    expected = np.exp(reference.x - reference.x.max())
    np.testing.assert_allclose(found, expected / expected.sum(), atol=1e-4)


def test_newton_takes_a_few_steps_only():
    rng = np.random.default_rng(0)
    n_steps = []
    for _ in range(50):
        draws = counts(rng, 5, 20)
        n_steps.append(newton(draws, 20.0, np.log(draws / draws.sum())).n_steps)
    assert np.mean(n_steps) < 6


def test_the_normaliser_is_exact_where_one_class_has_nearly_all():
    small = 1e-20
    parameters = np.log([1.0, small, small])
    np.testing.assert_allclose(PairWeights(np.arange(3), 2.0).log_prior(parameters), -2 * np.log(4 * small), rtol=1e-12)


def test_two_classes_have_a_closed_form():
    found = PairWeights(np.arange(2), 4.0).update(np.array([7.0, 5.0]), np.array([7.0, 5.0]), np.log([0.5, 0.5]))
    np.testing.assert_allclose(np.exp(found), [0.75, 0.25])


def test_cannot_linked_pairs_are_not_informative_about_two_classes():
    previous = np.log([0.3, 0.7])
    draws = np.array([4.0, 4.0])
    np.testing.assert_allclose(PairWeights(np.arange(2), 4.0).update(draws, draws, previous), previous)


def test_an_empty_class_keeps_a_finite_weight():
    draws = np.array([5.0, 3.0, 0.0])
    found = PairWeights(np.arange(3), 2.0).update(draws, draws, np.log(np.ones(3) / 3))
    assert np.isfinite(found).all()
    assert np.exp(found[2]) < 1e-3
    np.testing.assert_allclose(np.exp(found[:2]) / np.exp(found[:2]).sum(), [0.75, 0.25], atol=1e-3)


def test_without_such_pairs_it_is_maximum_likelihood_from_equal_classes():
    mass, by_class = np.array([3.0, 1.0, 6.0]), np.array([4.0, 2.0])
    classes = np.array([0, 0, 1])
    plain = MaximumLikelihoodWeights(classes).update(mass, by_class, None)
    weights = PairWeights(classes, 0.0)
    np.testing.assert_allclose(weights.update(mass, by_class, plain), plain)
    np.testing.assert_allclose(np.exp(weights.update(mass, by_class, None)), [0.375, 0.125, 0.5])
    assert weights.log_prior(plain) == 0.0


def differing_pairs(n_pairs):
    """Return ln Z and its gradient for pairs whose classes differ."""

    def normaliser(log_alpha):
        alpha = np.exp(log_alpha)
        # Summed over the other classes: the total minus one's own loses all digits where one class has all.
        others = alpha @ (1 - np.eye(len(alpha)))
        chance = alpha @ others
        return n_pairs * np.log(chance), n_pairs * 2 * alpha * others / chance

    return normaliser


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6))
def test_conditional_weights_of_pairs_are_those_that_newton_finds(seed):
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
def test_conditional_weights_never_lower_the_objective(seed):
    rng = np.random.default_rng(seed)
    classes = np.arange(3)
    weights = ConditionalWeights(classes, differing_pairs(4.0))
    draws = rng.uniform(0, 9, size=3) + 3
    previous = np.log(rng.dirichlet(np.ones(3)))
    following = weights.update(draws, draws, previous)
    before, after = (draws @ log + weights.log_prior(log) for log in (previous, following))
    assert after >= before - 1e-9 * abs(before)
