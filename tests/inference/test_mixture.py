"""The pass and the ascent: never downhill, and the same for any number of threads."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import multivariate_normal

from oracles.mixtures import FAMILIES, assigned, family_for, mixture_of, random_state, rows_of
from sidelight.couplings.chunklets import ChunkletCoupling
from sidelight.couplings.independent import Hard, Independent
from sidelight.kernels.loops import NUMPY, compiled, outright, softly
from sidelight.tables.table import CHUNK_ROWS

COUPLINGS = {"soft": (Independent, softly), "hard": (Hard, outright)}


def problem(seed, covariance_type, assignment, *, labelled, weighted, blocks, n=60, d=2, backend=NUMPY):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * rng.uniform(0.1, 10, size=d) + rng.normal(size=(n, 1)) * 3
    classes = np.array([0, 0, 1, 2])
    k = len(classes)
    family = family_for(X, covariance_type, rows=1.0, fraction=0.02)
    coupling, choose = COUPLINGS[assignment]
    rows = {}
    codes = np.where(rng.uniform(size=n) < 0.3, rng.integers(0, 3, size=n), -1)
    weights = rng.choice([0.1, 1.0, 2.0], size=n)
    if labelled:
        rows["codes"] = codes
    if weighted:
        rows["weights"] = weights
    couplings = ()
    if blocks:
        members = rng.permutation(n)[:12]
        chunklets = ChunkletCoupling(
            members,
            np.array([0, 3, 8]),
            np.array([-1, 1 if labelled else -1, -1]),
            weights[members] if weighted else np.ones(12),
            np.array([1.0, 1.0, 0.3]),
            classes,
            choose,
        )
        couplings = (chunklets,)
    mixture = mixture_of(X, family, k, backend=backend, coupling=coupling, classes=classes, couplings=couplings, **rows)
    return mixture, random_state(rng, X, family, covariance_type, k)


@settings(max_examples=120, deadline=None)
@given(
    st.integers(0, 10**6),
    st.sampled_from(list(FAMILIES)),
    st.sampled_from(["soft", "hard"]),
    st.booleans(),
    st.booleans(),
    st.booleans(),
)
def test_every_step_raises_the_objective(seed, covariance_type, assignment, labelled, weighted, blocks):
    mixture, state = problem(seed, covariance_type, assignment, labelled=labelled, weighted=weighted, blocks=blocks)
    previous = -np.inf
    for _ in range(12):
        state, objective = mixture.step(state)
        assert objective >= previous - 1e-9 * abs(previous) if np.isfinite(previous) else True
        previous = objective
    final = assigned(mixture, state)[1]
    assert final >= previous - 1e-9 * abs(previous)


@pytest.mark.parametrize("assignment", ["soft", "hard"])
def test_the_objective_is_the_likelihood_it_claims_to_be(assignment):
    mixture, state = problem(3, "full", assignment, labelled=True, weighted=True, blocks=False)
    _, objective = mixture.step(state)
    densities = np.stack(
        [
            multivariate_normal(mean, covariance).logpdf(rows_of(mixture))
            for mean, covariance in zip(state.parameters.means, state.parameters.covariances, strict=True)
        ],
        axis=1,
    )
    joint = densities + state.weights
    codes, classes = mixture.rows.codes, mixture.weights.classes
    joint[(codes[:, None] >= 0) & (codes[:, None] != classes)] = -np.inf
    value = np.logaddexp.reduce(joint, axis=1) if assignment == "soft" else joint.max(axis=1)
    expected = mixture.rows.weights @ value + mixture.family.log_prior(state.parameters)
    np.testing.assert_allclose(objective, expected, rtol=1e-10)


def test_results_are_the_same_for_any_number_of_threads():
    rng = np.random.default_rng(0)
    n = 3 * CHUNK_ROWS + 17
    X = rng.normal(size=(n, 3))
    family = family_for(X, "full", rows=1.0, fraction=0.02)
    state = random_state(rng, X, family, "full", 4)
    results = []
    for n_threads in (1, 2, 3):
        mixture = mixture_of(X, family, 4, n_threads=n_threads)
        results.append(mixture.step(state))
    for following, objective in results[1:]:
        assert objective == results[0][1]
        np.testing.assert_array_equal(following.parameters.covariances, results[0][0].parameters.covariances)
        np.testing.assert_array_equal(following.weights, results[0][0].weights)


def test_both_backends_take_the_same_steps():
    states = []
    for backend in (NUMPY, compiled()):
        mixture, state = problem(5, "full", "soft", labelled=True, weighted=True, blocks=True, n=900, backend=backend)
        for _ in range(3):
            state, objective = mixture.step(state)
        states.append((state, objective))
    np.testing.assert_allclose(states[0][1], states[1][1], rtol=1e-12)
    np.testing.assert_allclose(states[0][0].parameters.means, states[1][0].parameters.means, rtol=1e-9)


@pytest.mark.parametrize("labelled", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("left_out", [False, True])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_sweeping_a_chunk_at_once_gives_what_blocks_give(labelled, weighted, left_out, dtype):
    rng = np.random.default_rng(9)
    n, k = CHUNK_ROWS + 500, 5
    X = (rng.normal(size=(n, 3)) * 4).astype(dtype)
    X.setflags(write=False)
    family = family_for(X, "full", rows=1.0, fraction=0.02)
    rows = {"codes": rng.integers(-1, 3, size=n)} if labelled else {}
    rows |= {"weights": rng.uniform(0, 2, size=n)} if weighted else {}
    rows |= {"left_out": rng.random(n) < 0.3} if left_out else {}
    classes = np.array([0, 0, 1, 2, 2])
    state = random_state(rng, X, family, "full", k)
    swept = mixture_of(X, family, k, backend=compiled(), classes=classes, **rows)
    by_blocks = mixture_of(X, family, k, backend=NUMPY, classes=classes, **rows)
    for mixture, sweeps in ((swept, True), (by_blocks, False)):
        visit = mixture.visit(state)
        assert (visit._sweep(visit.evaluator(), mixture.alone, slice(0, 10)) is not None) == sweeps
    found, expected = swept.expect(state), by_blocks.expect(state)
    np.testing.assert_allclose(found.evidence, expected.evidence, rtol=1e-12)
    for name in ("mass", "first", "second"):
        np.testing.assert_allclose(
            getattr(found.statistics, name), getattr(expected.statistics, name), rtol=1e-10, atol=1e-8
        )


def test_rows_in_blocks_are_written_once_and_posteriors_sum_to_one():
    mixture, state = problem(7, "diag", "soft", labelled=True, weighted=True, blocks=True)
    seen = np.zeros(mixture.rows.shape[0])
    for part in mixture.assign(state):
        seen[part.numbers] += 1
        np.testing.assert_allclose(part.posterior.sum(axis=1), 1.0)
    np.testing.assert_array_equal(seen, 1)


def test_a_table_that_is_wholly_coupled_needs_no_free_rows():
    rng = np.random.default_rng(8)
    X = rng.normal(size=(6, 2))
    family = family_for(X, "full", rows=1.0, fraction=0.1)
    classes = np.arange(2)
    members = np.arange(6)
    chunklets = ChunkletCoupling(members, np.array([0, 3]), np.full(2, -1), np.ones(6), np.ones(2), classes, softly)
    mixture = mixture_of(X, family, 2, couplings=(chunklets,))
    state, first = mixture.step(random_state(rng, X, family, "full", 2))
    assert mixture.step(state)[1] >= first
