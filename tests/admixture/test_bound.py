"""The bound and its ascent, against the model written out cell by cell."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from plain_processes import (
    bound,
    cell_probabilities,
    in_table_units,
    log_prior,
    random_problem,
    two_process_log_likelihood,
)
from scipy.stats import norm

from sidelight.admixture import ascent
from sidelight.admixture.cells import accumulate, accumulate_for
from sidelight.admixture.model import State
from sidelight.admixture.scaling import survey_observed
from sidelight.inference.rows import Rows

KINDS = pytest.mark.parametrize(
    ("prior", "blocks", "missing"),
    [("ml", False, False), ("ml", True, True), ("map", False, True), ("map", True, False)],
)


def slow_bound(problem, gamma=None, q=None):
    on_data, state = problem
    means, variances = in_table_units(problem)
    gamma = state.gamma if gamma is None else gamma
    X = on_data.rows.X
    q = cell_probabilities(X, on_data.blocks, gamma, means, variances) if q is None else q
    prior = log_prior(on_data.prior, state.parameters.means, state.parameters.variances)
    return bound(X, on_data.blocks, state.parameters.alpha, gamma, q, means, variances) + prior


@KINDS
@pytest.mark.parametrize("seed", range(3))
def test_equals_the_slow_bound(prior, blocks, missing, seed):
    problem = random_problem(seed, prior=prior, blocks=blocks, missing=missing)
    on_data, state = problem
    found = on_data.bound(state, on_data.expect(state))
    assert found == pytest.approx(slow_bound(problem), rel=1e-10)


@KINDS
def test_sums_are_those_of_the_full_array(prior, blocks, missing):
    problem = random_problem(5, prior=prior, blocks=blocks, missing=missing)
    on_data, state = problem
    X = on_data.rows.X
    q = np.nan_to_num(cell_probabilities(X, on_data.blocks, state.gamma, *in_table_units(problem)))
    expectation = on_data.expect(state)
    values = np.nan_to_num((X - on_data.scaling.centre) / on_data.scaling.scale)
    for power, found in enumerate(expectation.sums):
        np.testing.assert_allclose(found, np.einsum("ngk,ng->kg", q, values**power), rtol=1e-10, atol=1e-12)
    by_block = np.stack([q[on_data.blocks == c].sum(axis=(0, 1)) for c in range(len(state.gamma))])
    np.testing.assert_allclose(expectation.mass, by_block, rtol=1e-10)


@KINDS
def test_the_updates_of_q_and_gamma_cannot_be_bettered(prior, blocks, missing):
    """Any other Q for this γ, and any other γ for this Q, gives a lower slow bound (eqs. 6 and 7)."""
    problem = random_problem(8, prior=prior, blocks=blocks, missing=missing, n=6)
    on_data, state = problem
    rng = np.random.default_rng(0)
    q = cell_probabilities(on_data.rows.X, on_data.blocks, state.gamma, *in_table_units(problem))
    gamma = state.parameters.alpha + on_data.expect(state).mass
    np.testing.assert_allclose(on_data.maximise(state, on_data.expect(state)).gamma, gamma)
    best_q, best_gamma = slow_bound(problem, q=q), slow_bound(problem, gamma=gamma, q=q)
    assert best_gamma > best_q
    for size in (1e-3, 0.1):
        other = q * np.exp(size * rng.normal(size=q.shape))
        assert slow_bound(problem, q=other / other.sum(axis=2, keepdims=True)) < best_q
        assert slow_bound(problem, gamma=gamma * np.exp(size * rng.normal(size=gamma.shape)), q=q) < best_gamma


@given(
    seed=st.integers(0, 10**6),
    prior=st.sampled_from(["ml", "map"]),
    blocks=st.booleans(),
    missing=st.booleans(),
    n=st.integers(3, 30),
    d=st.integers(1, 6),
    n_processes=st.integers(1, 5),
)
@settings(max_examples=120, deadline=None)
def test_never_falls(seed, prior, blocks, missing, n, d, n_processes):
    on_data, state = random_problem(
        seed, prior=prior, blocks=blocks, missing=missing, n=n, d=d, n_processes=n_processes
    )
    heights = []
    for _ in range(25):
        state, height = on_data.step(state)
        heights.append(height)
    heights = np.array(heights)
    assert np.isfinite(heights).all()
    assert (np.diff(heights) >= -1e-9 * np.maximum(np.abs(heights[1:]), 1)).all()


@pytest.mark.parametrize("seed", range(4))
def test_lies_below_the_likelihood(seed):
    """For two processes the integral over θ can be taken exactly."""
    problem = random_problem(seed, blocks=True, missing=True, n=8, d=2, n_processes=2)
    on_data, state = problem
    for _ in range(50):
        state, _ = on_data.step(state)
    height = on_data.bound(state, on_data.expect(state))
    means, variances = in_table_units(problem._replace(state=state))
    likelihood = 0.0
    for c in range(len(state.gamma)):
        cells = on_data.rows.X[on_data.blocks == c]
        densities = norm.pdf(cells, means[:, None], np.sqrt(variances)[:, None])[:, ~np.isnan(cells)]
        likelihood += two_process_log_likelihood(densities, state.parameters.alpha)
    assert likelihood - 1.5 * len(state.gamma) < height < likelihood


def test_units_do_not_matter_but_for_the_volume():
    """A table in other units has the same fit; its density changes by the product of the units."""
    problem = random_problem(3, prior="map", missing=True)
    on_data, state = problem
    units = np.array([1e-3, 1.0, 1e4])
    rows = Rows(on_data.rows.X * units + 7)
    other = replace(on_data, rows=rows, scaling=survey_observed(rows))
    after, height = on_data.step(state)
    other_after, other_height = other.step(state)
    np.testing.assert_allclose(other_after.parameters.means, after.parameters.means, rtol=1e-6, atol=1e-9)
    volume = (~np.isnan(rows.X)).sum(axis=0) @ np.log(units)
    assert other_height == pytest.approx(height - volume, rel=1e-9)


def test_compiled_form_gives_the_same():
    pytest.importorskip("numba")
    compiled = accumulate_for(10**12)
    assert compiled is not accumulate
    for missing in (False, True):
        plain = random_problem(1, blocks=True, missing=missing, n=70, d=9, n_processes=5)
        quick = random_problem(1, blocks=True, missing=missing, n=70, d=9, n_processes=5, form=compiled)
        expected, found = plain.on_data.expect(plain.state), quick.on_data.expect(quick.state)
        assert found.evidence == pytest.approx(expected.evidence, rel=1e-12)
        np.testing.assert_allclose(found.mass, expected.mass, rtol=1e-11, atol=1e-13)
        np.testing.assert_allclose(found.sums, expected.sums, rtol=1e-11, atol=1e-12)


def test_few_cells_are_not_worth_compiling_for():
    assert accumulate_for(1000) is accumulate


@pytest.mark.parametrize("blocks", [False, True])
def test_threads_and_chunks_change_nothing(blocks, monkeypatch):
    """Bit for bit for threads; to rounding for the size of what is read at once."""
    whole = random_problem(2, blocks=blocks, missing=True, n=200, d=4)
    expected, _ = whole.on_data.step(whole.state)
    monkeypatch.setattr(ascent, "_CHUNK_SCORES", 400)
    monkeypatch.setattr(ascent, "_BLOCK_ROWS", 16)
    one = random_problem(2, blocks=blocks, missing=True, n=200, d=4)
    many = random_problem(2, blocks=blocks, missing=True, n=200, d=4, n_threads=4)
    first, second = one.on_data.step(one.state), many.on_data.step(many.state)
    assert first[1] == second[1]
    for a, b in zip(flat(first[0]), flat(second[0]), strict=True):
        np.testing.assert_array_equal(a, b)
    for a, b in zip(flat(first[0]), flat(expected), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-9)


def flat(state: State):
    return (*state.parameters, state.gamma)


def test_one_block_of_all_rows_has_one_gamma():
    on_data, state = random_problem(4, n=20, d=3)
    together = replace(on_data, blocks=np.zeros(20, int))
    state = State(state.parameters, state.gamma[:1])
    after, _ = together.step(state)
    assert after.gamma.shape == (1, 3)
    assert after.gamma.sum() == pytest.approx(state.parameters.alpha.sum() + 60)
