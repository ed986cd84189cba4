"""Exponential and logarithm: as exact as the C library's."""

import numpy as np
from numba import vectorize

from sidelight.kernels.elementary import exp_of_nonpositive, log_of_normal


@vectorize
def exps(x):
    return exp_of_nonpositive(x)


@vectorize
def logs(x):
    return log_of_normal(x)


def test_exp_is_exact_to_a_few_roundings():
    x = -np.concatenate([np.linspace(0.0, 700.0, 20_001), np.logspace(-18, 0, 1000)])
    exact = np.exp(x.astype(np.longdouble))
    assert np.max(np.abs(exps(x) - exact) / exact) < 2e-15
    np.testing.assert_array_equal(exps(np.array([-800.0, -np.inf])), 0.0)


def test_log_is_exact_to_rounding_at_all_sizes_and_near_one():
    rng = np.random.default_rng(0)
    near_one = 1.0 + rng.choice([-1, 1], size=4000) * 10.0 ** rng.uniform(-15.5, -0.4, size=4000)
    x = np.concatenate([rng.uniform(0.5, 60.0, size=4000), near_one, 10.0 ** rng.uniform(-307, 308, size=4000)])
    exact = np.log(x.astype(np.longdouble))
    assert np.max(np.abs(logs(x) - exact) / np.abs(exact)) < 2.3e-16
    np.testing.assert_array_equal(logs(2.0 ** np.arange(3)), np.log(2.0 ** np.arange(3)))
