"""Mixing weights by maximum likelihood."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from sidelight.weights import MaximumLikelihoodWeights


def test_without_ties_weights_are_shares_of_the_rows():
    mass = np.array([3.0, 1.0, 6.0])
    weights = MaximumLikelihoodWeights(np.arange(3))
    np.testing.assert_allclose(np.exp(weights.update(mass, mass, None)), [0.3, 0.1, 0.6])
    assert weights.log_prior(np.log(mass)) == 0.0


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 10**6))
def test_no_other_weights_explain_the_counts_better(seed):
    rng = np.random.default_rng(seed)
    classes = np.array([0, 0, 1, 2, 2])
    component_mass, class_mass = rng.uniform(0.1, 5, size=5), rng.uniform(0.1, 5, size=3)
    best = np.exp(MaximumLikelihoodWeights(classes).update(component_mass, class_mass, None))
    np.testing.assert_allclose(best.sum(), 1.0)

    def objective(weights):
        by_class = np.bincount(classes, weights=weights)
        share = weights / by_class[classes]
        return class_mass @ np.log(by_class) + component_mass @ np.log(share)

    for _ in range(10):
        other = rng.dirichlet(best * 50 + 0.1)
        assert objective(other) <= objective(best) + 1e-9


def test_a_component_that_owns_nothing_keeps_a_finite_weight():
    log_weights = MaximumLikelihoodWeights(np.arange(2)).update(np.array([4.0, 0.0]), np.array([4.0, 0.0]), None)
    assert np.isfinite(log_weights).all()
    assert np.exp(log_weights[1]) < 1e-300
