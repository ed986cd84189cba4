"""Closed forms of Bayesian weights against Monte Carlo, and updates against perturbations."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from sidelight.weights import DirichletWeights, Gamma, GivenConcentration, LearnedConcentration, StickBreakingWeights

DRAWS = 200_000
COUNTS = np.array([12.5, 0.3, 40.0, 3.0])


def value(weights, parameters, mass):
    return float(mass @ weights.log(parameters)) + weights.log_prior(parameters)


def within_errors(samples, expected, errors=4.5):
    """Say whether an expected value lies within a few standard errors of the samples' mean."""
    deviation = samples.std(axis=0) / np.sqrt(len(samples))
    np.testing.assert_array_less(np.abs(samples.mean(axis=0) - expected), errors * deviation + 1e-12)


def stick_weights(broken, order):
    """Break sticks (draws, T − 1) in this order."""
    rest = np.cumprod(np.concatenate([np.ones((len(broken), 1)), 1 - broken], axis=1), axis=1)
    weights = np.empty_like(rest)
    weights[:, order] = np.concatenate([broken, np.ones((len(broken), 1))], axis=1) * rest
    return weights


@pytest.mark.parametrize("concentration", [GivenConcentration(1.7), LearnedConcentration(Gamma(2.0, 0.8))])
def test_sticks_against_monte_carlo(concentration):
    rng = np.random.default_rng(0)
    weights = StickBreakingWeights(4, concentration)
    sticks = weights.update(COUNTS, COUNTS, None)
    assert sticks.order.tolist() == [2, 0, 3, 1]
    broken = rng.beta(sticks.first, sticks.second, size=(DRAWS, 3))
    drawn = stick_weights(broken, sticks.order)
    within_errors(np.log(drawn), weights.log(sticks))
    within_errors(drawn, weights.mean(sticks))
    np.testing.assert_allclose(weights.mean(sticks).sum(), 1.0)

    if isinstance(concentration, GivenConcentration):
        eta, log_ratio = np.full((DRAWS, 1), concentration.value), 0.0
    else:
        q, p = sticks.concentration, concentration.prior
        eta = rng.gamma(q.shape, 1 / q.rate, size=(DRAWS, 1))
        log_ratio = (
            stats.gamma.logpdf(eta, p.shape, scale=1 / p.rate) - stats.gamma.logpdf(eta, q.shape, scale=1 / q.rate)
        )[:, 0]
    log_prior = stats.beta.logpdf(broken, 1, eta).sum(axis=1)
    log_belief = stats.beta.logpdf(broken, sticks.first, sticks.second).sum(axis=1)
    within_errors(log_prior - log_belief + log_ratio, weights.log_prior(sticks))


def test_dirichlet_against_monte_carlo():
    rng = np.random.default_rng(1)
    weights = DirichletWeights(4, 0.4)
    belief = weights.update(COUNTS, COUNTS, None)
    drawn = rng.dirichlet(belief.counts, size=DRAWS)
    within_errors(np.log(drawn), weights.log(belief))
    within_errors(drawn, weights.mean(belief))
    ratio = (0.4 - belief.counts) * np.log(drawn)
    constant = stats.dirichlet.logpdf(drawn[0], np.full(4, 0.4)) - stats.dirichlet.logpdf(drawn[0], belief.counts)
    within_errors(ratio.sum(axis=1) - ratio[0].sum() + constant, weights.log_prior(belief))


@pytest.mark.parametrize(
    "weights",
    [
        DirichletWeights(4, 0.4),
        DirichletWeights(4, Gamma(1.5, 0.5)),
        StickBreakingWeights(4, GivenConcentration(0.6)),
        StickBreakingWeights(4, LearnedConcentration(Gamma(1.0, 1.0))),
    ],
)
def test_an_update_is_the_highest_point_around(weights):
    rng = np.random.default_rng(2)
    best = weights.update(COUNTS, COUNTS, None)
    highest = value(weights, best, COUNTS)
    for _ in range(50):
        changed = [
            Gamma(*(np.array(field) * np.exp(0.02 * rng.normal(size=2))))
            if isinstance(field, Gamma)
            else field * np.exp(0.02 * rng.normal(size=np.shape(field)))
            if np.asarray(field).dtype.kind == "f"
            else field
            for field in best
        ]
        if isinstance(weights, DirichletWeights) and not isinstance(weights.concentration, Gamma):
            changed[1] = best.prior  # given, not learned
        assert value(weights, type(best)(*changed), COUNTS) <= highest + 1e-9 * abs(highest)


@given(
    seed=st.integers(0, 10_000),
    kind=st.sampled_from(["given", "learned", "dirichlet", "learned dirichlet"]),
    concentration=st.floats(0.05, 20),
)
def test_an_update_never_lowers_the_bound(seed, kind, concentration):
    rng = np.random.default_rng(seed)
    weights = {
        "given": StickBreakingWeights(5, GivenConcentration(concentration)),
        "learned": StickBreakingWeights(5, LearnedConcentration(Gamma(1.0, 1 / concentration))),
        "dirichlet": DirichletWeights(5, concentration),
        "learned dirichlet": DirichletWeights(5, Gamma(1.0, 1 / concentration)),
    }[kind]
    parameters = None
    for _ in range(4):
        mass = rng.dirichlet(np.full(5, 0.4)) * rng.uniform(1, 200)
        before = parameters
        parameters = weights.update(mass, mass, before)
        after = value(weights, parameters, mass)
        if before is not None:
            assert after >= value(weights, before, mass) - 1e-9 * abs(after)


def test_the_order_of_the_sticks_is_the_best_of_all_where_few_are_opened():
    from itertools import permutations

    weights = StickBreakingWeights(4, GivenConcentration(0.9))
    best = weights.update(COUNTS, COUNTS, None)
    values = [
        value(weights, weights.sticks_in_order(COUNTS, np.array(order), None), COUNTS)
        for order in permutations(range(4))
    ]
    np.testing.assert_allclose(value(weights, best, COUNTS), max(values))
