"""The first look at a table."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from sidelight.tables.survey import survey, survey_incomplete
from sidelight.tables.table import ArrayTable

RNG = np.random.default_rng(0)
TABLE = RNG.standard_normal((20_000, 3)) * [1.0, 10.0, 0.0] + [1e6, 0.0, 5.0]
WEIGHTS = RNG.integers(0, 4, size=20_000).astype(float)


def moments(values, weights):
    """Return weighted means and variances of observed cells by repeating rows."""
    repeated = np.repeat(values, weights.astype(int), axis=0)
    return np.nanmean(repeated, axis=0), np.nanvar(repeated, axis=0)


@pytest.mark.parametrize("look", [survey, survey_incomplete])
@pytest.mark.parametrize("weights", [None, WEIGHTS])
def test_whole_tables_have_their_weighted_moments(look, weights):
    found = look(ArrayTable(TABLE), weights)
    mean, variance = moments(TABLE, np.ones(20_000) if weights is None else weights)
    np.testing.assert_allclose(found.mean, mean)
    np.testing.assert_allclose(found.variance, variance, rtol=1e-6)
    assert found.variance[2] == 0.0
    assert found.total == (20_000 if weights is None else weights.sum())
    assert found.first_bad is None


def test_missing_cells_are_left_out():
    values = np.where(RNG.random(TABLE.shape) < 0.3, np.nan, TABLE)
    values[:5000, 0] = np.nan  # met only in a later block
    found = survey_incomplete(ArrayTable(values), WEIGHTS)
    mean, variance = moments(values, WEIGHTS)
    np.testing.assert_allclose(found.mean, mean)
    np.testing.assert_allclose(found.variance, variance, rtol=1e-6)
    assert found.total == WEIGHTS.sum()


def test_a_feature_that_only_rows_without_weight_have_has_no_moments():
    values = np.array([[1.0, 2.0], [3.0, np.nan]])
    found = survey_incomplete(ArrayTable(values), np.array([0.0, 1.0]))
    np.testing.assert_array_equal(found.mean, [3.0, np.nan])
    np.testing.assert_array_equal(found.variance, [0.0, np.nan])


def test_sparse_tables_have_the_moments_of_dense_ones():
    counts = RNG.poisson(0.1, size=(10_000, 40)).astype(float)
    weights = WEIGHTS[:10_000]
    found, expected = survey_incomplete(ArrayTable(csr_array(counts)), weights), survey(ArrayTable(counts), weights)
    np.testing.assert_allclose(found.mean, expected.mean)
    np.testing.assert_allclose(found.variance, expected.variance)
    assert found.total == expected.total


@pytest.mark.parametrize("value", [np.inf, -np.inf, 1e151])
def test_the_first_bad_cell_is_found(value):
    counts = RNG.poisson(0.5, size=(10_000, 4)).astype(float)
    counts[[9500, 9700], [2, 1]] = value
    incomplete = counts.copy()
    incomplete[:9600, 3] = np.nan
    assert survey(ArrayTable(counts)).first_bad == (9500, 2)
    assert survey_incomplete(ArrayTable(incomplete)).first_bad == (9500, 2)
    assert survey_incomplete(ArrayTable(csr_array(counts))).first_bad == (9500, 2)


def test_some_columns_of_a_survey():
    found = survey(ArrayTable(TABLE))
    only = found.only(np.array([2, 0]))
    np.testing.assert_array_equal(only.mean, found.mean[[2, 0]])
    np.testing.assert_array_equal(only.variance, found.variance[[2, 0]])
