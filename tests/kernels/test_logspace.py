"""Sums of all others."""

import numpy as np
import pytest

from sidelight.kernels.loops import log_sum_of_others


@pytest.mark.parametrize("spread", [0.1, 5.0, 300.0, 3000.0])
def test_each_is_the_sum_without_its_own(spread):
    scores = np.random.default_rng(0).normal(size=(30, 5)) * spread
    expected = np.stack([np.logaddexp.reduce(np.delete(scores, m, axis=1), axis=1) for m in range(5)], axis=1)
    np.testing.assert_allclose(log_sum_of_others(scores), expected, rtol=1e-14, atol=1e-14)


def test_what_is_ruled_out_adds_nothing():
    scores = np.array([[0.0, -np.inf, -np.inf], [-np.inf, 1.0, 2.0]])
    expected = [[-np.inf, 0.0, 0.0], [np.logaddexp(1.0, 2.0), 2.0, 1.0]]
    np.testing.assert_allclose(log_sum_of_others(scores), expected)
