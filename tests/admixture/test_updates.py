"""The M-step: α, means and variances, against general optimisers."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.special import digamma, gammaln
from scipy.stats import norm

from sidelight.admixture import concentration
from sidelight.admixture.concentration import maximise_alpha
from sidelight.admixture.model import ALPHA_RANGE, Parameters, draw, draw_log_shares
from sidelight.admixture.updates import Flat, Gaussians, Shrinking, Sums


def weighted_cells(seed, n=15):
    rng = np.random.default_rng(seed)
    return rng.normal(0.8, 1, size=n), rng.uniform(size=n)


def sums_of(x, q):
    return Sums(*(np.array([[(q * x**power).sum()]]) for power in range(3)))


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("prior", [Flat(1e-4, 50.0), Shrinking(0.5, 0.3, 1e-4, 50.0), Shrinking(0.01, 2.0, 1e-4, 50.0)])
def test_means_and_variances_equal_numerical_maximisation(seed, prior):
    x, q = weighted_cells(seed)

    def loss(parameters):
        mean, variance = parameters[0], np.exp(parameters[1])
        height = (q * norm.logpdf(x, mean, np.sqrt(variance))).sum()
        if isinstance(prior, Shrinking):
            height += norm.logpdf(mean, 0, np.sqrt(prior.mean_variance)) - prior.spread / variance
        return -height

    best = minimize(loss, [0.0, 0.0], method="Nelder-Mead", options={"xatol": 1e-9, "fatol": 1e-14, "maxiter": 4000})
    found = prior.update(sums_of(x, q), Gaussians(np.zeros((1, 1)), np.ones((1, 1))))
    assert found.means[0, 0] == pytest.approx(best.x[0], abs=2e-6)
    assert found.variances[0, 0] == pytest.approx(np.exp(best.x[1]), rel=5e-6)
    assert loss([found.means[0, 0], np.log(found.variances[0, 0])]) <= best.fun + 1e-12


def test_without_prior_they_are_weighted_moments():
    x, q = weighted_cells(3)
    found = Flat(1e-9, 1e9).update(sums_of(x, q), Gaussians(np.zeros((1, 1)), np.ones((1, 1))))
    mean = np.average(x, weights=q)
    assert found.means[0, 0] == pytest.approx(mean)
    assert found.variances[0, 0] == pytest.approx(np.average((x - mean) ** 2, weights=q))


@pytest.mark.parametrize("prior", [Flat(0.01, 20.0), Shrinking(1.0, 0.1, 0.01, 20.0)])
def test_variances_stay_in_range_and_idle_processes_stay_finite(prior):
    same_value, nothing = sums_of(np.full(9, 1.0), np.full(9, 1e4)), sums_of(np.ones(1), np.zeros(1))
    previous = Gaussians(np.full((1, 1), 0.5), np.full((1, 1), 2.0))
    assert 0.01 <= prior.update(same_value, previous).variances[0, 0] < 0.0101
    idle = prior.update(nothing, previous)
    assert np.isfinite(idle).all()
    assert idle.variances[0, 0] <= 20.0


def dirichlet_height(alpha, mean_log):
    return gammaln(alpha.sum()) - gammaln(alpha).sum() + alpha @ mean_log


@given(seed=st.integers(0, 10**6), n_processes=st.integers(1, 6), where=st.floats(-2, 5))
@settings(max_examples=60, deadline=None)
def test_alpha_is_recovered_from_its_own_expectations(seed, n_processes, where):
    """E ln θ under Dir(a) is ψ(a) − ψ(Σa), and then α = a is the only maximum."""
    rng = np.random.default_rng(seed)
    truth = np.clip(rng.uniform(0.02, 30, n_processes), *ALPHA_RANGE)
    start = np.clip(np.full(n_processes, 10.0**where), *ALPHA_RANGE)
    mean_log = digamma(truth) - digamma(truth.sum())
    found = maximise_alpha(start, mean_log)
    if n_processes == 1:  # θ is 1 whatever α is
        assert np.isfinite(found).all()
        return
    assert dirichlet_height(found, mean_log) >= dirichlet_height(start, mean_log)
    np.testing.assert_allclose(found, truth, rtol=1e-4)


def test_alpha_equals_numerical_maximisation_for_blocks_that_agree_with_no_dirichlet():
    gamma = np.random.default_rng(0).uniform(0.1, 20, (30, 4))
    mean_log = (digamma(gamma) - digamma(gamma.sum(axis=1, keepdims=True))).mean(axis=0)
    best = minimize(
        lambda logs: -dirichlet_height(np.exp(logs), mean_log), np.zeros(4), method="BFGS", options={"gtol": 1e-9}
    )
    np.testing.assert_allclose(maximise_alpha(np.ones(4), mean_log), np.exp(best.x), rtol=1e-5)


def test_no_single_step_of_alpha_goes_down(monkeypatch):
    """Newton's method without a safeguard overshoots from far above; its first step already must not go down."""
    monkeypatch.setattr(concentration, "_MAX_STEPS", 1)
    rng = np.random.default_rng(0)
    for _ in range(200):
        truth, start = 10 ** rng.uniform(-2, 4, (2, 4))
        mean_log = digamma(truth) - digamma(truth.sum())
        found = maximise_alpha(start, mean_log)
        assert dirichlet_height(found, mean_log) > dirichlet_height(start, mean_log)


def test_alpha_keeps_to_its_range():
    idle = maximise_alpha(np.ones(3), np.array([-0.01, -900.0, -900.0]))
    assert (idle >= ALPHA_RANGE[0]).all()
    assert idle[1] == idle[2] == ALPHA_RANGE[0]
    alike = maximise_alpha(np.ones(2), np.log(np.array([0.5, 0.5])))
    assert alike.max() == ALPHA_RANGE[1]


def test_draws_have_the_moments_of_the_model():
    random = np.random.RandomState(0)
    alpha = np.array([0.05, 0.4, 3.0])
    shares = np.exp(draw_log_shares(alpha, 40_000, random))
    np.testing.assert_allclose(shares.mean(axis=0), alpha / alpha.sum(), atol=0.005)
    logs = draw_log_shares(alpha, 40_000, random)
    expected = digamma(alpha) - digamma(alpha.sum())
    np.testing.assert_allclose(logs.mean(axis=0), expected, rtol=0.03)
    parameters = Parameters(alpha, np.array([[0.0, 5], [1, -5], [2, 2]]), np.array([[1.0, 0.1], [1, 1], [0.5, 4]]))
    X, shares = draw(parameters, 40_000, random)
    np.testing.assert_allclose(X.mean(axis=0), alpha / alpha.sum() @ parameters.means, atol=0.06)
    # Given θ, the cells of a row are independent: the covariance of two attributes is that of their conditional means.
    conditional = shares @ parameters.means
    assert np.cov(X.T)[0, 1] == pytest.approx(np.cov(conditional.T)[0, 1], abs=0.06)
