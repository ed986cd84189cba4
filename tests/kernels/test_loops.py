"""The inner loops: right, and the same in both forms."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import logsumexp, softmax

from sidelight.kernels import plain
from sidelight.kernels.backend import NUMPY, Backend, compiled
from sidelight.kernels.blocks import front, rows_per_block

BACKENDS = pytest.mark.parametrize("backend", [NUMPY, compiled()], ids=["numpy", "compiled"])


def scores_of(seed, k, n, spread):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(k, n)) * spread, np.log(rng.dirichlet(np.ones(k))), rng.uniform(0, 2, size=n)


@BACKENDS
@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 13), st.integers(1, 70), st.sampled_from([0.1, 5.0, 300.0, 1e5]))
def test_softmax_equals_scipy(backend: Backend, seed, k, n, spread):
    scores, offsets, weights = scores_of(seed, k, n, spread)
    shares, evidence = scores.copy(), np.empty(n)
    backend.softmax(shares, offsets, weights, evidence)
    joint = scores + offsets[:, None]
    np.testing.assert_allclose(shares, softmax(joint, axis=0) * weights, rtol=1e-10, atol=1e-15)
    np.testing.assert_allclose(evidence, logsumexp(joint, axis=0), rtol=1e-13, atol=1e-13)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 13), st.integers(1, 70), st.sampled_from([0.1, 5.0, 300.0, 1e5]))
def test_compiled_equals_numpy_to_twelve_digits(seed, k, n, spread):
    scores, offsets, weights = scores_of(seed, k, n, spread)
    for name in ("softmax", "argmax"):
        results = []
        for backend in (NUMPY, compiled()):
            shares, evidence = scores.copy(), np.empty(n)
            getattr(backend, name)(shares, offsets, weights, evidence)
            results.append((shares, evidence))
        np.testing.assert_allclose(results[0][0], results[1][0], rtol=1e-12, atol=1e-300)
        np.testing.assert_allclose(results[0][1], results[1][1], rtol=1e-12, atol=1e-12)


@BACKENDS
def test_what_is_ruled_out_gets_exactly_nothing(backend: Backend):
    scores = np.array([[0.0, -np.inf, 3.0], [-np.inf, 1.0, 2.0], [-5000.0, -2000.0, -900.0]])
    evidence = np.empty(3)
    backend.softmax(scores, np.zeros(3), np.ones(3), evidence)
    assert scores[1, 0] == 0
    assert scores[0, 1] == 0
    assert np.all(scores[2] == 0)
    np.testing.assert_allclose(evidence[:2], [0.0, 1.0])


@BACKENDS
def test_argmax_gives_the_row_to_the_first_of_the_best(backend: Backend):
    scores, evidence = np.array([[1.0, 2.0, 0.0], [1.0, 5.0, 4.0]]), np.empty(3)
    backend.argmax(scores, np.array([0.0, 0.0]), np.array([2.0, 1.0, 0.5]), evidence)
    np.testing.assert_array_equal(scores, [[2.0, 0.0, 0.0], [0.0, 1.0, 0.5]])
    np.testing.assert_array_equal(evidence, [1.0, 5.0, 4.0])


@BACKENDS
@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 9), st.integers(1, 40))
def test_quadratic_features_are_all_products(backend: Backend, seed, d, n):
    rng = np.random.default_rng(seed)
    block, centre = rng.normal(size=(n, d)), rng.normal(size=d)
    out = np.empty((1 + d + d * (d + 1) // 2, n))
    backend.quadratic_features(block, centre, out)
    x = (block - centre).T
    products = [x[i] * x[j] for i in range(d) for j in range(i, d)]
    np.testing.assert_allclose(out, np.vstack([np.ones(n), x, products]), rtol=1e-15)


def test_plain_softmax_works_in_place():
    scores = np.zeros((2, 3))
    plain.softmax(scores, np.zeros(2), np.ones(3), np.empty(3))
    np.testing.assert_allclose(scores, 0.5)


def test_blocks_are_of_sizes_that_do_not_collide_in_the_cache():
    sizes = {rows_per_block(doubles) for doubles in range(1, 5000)}
    assert sizes == {192, 384, 576, 768}


def test_front_of_a_buffer_is_contiguous():
    part = front(np.arange(12.0), 2, 3)
    assert part.flags.c_contiguous
    np.testing.assert_array_equal(part, [[0, 1, 2], [3, 4, 5]])
