"""The inner loops: right, and the same in both forms."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import logsumexp, softmax

from sidelight.kernels import loops as plain
from sidelight.kernels.loops import NUMPY, Backend, Links, Neighbours, PosteriorTables, compiled, front, rows_per_block

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


@BACKENDS
@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 9), st.integers(1, 40))
def test_where_there_is_less_room_features_are_squares_or_their_sum(backend: Backend, seed, d, n):
    rng = np.random.default_rng(seed)
    block, centre = rng.normal(size=(n, d)), rng.normal(size=d)
    x = (block - centre).T
    squares, norms = np.empty((1 + 2 * d, n)), np.empty((d + 2, n))
    backend.quadratic_features(block, centre, squares)
    backend.quadratic_features(block, centre, norms)
    np.testing.assert_allclose(squares, np.vstack([np.ones(n), x, x**2]), rtol=1e-15)
    np.testing.assert_allclose(norms, np.vstack([np.ones(n), x, (x**2).sum(axis=0)]), rtol=1e-14)


def random_neighbours(rng, n_rows, n_linked):
    counts = rng.integers(0, 4, size=n_rows)
    starts = np.concatenate([[0], np.cumsum(counts)])
    return Neighbours(starts, rng.integers(n_linked, size=starts[-1]).astype(np.int32), rng.normal(size=starts[-1]))


@pytest.mark.parametrize(("k", "kind"), [(1, np.float64), (5, np.float64), (8, np.float32), (30, np.float32)])
def test_a_linked_sweep_is_softmax_of_densities_and_neighbours(k, kind):
    rng = np.random.default_rng(k)
    n, d, place, n_linked = 50, 3, 7, 90
    n_features = 1 + d + d * (d + 1) // 2
    rows, centre, weights = rng.normal(size=(n, d)), rng.normal(size=d), rng.uniform(0, 2, size=n)
    coefficients = np.zeros((k + -k % 4, n_features))
    coefficients[:k] = rng.normal(size=(k, n_features))
    offsets = np.log(rng.dirichlet(np.ones(k)))
    if k > 1:
        offsets[1] = -np.inf
    tables = PosteriorTables()
    before, after = (tables.empty(n_linked, k, kind) for _ in range(2))
    for table in (before, after):
        table[:] = 0.0
        table[:, :k] = rng.dirichlet(np.ones(k), size=n_linked)
    # Rows that are updated at once are not among their own neighbours.
    early, late = random_neighbours(rng, n, place), random_neighbours(rng, n, n_linked)
    from_late, field = np.zeros((n, k)), np.zeros((n, k))
    plain.add_neighbours(*late, before, from_late)
    plain.add_neighbours(*early, after, field)
    features = np.empty((n_features, n))
    plain.quadratic_features(rows, centre, features)
    scores = (coefficients[:k] @ features).T + field + from_late + offsets
    shares = softmax(scores, axis=1)
    evidence = weights @ (logsumexp(scores, axis=1) - (shares * from_late).sum(axis=1))
    untouched = after[:place].copy()

    sums = np.ones((n_features, k))
    links = Links(early, late, before, after, place)
    room = 16, np.empty(n_features * 16), np.empty(len(coefficients) * 16)
    found = compiled().linked_sweep(rows, centre, coefficients, offsets, weights, links, sums, *room)
    np.testing.assert_allclose(found, evidence, rtol=1e-12)
    np.testing.assert_allclose(sums, 1 + features @ (shares * weights[:, None]), rtol=1e-11, atol=1e-12)
    np.testing.assert_allclose(after[place : place + n, :k], shares, rtol=100 * np.finfo(kind).eps, atol=1e-30)
    np.testing.assert_array_equal(after[place : place + n, k:], 0.0)
    np.testing.assert_array_equal(after[:place], untouched)


@BACKENDS
def test_neighbours_add_their_posteriors_times_the_strengths_of_links(backend: Backend):
    rng = np.random.default_rng(0)
    posterior, whole = rng.random((9, 4)), random_neighbours(rng, 20, 9)
    part = whole.part(slice(5, 15))
    out = np.ones((10, 3))
    backend.add_neighbours(*part, posterior, out)
    for row in range(10):
        own = slice(part.starts[row], part.starts[row + 1])
        expected = 1 + whole.strengths[own] @ posterior[whole.places[own], :3]
        np.testing.assert_allclose(out[row], expected, rtol=1e-12)


def test_plain_softmax_works_in_place():
    scores = np.zeros((2, 3))
    plain.softmax(scores, np.zeros(2), np.ones(3), np.empty(3))
    np.testing.assert_allclose(scores, 0.5)


def test_blocks_are_of_sizes_that_do_not_collide_in_the_cache():
    sizes = {rows_per_block(doubles) for doubles in range(1, 5000)}
    assert sizes == {192 * number for number in range(1, 17)}


def test_front_of_a_buffer_is_contiguous():
    part = front(np.arange(12.0), 2, 3)
    assert part.flags.c_contiguous
    np.testing.assert_array_equal(part, [[0, 1, 2], [3, 4, 5]])
