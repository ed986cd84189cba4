"""Weights with noise: the share of noise apart from the others, a prior whose divergence is exact."""

import numpy as np
import pytest
from scipy import stats
from scipy.integrate import quad

from sidelight.weights import Beta, DirichletWeights, GivenShare, LearnedShare, MaximumLikelihoodWeights, NoiseWeights

CLASSES = np.array([0, 0, 1])
MASS = np.array([4.0, 6.0, 20.0, 5.0])
CLASS_MASS = np.array([10.0, 20.0, 5.0])


def learned():
    return NoiseWeights(MaximumLikelihoodWeights(CLASSES), LearnedShare(Beta(1.0, 19.0)))


def test_noise_is_a_class_of_its_own_and_the_last():
    np.testing.assert_array_equal(learned().classes, [0, 0, 1, 2])


def test_a_given_share_stays_and_the_rest_is_divided():
    weights = NoiseWeights(MaximumLikelihoodWeights(CLASSES), GivenShare(0.2))
    found = weights.update(MASS, CLASS_MASS, None)
    np.testing.assert_allclose(np.exp(weights.log(found)), [0.8 * 4 / 30, 0.8 * 6 / 30, 0.8 * 20 / 30, 0.2])
    np.testing.assert_allclose(weights.mean(found).sum(), 0.8)
    assert weights.log_prior(found) == 0.0


def test_a_learned_share_counts_rows_with_its_prior():
    weights = learned()
    found = weights.update(MASS, CLASS_MASS, None)
    assert found.share == Beta(6.0, 49.0)
    assert 1 - weights.mean(found).sum() == pytest.approx(6 / 55)
    draws = stats.beta.rvs(6, 49, size=200_000, random_state=0)
    assert weights.log(found)[-1] == pytest.approx(np.log(draws).mean(), abs=0.01)


def test_the_divergence_of_the_share_agrees_with_quadrature():
    share, belief = LearnedShare(Beta(1.5, 12.0)), Beta(6.0, 49.0)

    def integrand(rho):
        return stats.beta.pdf(rho, *belief) * (stats.beta.logpdf(rho, *belief) - stats.beta.logpdf(rho, 1.5, 12.0))

    assert share.log_prior(belief) == pytest.approx(-quad(integrand, 0, 1)[0], rel=1e-6)


def test_no_belief_about_the_share_leads_higher():
    weights = NoiseWeights(DirichletWeights(3, 0.5), LearnedShare(Beta(1.0, 19.0)))
    best = weights.update(MASS, MASS, None)

    def value(parameters):
        return MASS @ weights.log(parameters) + weights.log_prior(parameters)

    rng = np.random.default_rng(0)
    for _ in range(30):
        moved = Beta(*(np.array(best.share) * np.exp(0.1 * rng.normal(size=2))))
        assert value(best._replace(share=moved)) <= value(best)


def test_clusters_without_rows_have_a_logarithm():
    weights = learned()
    found = weights.update(np.array([0.0, 0.0, 0.0, 5.0]), np.array([0.0, 0.0, 5.0]), None)
    assert np.isfinite(weights.log(found)).all()
