"""The M-step: α, means and variances, compared with general optimisers."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.special import digamma, gammaln
from scipy.stats import norm

from sidelight.admixture.m_step import FlatPrior, Gaussians, ShrinkagePrior, Sums, maximise_alpha
from sidelight.admixture.model import ALPHA_RANGE


def weighted_cells(seed, n=15):
    rng = np.random.default_rng(seed)
    return rng.normal(0.8, 1, size=n), rng.uniform(size=n)


def sums_of(x, q):
    return Sums(*(np.array([[(q * x**power).sum()]]) for power in range(3)))


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(
    "prior", [FlatPrior(1e-4, 50.0), ShrinkagePrior(0.5, 0.3, 1e-4, 50.0), ShrinkagePrior(0.01, 2.0, 1e-4, 50.0)]
)
def test_means_and_variances_equal_numerical_maximisation(seed, prior):
    x, q = weighted_cells(seed)

    def loss(parameters):
        mean, variance = parameters[0], np.exp(parameters[1])
        height = (q * norm.logpdf(x, mean, np.sqrt(variance))).sum()
        if isinstance(prior, ShrinkagePrior):
            height += norm.logpdf(mean, 0, np.sqrt(prior.mean_variance)) - prior.spread / variance
        return -height

    best = minimize(loss, [0.0, 0.0], method="Nelder-Mead", options={"xatol": 1e-9, "fatol": 1e-14, "maxiter": 4000})
    found = prior.update(sums_of(x, q), Gaussians(np.zeros((1, 1)), np.ones((1, 1))))
    assert found.means[0, 0] == pytest.approx(best.x[0], abs=2e-6)
    assert found.variances[0, 0] == pytest.approx(np.exp(best.x[1]), rel=5e-6)
    assert loss([found.means[0, 0], np.log(found.variances[0, 0])]) <= best.fun + 1e-12


def test_without_a_prior_means_and_variances_are_weighted_moments():
    x, q = weighted_cells(3)
    found = FlatPrior(1e-9, 1e9).update(sums_of(x, q), Gaussians(np.zeros((1, 1)), np.ones((1, 1))))
    mean = np.average(x, weights=q)
    assert found.means[0, 0] == pytest.approx(mean)
    assert found.variances[0, 0] == pytest.approx(np.average((x - mean) ** 2, weights=q))


@pytest.mark.parametrize("prior", [FlatPrior(0.01, 20.0), ShrinkagePrior(1.0, 0.1, 0.01, 20.0)])
def test_variances_stay_in_range_and_processes_without_cells_stay_finite(prior):
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
    if n_processes == 1:  # θ is 1 for any α
        assert np.isfinite(found).all()
        return
    assert dirichlet_height(found, mean_log) >= dirichlet_height(start, mean_log)
    np.testing.assert_allclose(found, truth, rtol=1e-4)


def test_alpha_equals_numerical_maximisation_for_arbitrary_blocks():
    gamma = np.random.default_rng(0).uniform(0.1, 20, (30, 4))
    mean_log = (digamma(gamma) - digamma(gamma.sum(axis=1, keepdims=True))).mean(axis=0)
    best = minimize(
        lambda logs: -dirichlet_height(np.exp(logs), mean_log), np.zeros(4), method="BFGS", options={"gtol": 1e-9}
    )
    np.testing.assert_allclose(maximise_alpha(np.ones(4), mean_log), np.exp(best.x), rtol=1e-5)


def test_a_single_newton_step_raises_the_objective():
    """Without a safeguard Newton's method overshoots from a large α, in its first step already."""
    rng = np.random.default_rng(0)
    for _ in range(200):
        truth, start = 10 ** rng.uniform(-2, 4, (2, 4))
        mean_log = digamma(truth) - digamma(truth.sum())
        found = maximise_alpha(start, mean_log, max_steps=1)
        assert dirichlet_height(found, mean_log) > dirichlet_height(start, mean_log)


def test_alpha_stays_in_its_range():
    idle = maximise_alpha(np.ones(3), np.array([-0.01, -900.0, -900.0]))
    assert (idle >= ALPHA_RANGE[0]).all()
    assert idle[1] == idle[2] == ALPHA_RANGE[0]
    alike = maximise_alpha(np.ones(2), np.log(np.array([0.5, 0.5])))
    assert alike.max() == ALPHA_RANGE[1]
