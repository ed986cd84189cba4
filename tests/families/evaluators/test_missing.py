"""Rows with missing cells: patterns that are kept or forgotten, complete rows, evaluators made when they are needed."""

import numpy as np

from oracles.conjugate import accumulated, case, collect, scores
from sidelight.families.evaluators.missing import PatternEvaluator
from sidelight.kernels.loops import NUMPY


def gaussian_score(distances, log_scales, n_observed):
    return log_scales - 0.5 * distances - 0.5 * n_observed * np.log(2 * np.pi)


def test_more_patterns_than_are_kept_change_nothing():
    rng = np.random.default_rng(9)
    X = rng.normal(size=(200, 6))
    X[rng.random(X.shape) < 0.5] = np.nan
    root = rng.normal(size=(2, 6, 6))
    posterior = rng.normal(size=(2, 6)), root @ root.swapaxes(1, 2) + np.eye(6), np.array([9.0, 12.0])
    responsibilities = rng.dirichlet(np.ones(2), size=200)
    kept, forgotten = (
        PatternEvaluator(*posterior, gaussian_score, **limits) for limits in ({}, {"block_rows": 16, "kept_doubles": 1})
    )
    assert forgotten.block_rows < len(np.unique(np.isnan(X), axis=0)) < kept.block_rows
    np.testing.assert_allclose(scores(forgotten, X), scores(kept, X), rtol=1e-12)
    found, expected = (accumulated(evaluator, X, responsibilities) for evaluator in (forgotten, kept))
    for name in ("mass", "first", "second"):
        np.testing.assert_allclose(getattr(found, name), getattr(expected, name), rtol=1e-10, atol=1e-12)


def test_patterns_are_factored_only_when_a_row_lacks_a_cell():
    given = case("normal_wishart", seed=9)
    evaluator = given.family.evaluator(given.parameters, NUMPY)
    whole = accumulated(evaluator, given.X, given.responsibilities)
    assert evaluator._partial is None
    holed = given.X.copy()
    holed[5, 1] = np.nan
    accumulated(evaluator, holed, given.responsibilities)
    assert isinstance(evaluator._partial, PatternEvaluator)
    # An evaluator that has met a missing cell gives the same for complete rows as one that has not.
    again = accumulated(evaluator, given.X, given.responsibilities)
    for name in ("mass", "first", "second"):
        np.testing.assert_array_equal(getattr(again, name), getattr(whole, name))


def test_complete_rows_are_the_same_by_both_ways():
    given = case("normal_wishart", seed=9, n=700)
    evaluator = given.family.evaluator(given.parameters, NUMPY)
    by_pattern = evaluator._make_partial()
    assert isinstance(by_pattern, PatternEvaluator)
    np.testing.assert_allclose(scores(by_pattern, given.X), scores(evaluator, given.X), rtol=1e-9)
    found = given.family.update(accumulated(by_pattern, given.X, given.responsibilities))
    expected = given.family.update(collect(given.family, given.parameters, given.X, given.responsibilities))
    for name, values in given.family.attributes(expected).items():
        np.testing.assert_allclose(given.family.attributes(found)[name], values, rtol=1e-8)


def test_missing_cells_that_others_nearly_determine():
    # Columns in very different units, and two of them equal to three digits.
    rng = np.random.default_rng(3)
    root = rng.normal(size=(1, 5, 7))
    root[0, 1] = root[0, 0] + 1e-3 * root[0, 1]
    units = np.array([1e120, 1e-120, 1.0, 1e-3, 1e40])
    plain = root @ root.swapaxes(1, 2)
    X = rng.normal(size=(40, 7)) @ root[0].T
    X[rng.random(X.shape) < 0.4] = np.nan
    degrees, mean = np.array([11.0]), np.zeros((1, 5))
    evaluator = PatternEvaluator(mean, plain * units[:, None] * units, degrees, gaussian_score)
    found = scores(evaluator, X * units)[:, 0]
    statistics = accumulated(evaluator, X * units, np.ones((40, 1)))
    second = np.zeros((5, 5))
    for row, score in zip(X, found, strict=True):
        seen, lost = ~np.isnan(row), np.isnan(row)
        within, across = plain[0][np.ix_(seen, seen)], plain[0][np.ix_(lost, seen)]
        solved = np.linalg.solve(within, row[seen])
        expected = -0.5 * (row[seen] @ solved + np.linalg.slogdet(within)[1] + seen.sum() * np.log(2 * np.pi))
        np.testing.assert_allclose(score, expected - np.log(units[seen]).sum(), rtol=1e-8, atol=1e-9)
        filled = np.where(seen, row, 0.0)
        filled[lost] = across @ solved
        second += np.outer(filled, filled)
        covariance = plain[0][np.ix_(lost, lost)] - across @ np.linalg.solve(within, across.T)
        second[np.ix_(lost, lost)] += covariance / degrees[0]
    np.testing.assert_allclose(statistics.second[0] / units[:, None] / units, second, rtol=1e-6, atol=1e-8)
