"""Families of codes and counts: predictions that sum to one, sparse rows, many categories."""

from itertools import product

import numpy as np
import pytest
from scipy import stats
from scipy.sparse import csr_array, csr_matrix

from oracles.conjugate import COMPONENTS, accumulated, case, collect, scores
from sidelight.families.conjugate import (
    DirichletMultinomial,
    GammaPoisson,
)
from sidelight.families.evaluators.counts import CountEvaluator, log_factorials
from sidelight.families.exponential import LinearEvaluator
from sidelight.kernels.loops import NUMPY


def predicted(given, rows):
    return np.exp(scores(given.family.predictive(given.parameters, NUMPY), np.array(rows, dtype=float)))


def test_predictions_of_all_codes_sum_to_one():
    given = case("categorical", seed=1)
    rows = list(product(*(range(v) for v in given.family.categories)))
    np.testing.assert_allclose(predicted(given, rows).sum(axis=0), 1.0, rtol=1e-12)


def test_predictions_of_all_bits_sum_to_one():
    given = case("bernoulli", seed=2)
    np.testing.assert_allclose(predicted(given, list(product((0, 1), repeat=4))).sum(axis=0), 1.0, rtol=1e-12)


def test_predictions_of_all_counts_sum_to_one():
    given = case("poisson", seed=3)
    rows = np.full((2000, 3), np.nan)
    rows[:, 1] = np.arange(2000)
    np.testing.assert_allclose(predicted(given, rows).sum(axis=0), 1.0, rtol=1e-9)


def test_predictions_of_all_rows_with_one_sum_sum_to_one():
    given = case("multinomial", seed=4)
    rows = [row for row in product(range(5), repeat=5) if sum(row) == 4]
    np.testing.assert_allclose(predicted(given, rows).sum(axis=0), 1.0, rtol=1e-10)


def test_predictions_are_scipys():
    given = case("poisson", seed=5, missing=0.2)
    found = scores(given.family.predictive(given.parameters, NUMPY), given.X)
    for k, (a, b) in enumerate(zip(*given.parameters, strict=True)):
        logs = stats.nbinom.logpmf(given.X, a, b / (b + 1))
        np.testing.assert_allclose(found[:, k], np.nansum(logs, axis=1), rtol=1e-10)
    given = case("multinomial", seed=6)
    found = scores(given.family.predictive(given.parameters, NUMPY), given.X)
    sums = given.X.sum(axis=1).astype(int)
    for k, alpha in enumerate(given.parameters.concentrations):
        expected = [
            stats.dirichlet_multinomial.logpmf(x.astype(int), alpha, n) for x, n in zip(given.X, sums, strict=True)
        ]
        np.testing.assert_allclose(found[:, k], expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("sparse", [csr_array, csr_matrix])
@pytest.mark.parametrize("dtype", [float, np.float32, np.int64])
def test_sparse_rows_are_the_same_as_dense_ones(sparse, dtype):
    given = case("multinomial", seed=7, n=1000)
    rows = sparse(given.X.astype(dtype))
    for face in ("evaluator", "predictive"):
        evaluator = getattr(given.family, face)(given.parameters, NUMPY)
        np.testing.assert_allclose(scores(evaluator, rows), scores(evaluator, given.X), rtol=1e-9, atol=1e-10)
    dense = collect(given.family, given.parameters, given.X, given.responsibilities)
    thin = collect(given.family, given.parameters, rows, given.responsibilities)
    np.testing.assert_allclose(thin.mass, dense.mass, rtol=1e-12)
    np.testing.assert_allclose(thin.counts, dense.counts, rtol=1e-12)
    np.testing.assert_allclose(dense.counts, given.responsibilities.T @ given.X, rtol=1e-12)


def test_sparse_rows_are_never_made_dense():
    n_words = 200_000
    rng = np.random.default_rng(8)
    words = rng.integers(n_words, size=(50, 20))
    rows = csr_array((np.ones(1000), (np.repeat(np.arange(50), 20), words.ravel())), shape=(50, n_words))
    family = DirichletMultinomial.symmetric(n_words, concentration=0.1)
    parameters = family.update(collect(family, family.around(np.empty((2, 0))), rows, rng.dirichlet([1, 1], size=50)))
    assert np.isfinite(scores(family.evaluator(parameters, NUMPY), rows)).all()
    assert np.isfinite(scores(family.predictive(parameters, NUMPY), rows)).all()


def test_many_categories_are_the_same_as_few():
    given = case("categorical", seed=12, n=900, missing=0.2)
    dense = collect(given.family, given.parameters, given.X, given.responsibilities)
    for face in ("evaluator", "predictive"):
        few, many = (getattr(given.family, face)(given.parameters, NUMPY, many_categories=n) for n in (10, 1))
        assert isinstance(few, LinearEvaluator)
        assert isinstance(many, CountEvaluator)
        np.testing.assert_allclose(scores(many, given.X), scores(few, given.X), rtol=1e-12, atol=1e-12)
    evaluator = given.family.evaluator(given.parameters, NUMPY, many_categories=1)
    sparse = accumulated(evaluator, given.X, given.responsibilities)
    np.testing.assert_allclose(sparse.mass, dense.mass, rtol=1e-12)
    np.testing.assert_allclose(sparse.counts, dense.counts, rtol=1e-12)


def test_logarithms_of_factorials_are_exact_beyond_the_table():
    for counts in ([0.0, 1.0, 5.0], [3.0, 1e6], []):
        expected = [np.log(np.arange(1.0, count + 1)).sum() for count in counts]
        np.testing.assert_allclose(log_factorials(np.array(counts)), expected, rtol=1e-11)


def test_the_poisson_prior_takes_the_mean_of_the_others_for_a_column_of_zeros():
    family = GammaPoisson.scaled(np.array([4.0, 0.0, 2.0]), shape=2.0)
    np.testing.assert_allclose(family.shapes / family.rates, [4.0, 3.0, 2.0])
    np.testing.assert_allclose(GammaPoisson.scaled(np.zeros(2)).rates, 1.0)


def test_attributes_are_expectations():
    given = case("categorical", seed=9)
    probabilities = given.family.attributes(given.parameters)["probabilities_"]
    assert [values.shape for values in probabilities] == [(COMPONENTS, v) for v in given.family.categories]
    for values in probabilities:
        np.testing.assert_allclose(values.sum(axis=1), 1.0)
    assert given.family.n_parameters(COMPONENTS) == COMPONENTS * (9 - 3)
    for name, attribute, size in (("bernoulli", "probabilities_", 4), ("poisson", "rates_", 3)):
        given = case(name, seed=10)
        # Owned by one component alone, the rows give their own mean as the prior fades.
        everything = np.zeros((len(given.X), COMPONENTS))
        everything[:, 0] = 1e9
        found = given.family.update(collect(given.family, given.parameters, given.X, everything))
        np.testing.assert_allclose(given.family.attributes(found)[attribute][0], given.X.mean(axis=0), rtol=1e-7)
        assert given.family.n_parameters(COMPONENTS) == COMPONENTS * size
    given = case("multinomial", seed=11)
    np.testing.assert_allclose(given.family.attributes(given.parameters)["probabilities_"].sum(axis=1), 1.0)
    assert given.family.n_parameters(COMPONENTS) == COMPONENTS * 4
