"""One step and the bound, compared with the model written out cell by cell."""

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

from sidelight.admixture.model import State
from sidelight.admixture.scaling import survey_scaling
from sidelight.inference.executors.threads import Threads
from sidelight.tables.table import ArrayTable, Rows

KINDS = pytest.mark.parametrize(
    ("prior", "blocks", "missing"),
    [("ml", False, False), ("ml", True, True), ("map", False, True), ("map", True, False)],
)


def slow_bound(problem, gamma=None, q=None):
    decomposition, state = problem
    means, variances = in_table_units(problem)
    gamma = state.gamma if gamma is None else gamma
    X = decomposition.rows.table.array
    q = cell_probabilities(X, decomposition.blocks, gamma, means, variances) if q is None else q
    prior = log_prior(decomposition.prior, state.parameters.means, state.parameters.variances)
    return bound(X, decomposition.blocks, state.parameters.alpha, gamma, q, means, variances) + prior


@KINDS
@pytest.mark.parametrize("seed", range(3))
def test_bound_equals_the_sum_over_cells(prior, blocks, missing, seed):
    problem = random_problem(seed, prior=prior, blocks=blocks, missing=missing)
    decomposition, state = problem
    found = decomposition.bound(state, decomposition.expect(state))
    assert found == pytest.approx(slow_bound(problem), rel=1e-10)


@KINDS
def test_sums_equal_those_of_the_full_array(prior, blocks, missing):
    problem = random_problem(5, prior=prior, blocks=blocks, missing=missing)
    decomposition, state = problem
    X = decomposition.rows.table.array
    q = np.nan_to_num(cell_probabilities(X, decomposition.blocks, state.gamma, *in_table_units(problem)))
    expectation = decomposition.expect(state)
    values = np.nan_to_num((X - decomposition.scaling.centre) / decomposition.scaling.scale)
    for power, found in enumerate(expectation.sums):
        np.testing.assert_allclose(found, np.einsum("ngk,ng->kg", q, values**power), rtol=1e-10, atol=1e-12)
    by_block = np.stack([q[decomposition.blocks == c].sum(axis=(0, 1)) for c in range(len(state.gamma))])
    np.testing.assert_allclose(expectation.mass, by_block, rtol=1e-10)


@KINDS
def test_updates_of_q_and_gamma_maximise_the_bound(prior, blocks, missing):
    """Any other Q for this γ, and any other γ for this Q, has a lower bound (eqs. 6 and 7)."""
    problem = random_problem(8, prior=prior, blocks=blocks, missing=missing, n=6)
    decomposition, state = problem
    rng = np.random.default_rng(0)
    q = cell_probabilities(decomposition.rows.table.array, decomposition.blocks, state.gamma, *in_table_units(problem))
    gamma = state.parameters.alpha + decomposition.expect(state).mass
    np.testing.assert_allclose(decomposition.maximise(state, decomposition.expect(state)).gamma, gamma)
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
def test_bound_never_decreases(seed, prior, blocks, missing, n, d, n_processes):
    decomposition, state = random_problem(
        seed, prior=prior, blocks=blocks, missing=missing, n=n, d=d, n_processes=n_processes
    )
    heights = []
    for _ in range(25):
        state, height = decomposition.step(state)
        heights.append(height)
    heights = np.array(heights)
    assert np.isfinite(heights).all()
    assert (np.diff(heights) >= -1e-9 * np.maximum(np.abs(heights[1:]), 1)).all()


@pytest.mark.parametrize("seed", range(4))
def test_bound_lies_below_the_likelihood(seed):
    """For two processes the integral over θ is known exactly."""
    problem = random_problem(seed, blocks=True, missing=True, n=8, d=2, n_processes=2)
    decomposition, state = problem
    for _ in range(50):
        state, _ = decomposition.step(state)
    height = decomposition.bound(state, decomposition.expect(state))
    means, variances = in_table_units(problem._replace(state=state))
    likelihood = 0.0
    for c in range(len(state.gamma)):
        cells = decomposition.rows.table.array[decomposition.blocks == c]
        densities = norm.pdf(cells, means[:, None], np.sqrt(variances)[:, None])[:, ~np.isnan(cells)]
        likelihood += two_process_log_likelihood(densities, state.parameters.alpha)
    assert likelihood - 1.5 * len(state.gamma) < height < likelihood


def test_units_change_the_bound_by_the_log_volume_only():
    """A table in other units has the same fit; its log density changes by the logarithm of the units."""
    problem = random_problem(3, prior="map", missing=True)
    decomposition, state = problem
    units = np.array([1e-3, 1.0, 1e4])
    X = decomposition.rows.table.array * units + 7
    rows = Rows(ArrayTable(X))
    other = replace(decomposition, rows=rows, scaling=survey_scaling(rows))
    after, height = decomposition.step(state)
    other_after, other_height = other.step(state)
    np.testing.assert_allclose(other_after.parameters.means, after.parameters.means, rtol=1e-6, atol=1e-9)
    volume = (~np.isnan(X)).sum(axis=0) @ np.log(units)
    assert other_height == pytest.approx(height - volume, rel=1e-9)


@pytest.mark.parametrize("blocks", [False, True])
def test_results_do_not_depend_on_threads_and_sizes(blocks):
    """To the bit for the number of threads; to rounding for the sizes of chunks and parts."""
    table = {"blocks": blocks, "missing": True, "n": 200, "d": 4}
    small = {"part_rows": 16, "chunk_scores": 400}
    whole, one, four = (
        problem.decomposition.step(problem.state)
        for problem in (
            random_problem(2, **table),
            random_problem(2, **table, **small),
            random_problem(2, **table, **small, executor=Threads(4)),
        )
    )
    assert one[1] == four[1]
    for a, b in zip(flat(one[0]), flat(four[0]), strict=True):
        np.testing.assert_array_equal(a, b)
    for a, b in zip(flat(one[0]), flat(whole[0]), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-9)


def flat(state: State):
    return (*state.parameters, state.gamma)


def test_one_block_of_all_rows_has_one_gamma():
    decomposition, state = random_problem(4, n=20, d=3)
    together = replace(decomposition, blocks=np.zeros(20, int))
    state = State(state.parameters, state.gamma[:1])
    after, _ = together.step(state)
    assert after.gamma.shape == (1, 3)
    assert after.gamma.sum() == pytest.approx(state.parameters.alpha.sum() + 60)
