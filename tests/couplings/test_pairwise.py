"""Pairs with latents of their own, against enumeration of all assignments."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles.links import enumerate_linked
from sidelight.couplings.pairwise import PairCoupling

CLASSES = np.array([0, 0, 1, 2])


def pairs_of(must, cannot, labels, weights=None, classes=CLASSES):
    n = len(labels)
    must, cannot = (np.array(links, dtype=np.int64).reshape(-1, 2) for links in (must, cannot))
    return PairCoupling(np.arange(n), must, cannot, labels, np.ones(n) if weights is None else weights, classes)


def draw(seed, n):
    rng = np.random.default_rng(seed)
    return rng, rng.normal(size=(n, 4)) * 3, np.log(rng.dirichlet(np.ones(4)))


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6))
def test_every_pair_is_summed_over_its_own_assignments(seed):
    rng, log_likelihood, log_weights = draw(seed, 4)
    labels = np.array([-1, rng.integers(-1, 3), -1, -1])
    must, cannot = [(0, 1), (1, 2)], [(0, 3), (1, 3), (2, 3)]  # rows stand in several links
    found = pairs_of(must, cannot, labels)(log_likelihood, log_weights, None)
    expected, draws, evidence = np.zeros((4, 4)), np.zeros(3), 0.0
    for kind, links in ((np.zeros(2, int), must), (np.arange(2), cannot)):
        for link in links:
            n_latents = kind.max() + 1
            known = np.array([labels[list(link)].max()]) if n_latents == 1 else labels[list(link)]
            apart = [(0, 1, 0.0, 1.0)] if n_latents == 2 else []
            one = enumerate_linked(
                log_likelihood[list(link)], log_weights, CLASSES, kind, known, apart, np.ones(n_latents)
            )
            expected[list(link)] += one.posterior
            draws += one.draws
            evidence += one.evidence
    np.testing.assert_allclose(found.responsibilities, expected, rtol=1e-9, atol=1e-13)
    np.testing.assert_allclose(found.class_counts, draws, rtol=1e-9, atol=1e-13)
    np.testing.assert_allclose(found.evidence, evidence, rtol=1e-10)
    np.testing.assert_allclose(found.posterior.sum(axis=1), 1.0)
    np.testing.assert_allclose(found.responsibilities.sum(axis=1), [2, 3, 2, 3])


def test_nothing_cancels_where_one_class_is_nearly_certain():
    # Both rows are in class 0 by e^90, a cannot-link leaves e^-1 of doubt which of them gives way.
    log_likelihood = np.array([[0.0, -90.0, -200.0], [0.0, -91.0, -200.0]])
    coupling = pairs_of([], [(0, 1)], np.full(2, -1), classes=np.arange(3))
    found = coupling(log_likelihood, np.log(np.ones(3) / 3), None)
    stays = 1 / (1 + np.exp(-1))
    np.testing.assert_allclose(found.posterior[:, 0], [1 - stays, stays], rtol=1e-12)
    np.testing.assert_allclose(found.posterior[:, 1], [stays, 1 - stays], rtol=1e-12)
    np.testing.assert_allclose(found.evidence, np.log(np.exp(-90) + np.exp(-91)) - 2 * np.log(3), rtol=1e-14)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10**6))
def test_a_row_of_weight_two_is_a_density_squared(seed):
    _, log_likelihood, log_weights = draw(seed, 2)
    classes = np.arange(4)
    weights = np.array([2.0, 1.0])
    for links in (([(0, 1)], []), ([], [(0, 1)])):
        heavy = pairs_of(*links, np.full(2, -1), weights, classes)(log_likelihood, log_weights, None)
        squared = pairs_of(*links, np.full(2, -1), None, classes)
        expected = squared(log_likelihood * weights[:, None], log_weights, None)
        np.testing.assert_allclose(heavy.posterior, expected.posterior, rtol=1e-12)
        np.testing.assert_allclose(heavy.responsibilities, expected.posterior * weights[:, None], rtol=1e-12)
        np.testing.assert_allclose(heavy.class_counts, expected.class_counts, rtol=1e-12)
