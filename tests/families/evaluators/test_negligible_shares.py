"""Rows that have next to nothing of a component are left out of its sums, which stay the same to rounding."""

import numpy as np
import pytest

from sidelight.families.evaluators.centred import ScaledEvaluator, TriangularEvaluator

N, D, K = 200, 5, 4


def evaluators(rng):
    means, factors = rng.normal(size=(K, D)), np.stack([np.tril(rng.normal(size=(D, D))) + 3 * np.eye(D)] * K)
    return [TriangularEvaluator(means, factors, np.zeros(K)), ScaledEvaluator(means, np.ones((K, D)), np.zeros(K))]


@pytest.mark.parametrize("number", [0, 1])
def test_sums_are_those_of_all_rows(number):
    rng = np.random.default_rng(0)
    evaluator = evaluators(rng)[number]
    rows, shares = rng.normal(size=(N, D)), rng.dirichlet(np.ones(K), size=N).T
    # A component that owns few rows, one that owns next to nothing, and one that owns nothing at all.
    shares[1, 20:] = 1e-40
    shares[2] *= 1e-200
    shares[3] = 0.0
    evaluator.load(rows)
    evaluator.accumulate(shares)
    found = evaluator.statistics()
    offsets = rows[None] - found.origin[:, None]
    second = np.einsum("kn,kni,knj->kij", shares, offsets, offsets)
    second = second if found.second.ndim == 3 else np.diagonal(second, axis1=1, axis2=2)
    np.testing.assert_allclose(found.mass, shares.sum(axis=1), rtol=1e-12)
    np.testing.assert_allclose(found.first, np.einsum("kn,kni->ki", shares, offsets), rtol=1e-10)
    np.testing.assert_allclose(found.second, second, rtol=1e-10)
