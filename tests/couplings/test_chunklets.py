"""Rows that share a class, against enumeration of all assignments."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles.mixtures import enumerate_chunklet
from sidelight.couplings.chunklets import ChunkletCoupling
from sidelight.kernels.loops import outright, softly


def problem(seed):
    rng = np.random.default_rng(seed)
    classes = np.array([0, 0, 1, 2, 2])[: rng.integers(3, 6)]
    groups = np.repeat(np.arange(3), rng.integers(1, 4, size=3))
    labels = rng.integers(-1, classes.max() + 1, size=3)
    log_likelihood = rng.normal(size=(len(groups), len(classes))) * 2
    log_weights = np.log(rng.dirichlet(np.ones(len(classes))))
    return classes, groups, labels, log_likelihood, log_weights


def coupling(groups, labels, classes, choose, row_weights=None, group_weights=None):
    starts = np.flatnonzero(np.diff(groups, prepend=-1))
    rows = np.ones(len(groups)) if row_weights is None else row_weights
    chunklets = np.ones(len(labels)) if group_weights is None else group_weights
    return ChunkletCoupling(np.arange(len(groups)), starts, labels, rows, chunklets, classes, choose)


@settings(max_examples=80, deadline=None)
@given(st.integers(0, 10**6), st.lists(st.sampled_from([1.0, 0.3]), min_size=3, max_size=3))
def test_soft_choice_equals_the_sum_over_all_assignments(seed, group_weights):
    classes, groups, labels, log_likelihood, log_weights = problem(seed)
    weights = np.array(group_weights)
    found = coupling(groups, labels, classes, softly, group_weights=weights)(log_likelihood, log_weights, None)
    counts, evidence = np.zeros(classes.max() + 1), 0.0
    for g in range(3):
        rows = groups == g
        posterior, by_class, value = enumerate_chunklet(log_likelihood[rows], log_weights, classes, labels[g])
        np.testing.assert_allclose(found.posterior[rows], posterior, rtol=1e-10, atol=1e-14)
        np.testing.assert_allclose(found.responsibilities[rows], weights[g] * posterior, rtol=1e-10, atol=1e-14)
        counts += weights[g] * by_class
        evidence += weights[g] * value
    np.testing.assert_allclose(found.class_counts, counts, rtol=1e-10, atol=1e-14)
    np.testing.assert_allclose(found.evidence, evidence, rtol=1e-10)


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from([softly, outright]))
def test_a_row_of_weight_two_is_two_equal_rows(seed, choose):
    classes, groups, labels, log_likelihood, log_weights = problem(seed)
    weights = np.random.default_rng(seed).integers(1, 3, size=len(groups))
    heavy = coupling(groups, labels, classes, choose, row_weights=weights.astype(float))
    repeated = coupling(np.repeat(groups, weights), labels, classes, choose)
    found = heavy(log_likelihood, log_weights, None)
    expected = repeated(np.repeat(log_likelihood, weights, axis=0), log_weights, None)
    first = np.cumsum(weights) - weights
    np.testing.assert_allclose(found.evidence, expected.evidence, rtol=1e-10)
    np.testing.assert_allclose(found.class_counts, expected.class_counts, rtol=1e-10, atol=1e-14)
    np.testing.assert_allclose(found.posterior, expected.posterior[first], rtol=1e-10, atol=1e-14)
    np.testing.assert_allclose(found.responsibilities, weights[:, None] * found.posterior, rtol=1e-12)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6))
def test_hard_choice_is_the_best_of_all_assignments(seed):
    classes, groups, labels, log_likelihood, log_weights = problem(seed)
    found = coupling(groups, labels, classes, outright)(log_likelihood, log_weights, None)
    total = 0.0
    for g in range(3):
        members = np.flatnonzero(groups == g)
        best = -np.inf
        for c in range(classes.max() + 1):
            if labels[g] not in (-1, c):
                continue
            inside = np.flatnonzero(classes == c)
            class_weight = np.logaddexp.reduce(log_weights[inside])
            scores = log_likelihood[np.ix_(members, inside)] + log_weights[inside] - class_weight
            best = max(best, class_weight + scores.max(axis=1).sum())
        total += best
    np.testing.assert_allclose(found.evidence, total, rtol=1e-10)
    assert set(np.unique(found.posterior)) <= {0.0, 1.0}
    np.testing.assert_array_equal(found.posterior.sum(axis=1), 1.0)


def test_a_chunklet_of_one_row_is_that_row():
    rng = np.random.default_rng(1)
    log_likelihood, log_weights = rng.normal(size=(4, 3)), np.log(rng.dirichlet(np.ones(3)))
    alone = coupling(np.arange(4), np.full(4, -1), np.arange(3), softly)
    found = alone(log_likelihood, log_weights, None)
    joint = np.exp(log_likelihood + log_weights)
    np.testing.assert_allclose(found.posterior, joint / joint.sum(axis=1, keepdims=True))
    np.testing.assert_allclose(found.evidence, np.log(joint.sum(axis=1)).sum())
