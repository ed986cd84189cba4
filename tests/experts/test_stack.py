"""Weights of experts: the probability of statements against enumeration, its gradient, and what is learned."""

import numpy as np
import pytest
from scipy.optimize import approx_fprime
from scipy.special import logsumexp

from sidelight.experts.stack import LABEL_ERROR, HeldOut, balanced, combined, learn_weights, log_probability


def statements(seed: int = 0, n: int = 8, n_classes: int = 3) -> HeldOut:
    random = np.random.RandomState(seed)
    opinions = random.normal(size=(2, n, n_classes))
    opinions -= logsumexp(opinions, axis=2, keepdims=True)
    pairs = np.array([[0, 1], [1, 2], [5, 6], [0, 7]])
    same, errors = np.array([True, False, False, True]), np.array([0.1, 0.02, 0.3, 0.1])
    return HeldOut(opinions, np.array([2, 3, 4]), np.array([0, 2, 1]), pairs, same, errors)


def test_statements_are_as_probable_as_enumeration_says():
    held = statements()
    log_shares = combined(held.opinions, np.array([0.7, 0.4]))
    shares = np.exp(log_shares)
    expected = sum(
        np.log((1 - LABEL_ERROR) * shares[row, code] + LABEL_ERROR / 3)
        for row, code in zip(held.labelled, held.codes, strict=True)
    )
    for (a, b), same, error in zip(held.pairs, held.same, held.link_errors, strict=True):
        right = sum(shares[a, i] * shares[b, j] for i in range(3) for j in range(3) if (i == j) == same)
        expected += np.log((1 - error) * right + error * (1 - right))
    np.testing.assert_allclose(log_probability(log_shares, held)[0], expected, rtol=1e-12)


def test_the_gradient_is_that_of_differences():
    held = statements(1)
    scores = np.random.RandomState(2).normal(size=(8, 3))

    def value(flat: np.ndarray) -> float:
        given = flat.reshape(8, 3)
        return log_probability(given - logsumexp(given, axis=1, keepdims=True), held)[0]

    numeric = approx_fprime(scores.ravel(), value, 1e-6).reshape(8, 3)
    found = log_probability(scores - logsumexp(scores, axis=1, keepdims=True), held)[1]
    np.testing.assert_allclose(found, numeric, atol=1e-5)


def test_an_expert_that_knows_is_trusted_and_one_that_guesses_is_not():
    random = np.random.RandomState(0)
    codes = random.randint(3, size=200)
    knows = np.where(codes[:, None] == np.arange(3), 2.0, 0.0) + 0.3 * random.normal(size=(200, 3))
    guesses = 2 * random.normal(size=(200, 3))
    opinions = np.array([each - logsumexp(each, axis=1, keepdims=True) for each in (knows, guesses)])
    none = np.empty((0, 2), dtype=int)
    held = HeldOut(opinions, np.arange(200), codes, none, np.empty(0, dtype=bool), np.empty(0))
    weights = learn_weights(held, np.array([0.5, 0.5]))
    assert weights[0] > 10 * weights[1]
    even, learned = (log_probability(combined(opinions, each), held)[0] for each in (np.array([0.5, 0.5]), weights))
    assert learned > even


def test_links_alone_teach_weights():
    random = np.random.RandomState(0)
    codes = random.randint(2, size=300)
    knows = np.where(codes[:, None] == np.arange(2), 1.5, 0.0)
    guesses = 2 * random.normal(size=(300, 2))
    opinions = np.array([each - logsumexp(each, axis=1, keepdims=True) for each in (knows, guesses)])
    pairs = random.randint(300, size=(200, 2))
    none = np.empty(0, dtype=int)
    held = HeldOut(opinions, none, none, pairs, codes[pairs[:, 0]] == codes[pairs[:, 1]], np.full(200, 0.02))
    weights = learn_weights(held, np.array([0.5, 0.5]))
    assert weights[0] > 5 * weights[1]


def test_without_statements_the_prior_decides():
    none = np.empty(0, dtype=int)
    held = HeldOut(np.empty((2, 0, 3)), none, none, np.empty((0, 2), dtype=int), np.empty(0, dtype=bool), np.empty(0))
    assert learn_weights(held, np.array([0.2, 0.3])) == pytest.approx([0.2, 0.3])


def test_sure_experts_count_less_before_they_are_judged_and_all_together_as_much():
    random = np.random.default_rng(0)
    doubtful = np.log(random.dirichlet(np.full(3, 20.0), size=50))
    sure = np.log(np.clip(random.dirichlet(np.full(3, 0.05), size=50), 1e-4, 1))
    opinions = np.array([doubtful, doubtful, sure])
    sureness = (opinions.max(axis=2) - opinions.mean(axis=2)).mean(axis=1)
    prior = np.array([0.5, 0.1, 0.2])
    weights = balanced(prior, opinions, 0)
    assert weights @ sureness == pytest.approx(prior @ sureness)
    # Experts that are equally sure keep their proportion; the surer one has less than before, but still says more.
    assert weights[0] / weights[1] == pytest.approx(prior[0] / prior[1])
    assert weights[2] < prior[2]
    assert weights[2] / weights[1] > (prior[2] / prior[1]) * (sureness[1] / sureness[2])
    np.testing.assert_allclose(balanced([0.3, 0.4], opinions[:2], 0), [0.3, 0.4])
    # Many statements judge the experts themselves.
    np.testing.assert_allclose(balanced(prior, opinions, 10**6), prior, rtol=1e-3)
