"""Densities of classes, against sums over their components written out."""

import numpy as np
import pytest

from sidelight.couplings.class_densities import class_densities
from sidelight.couplings.link_graph.coupling import by_softmax
from sidelight.kernels.loops import outright, softly

CLASSES = np.array([0, 2, 0, 1, 2])


@pytest.mark.parametrize("choose", [softly, by_softmax])
@pytest.mark.parametrize("n", [1, 7, 12_003])  # the last takes two blocks
def test_components_are_summed_up_to_classes(choose, n):
    rng = np.random.default_rng(n)
    log_likelihood, weights = rng.normal(size=(n, 5)) * 3, rng.dirichlet(np.ones(5))
    found = class_densities(log_likelihood, np.log(weights), CLASSES, choose)
    alpha = np.array([weights[c == CLASSES].sum() for c in range(3)])
    joint = np.exp(log_likelihood) * weights
    density = np.stack([joint[:, c == CLASSES].sum(axis=1) / alpha[c] for c in range(3)], axis=1)
    np.testing.assert_allclose(np.exp(found.log_weights), alpha)
    np.testing.assert_allclose(np.exp(found.log_density), density)
    np.testing.assert_allclose(found.within, joint / (density * alpha)[:, CLASSES])


def test_chosen_outright_the_best_component_stands_for_its_class():
    rng = np.random.default_rng(0)
    log_likelihood, log_weights = rng.normal(size=(20, 5)), np.log(rng.dirichlet(np.ones(5)))
    found = class_densities(log_likelihood, log_weights, CLASSES, outright)
    within_class = log_likelihood + log_weights - found.log_weights[CLASSES]
    for c in range(3):
        members = np.flatnonzero(c == CLASSES)
        np.testing.assert_array_equal(found.within[:, members].argmax(axis=1), within_class[:, members].argmax(axis=1))
        np.testing.assert_allclose(found.log_density[:, c], within_class[:, members].max(axis=1))


@pytest.mark.parametrize("choose", [softly, by_softmax, outright])
def test_one_component_per_class_is_left_as_it_is(choose):
    log_likelihood, log_weights = np.random.default_rng(1).normal(size=(6, 3)), np.log([0.2, 0.3, 0.5])
    found = class_densities(log_likelihood, log_weights, np.arange(3), choose)
    np.testing.assert_array_equal(found.log_density, log_likelihood)
    np.testing.assert_array_equal(found.within, 1.0)
    np.testing.assert_array_equal(found.log_weights, log_weights)


@pytest.mark.parametrize("choose", [softly, by_softmax, outright])
def test_a_class_without_weight_has_finite_densities(choose):
    log_likelihood = np.random.default_rng(2).normal(size=(4, 5))
    log_weights = np.array([np.log(0.25), -np.inf, np.log(0.25), np.log(0.5), -np.inf])
    found = class_densities(log_likelihood, log_weights, CLASSES, choose)
    assert np.isneginf(found.log_weights[2])
    assert np.isfinite(found.log_density).all()
    np.testing.assert_allclose(found.within[:, [1, 4]].sum(axis=1), 1.0)
