"""Draws from the model, and labels and distances of its processes."""

from itertools import permutations

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import digamma
from scipy.stats import norm

from sidelight.admixture.model import (
    AttributeRanking,
    Parameters,
    attribute_distances,
    draw,
    draw_log_shares,
    match_labels,
)


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


def test_distances_equal_integrals_and_bound_the_error_rate():
    means, scales = np.array([[0.0, 1.0, 3.0], [2.0, 1.0, 3.1]]), np.array([[1.0, 0.5, 2.0], [0.7, 2.0, 2.0]])
    found = attribute_distances(means, scales, 0, 1)
    for g in range(3):
        p, q = norm(means[0, g], scales[0, g]).pdf, norm(means[1, g], scales[1, g]).pdf
        overlap = quad(lambda x, p=p, q=q: np.sqrt(p(x) * q(x)), -40, 40, limit=300, points=[0, 1, 2, 3])[0]
        error = quad(lambda x, p=p, q=q: 0.5 * min(p(x), q(x)), -40, 40, limit=300, points=[0, 1, 2, 3])[0]
        assert found[g] == pytest.approx(-np.log(overlap), abs=1e-9)
        assert error <= 0.5 * np.exp(-found[g])
    np.testing.assert_allclose(found, attribute_distances(means, scales, 1, 0))
    np.testing.assert_allclose(attribute_distances(means, scales, 1, 1), 0, atol=1e-15)


def test_ranking_puts_the_largest_distance_first_and_ties_in_order():
    ranking = AttributeRanking.of(np.array(["a", "b", "c", "d"], dtype=object), np.array([0.1, 2.0, 0.1, 3.0]))
    assert ranking.columns.tolist() == [3, 1, 0, 2]
    assert ranking.names.tolist() == ["d", "b", "a", "c"]
    assert ranking.distances.tolist() == [3.0, 2.0, 0.1, 0.1]


def test_labels_and_processes_are_matched_one_to_one_by_the_largest_sum_of_shares():
    """The best of all orders, found by enumeration; unmatched processes follow in order."""
    random = np.random.RandomState(0)
    for _ in range(20):
        shares, codes = random.dirichlet(np.full(4, 0.5), size=12), random.randint(-1, 2, size=12)
        found = match_labels(shares, codes, 2)
        assert sorted(found) == [0, 1, 2, 3]
        assert found[2] < found[3]
        sums = {
            pair: sum(shares[codes == label, process].sum() for label, process in enumerate(pair))
            for pair in permutations(range(4), 2)
        }
        assert sums[tuple(found[:2])] == pytest.approx(max(sums.values()))
    assert match_labels(shares, np.full(12, -1), 0).tolist() == [0, 1, 2, 3]
