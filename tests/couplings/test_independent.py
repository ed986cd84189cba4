"""Rows that choose by themselves, with labels as a mask."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sidelight.couplings.independent import Hard, Independent
from sidelight.kernels.loops import NUMPY, compiled

CLASSES = np.array([0, 0, 1, 2])
BACKENDS = pytest.mark.parametrize("backend", [NUMPY, compiled()], ids=["numpy", "compiled"])


def problem(seed, n):
    rng = np.random.default_rng(seed)
    return (
        rng.normal(size=(len(CLASSES), n)) * 4,
        np.log(rng.dirichlet(np.ones(len(CLASSES)))),
        rng.integers(-1, 3, size=n),
        rng.uniform(0, 2, size=n),
    )


@BACKENDS
@settings(max_examples=50, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 30))
def test_soft_choice_is_bayes_rule_among_the_allowed(backend, seed, n):
    scores, log_weights, codes, weights = problem(seed, n)
    found, evidence = scores.copy(), np.empty(n)
    Independent(CLASSES, backend)(found, log_weights, codes, weights, evidence)
    for row in range(n):
        joint = np.exp(scores[:, row] + log_weights)
        if codes[row] >= 0:
            joint[codes[row] != CLASSES] = 0.0
        np.testing.assert_allclose(found[:, row], weights[row] * joint / joint.sum(), rtol=1e-9)
        np.testing.assert_allclose(evidence[row], np.log(joint.sum()), rtol=1e-9, atol=1e-12)


@BACKENDS
@settings(max_examples=50, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 30))
def test_hard_choice_is_the_best_of_the_allowed(backend, seed, n):
    scores, log_weights, codes, weights = problem(seed, n)
    found, evidence = scores.copy(), np.empty(n)
    Hard(CLASSES, backend)(found, log_weights, codes, weights, evidence)
    for row in range(n):
        allowed = [k for k in range(len(CLASSES)) if codes[row] in (-1, CLASSES[k])]
        best = max(allowed, key=lambda k: scores[k, row] + log_weights[k])
        np.testing.assert_array_equal(np.flatnonzero(found[:, row]), [best] if weights[row] else [])
        np.testing.assert_allclose(evidence[row], scores[best, row] + log_weights[best])


def test_without_codes_every_component_is_allowed():
    scores, log_weights, _, weights = problem(0, 5)
    free, coded = scores.copy(), scores.copy()
    Independent(CLASSES, NUMPY)(free, log_weights, None, weights, np.empty(5))
    Independent(CLASSES, NUMPY)(coded, log_weights, np.full(5, -1), weights, np.empty(5))
    np.testing.assert_array_equal(free, coded)
