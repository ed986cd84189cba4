"""Fused loops: taken where family, coupling and rows allow it, and the same as block by block."""

import numpy as np
import pytest

from oracles.conjugate import COMPONENTS, NAMES, case, scores
from oracles.mixtures import family_for, mixture_of, random_state
from sidelight.inference.fused import can_sweep, sweep
from sidelight.kernels.loops import NUMPY, compiled
from sidelight.tables.table import Block

LOG_WEIGHTS = np.log([0.5, 0.3, 0.2])
QUADRATIC = ("normal_wishart", "own_means", "normal_gamma")
GAUSSIANS = ("full", "diag", "spherical")


def block_of(X, codes=None, weights=None):
    return Block(slice(0, len(X)), X, np.ones(len(X)) if weights is None else weights, codes)


def labelled(codes):
    """Return what is added to the scores (rows, components) of rows with these classes."""
    return np.where((codes[:, None] >= 0) & (codes[:, None] != np.arange(COMPONENTS)), -np.inf, 0.0)


@pytest.mark.parametrize("name", NAMES)
def test_a_sweep_needs_compiled_loops_and_a_quadratic_form(name):
    given = case(name)
    quadratic = name in QUADRATIC
    assert can_sweep(given.family.evaluator(given.parameters, compiled()), compiled()) == quadratic
    evaluator = given.family.evaluator(given.parameters, NUMPY)
    assert not can_sweep(evaluator, NUMPY)
    if quadratic:
        assert sweep(evaluator, NUMPY, block_of(given.X), LOG_WEIGHTS) is None
        np.testing.assert_array_equal(evaluator.statistics().mass, 0.0)


@pytest.mark.parametrize("name", QUADRATIC)
@pytest.mark.parametrize("with_labels", [False, True])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_sweep_is_the_e_step_and_its_statistics(name, with_labels, dtype):
    given = case(name, seed=13, n=900)
    X, rng = given.X.astype(dtype), np.random.default_rng(1)
    codes = rng.integers(-1, COMPONENTS, size=len(X)) if with_labels else None
    weights = rng.uniform(0, 2, size=len(X))
    evaluator = given.family.evaluator(given.parameters, compiled())
    evidence = sweep(evaluator, compiled(), block_of(X, codes, weights), LOG_WEIGHTS, classes=np.arange(COMPONENTS))
    found = evaluator.statistics()

    plain = given.family.evaluator(given.parameters, NUMPY)
    joint = scores(plain, X) + LOG_WEIGHTS + (labelled(codes) if with_labels else 0.0)
    logs = np.logaddexp.reduce(joint, axis=1)
    np.testing.assert_allclose(evidence, logs @ weights, rtol=1e-10)
    responsibilities = np.exp(joint - logs[:, None]) * weights[:, None]
    np.testing.assert_allclose(found.mass, responsibilities.sum(axis=0), rtol=1e-10)
    np.testing.assert_allclose(found.first, responsibilities.T @ (X - found.origin), rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("covariance_type", GAUSSIANS)
@pytest.mark.parametrize("d", [1, 2, 5])
def test_a_step_by_sweeps_is_the_step_block_by_block(covariance_type, d):
    rng = np.random.default_rng(d)
    X = rng.normal(size=(2000, d)) * rng.uniform(0.5, 3, size=d) + rng.normal(size=d)
    family = family_for(X, covariance_type)
    state = random_state(rng, X, family, covariance_type, 5)
    found, objective = mixture_of(X, family, 5, backend=compiled()).step(state)
    expected, same_objective = mixture_of(X, family, 5, backend=NUMPY).step(state)
    np.testing.assert_allclose(objective, same_objective, rtol=1e-12)
    np.testing.assert_allclose(found.weights, expected.weights, rtol=1e-12, atol=1e-12)
    for ours, theirs in zip(found.parameters[:2], expected.parameters[:2], strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize("name", QUADRATIC)
def test_rows_with_a_missing_cell_go_block_by_block(name):
    given = case(name, seed=13)
    evaluator = given.family.evaluator(given.parameters, compiled())
    holed = given.X.copy()
    holed[-1, 0] = np.nan
    assert sweep(evaluator, compiled(), block_of(holed), LOG_WEIGHTS) is None
    np.testing.assert_array_equal(evaluator.statistics().mass, 0.0)
    assert sweep(evaluator, compiled(), block_of(given.X), LOG_WEIGHTS) is not None
    np.testing.assert_allclose(evaluator.statistics().mass.sum(), len(given.X), rtol=1e-12)
