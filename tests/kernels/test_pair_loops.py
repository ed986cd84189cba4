"""The compiled loops over nodes and pairs, against sums over all classes of one or both ends."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import logsumexp, softmax

from sidelight.kernels.link_pairs import infer_pairs, infer_singles

TINY = 1e-200


def run(ends, log_equal, log_different, scores):
    marginals = np.full(scores.shape, np.nan)
    log_partition, same = np.full(len(ends), np.nan), np.full(len(ends), np.nan)
    unsure = infer_pairs(ends, log_equal, log_different, scores, TINY, marginals, log_partition, same)
    return marginals, log_partition, same, unsure


def enumerated(ends, log_equal, log_different, scores):
    """Return marginals at either end (2, p, k), log partition and the probability of equal classes."""
    k = scores.shape[1]
    link = np.where(np.eye(k, dtype=bool), log_equal[:, None, None], log_different[:, None, None])
    joint = scores[ends[:, 0], :, None] + scores[ends[:, 1], None, :] + link
    log_partition = logsumexp(joint, axis=(1, 2))
    shares = np.exp(joint - log_partition[:, None, None])
    return np.stack([shares.sum(axis=2), shares.sum(axis=1)]), log_partition, np.einsum("pcc->p", shares)


def links_of(kind, n, rng):
    sure = rng.uniform(0.55, 0.999, size=n)
    must = rng.random(n) < 0.5
    log_equal, log_different = np.log(np.where(must, sure, 1 - sure)), np.log(np.where(must, 1 - sure, sure))
    certain = {"soft": np.zeros(n, dtype=bool), "certain": np.ones(n, dtype=bool), "both": rng.random(n) < 0.5}[kind]
    return np.where(certain, -np.inf, log_equal), np.where(certain, 0.0, log_different)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 23), st.integers(0, 150), st.sampled_from([0.1, 30.0, 3000.0]))
def test_nodes_without_links_equal_scipy(seed, k, n, spread):
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=(n + 3, k)) * spread
    scores[:, 1:][rng.random((n + 3, k - 1)) < 0.2] = -np.inf
    nodes, marginals = rng.permutation(n + 3)[:n], np.full((n + 3, k), np.nan)
    log_partition = infer_singles(nodes, scores, marginals)
    assert log_partition == pytest.approx(logsumexp(scores[nodes], axis=1).sum(), rel=1e-12, abs=1e-12)
    np.testing.assert_allclose(marginals[nodes], softmax(scores[nodes], axis=1), rtol=0, atol=1e-13)
    assert np.isnan(marginals[np.setdiff1d(np.arange(n + 3), nodes)]).all()


@settings(max_examples=80, deadline=None)
@given(
    st.integers(0, 10**6),
    st.integers(2, 23),
    st.integers(1, 90),
    st.sampled_from([0.1, 3.0, 30.0]),
    st.sampled_from(["soft", "certain", "both"]),
)
def test_pairs_equal_the_sum_over_both_ends(seed, k, n, spread, kind):
    rng = np.random.default_rng(seed)
    ends = rng.permutation(2 * n + 3)[: 2 * n].reshape(-1, 2)
    scores = rng.normal(size=(2 * n + 3, k)) * spread
    links = links_of(kind, n, rng)
    marginals, log_partition, same, unsure = run(ends, *links, scores)
    expected, expected_partition, expected_same = enumerated(ends, *links, scores)
    assert unsure == 0
    np.testing.assert_allclose(log_partition, expected_partition, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(same, expected_same, rtol=1e-12, atol=1e-12)
    for side in range(2):
        np.testing.assert_allclose(marginals[ends[:, side]], expected[side], rtol=0, atol=1e-12)
    alone = np.setdiff1d(np.arange(2 * n + 3), ends)
    assert np.isnan(marginals[alone]).all()


def test_the_second_best_keeps_its_digits():
    # Both ends want class 0; what is left to either is far below rounding.
    scores = np.array([[0.0, -60.0, -61.0], [0.0, -70.0, -72.0]])
    links = np.array([[0, 1]]), np.array([-np.inf]), np.array([0.0])
    marginals, log_partition, same, _ = run(*links, scores)
    expected, expected_partition, _ = enumerated(*links, scores)
    np.testing.assert_allclose(marginals, expected[:, 0], rtol=1e-13)
    np.testing.assert_allclose(log_partition, expected_partition, rtol=1e-14)
    np.testing.assert_array_equal(same, 0.0)


@pytest.mark.parametrize("link", [(-np.inf, 0.0), (np.log(0.1), np.log(0.9)), (np.log(0.9), np.log(0.1))])
def test_what_is_ruled_out_gets_exactly_nothing(link):
    scores = np.array([[-np.inf, 1.0, 2.0, -np.inf], [0.5, -np.inf, 0.0, -np.inf]])
    links = np.array([[0, 1]]), np.array(link[:1]), np.array(link[1:])
    marginals, log_partition, same, unsure = run(*links, scores)
    expected, expected_partition, expected_same = enumerated(*links, scores)
    assert unsure == 0
    np.testing.assert_array_equal(marginals[np.isneginf(scores)], 0.0)
    np.testing.assert_allclose(marginals, expected[:, 0], rtol=1e-14)
    np.testing.assert_allclose(log_partition, expected_partition, rtol=1e-14)
    np.testing.assert_allclose(same, expected_same, rtol=1e-14)


def test_classes_that_are_equally_good():
    scores = np.zeros((4, 5))
    links = np.array([[0, 1], [2, 3]]), np.array([-np.inf, np.log(0.8)]), np.array([0.0, np.log(0.2)])
    marginals, log_partition, same, _ = run(*links, scores)
    np.testing.assert_allclose(marginals, 0.2, rtol=1e-14)
    np.testing.assert_allclose(log_partition, np.log([20.0, 5 * 0.8 + 20 * 0.2]), rtol=1e-14)
    np.testing.assert_allclose(same, [0.0, 0.5], rtol=1e-14)


def test_sums_that_underflow_are_left_to_the_caller():
    scores = np.array([[0.0, -900.0], [0.0, -800.0], [1.0, 2.0], [3.0, 1.0], [-np.inf, -np.inf], [0.0, 0.0]])
    links = np.arange(6).reshape(-1, 2), np.full(3, -np.inf), np.zeros(3)
    marginals, log_partition, _, unsure = run(*links, scores)
    assert unsure == 2
    np.testing.assert_array_equal(np.isneginf(log_partition), [True, False, True])
    np.testing.assert_array_equal(np.isnan(marginals).all(axis=1), [True, True, False, False, True, True])
