"""The units of a fit, and cells that it refuses."""

import numpy as np
import pytest

from sidelight.admixture.scaling import refuse_infinity, survey_scaling
from sidelight.tables.table import ArrayTable, Rows

N = 3000  # several blocks of rows


def test_units_are_moments_of_the_observed_cells():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, 4)) * [1, 1e-3, 1e5, 1] + [0, 1e6, 0, 3]
    X[rng.uniform(size=X.shape) < 0.3] = np.nan
    found = survey_scaling(Rows(ArrayTable(X)))
    np.testing.assert_allclose(found.centre, np.nanmean(X, axis=0), rtol=1e-12, atol=1e-8)
    np.testing.assert_allclose(found.scale, np.nanstd(X, axis=0), rtol=1e-8)
    np.testing.assert_array_equal(found.n_observed, (~np.isnan(X)).sum(axis=0))
    standardised = found.standardise(X)
    np.testing.assert_allclose(np.nanmean(standardised, axis=0), 0, atol=1e-6)
    np.testing.assert_allclose(np.nanstd(standardised, axis=0), 1, rtol=1e-6)
    np.testing.assert_array_equal(np.isnan(standardised), np.isnan(X))


@pytest.mark.parametrize("n", [50, N, 100_000])
def test_a_constant_attribute_has_scale_one(n):
    """The sum of many equal numbers is rounded, which must not be taken for a spread."""
    X = np.full((n, 2), 0.1)
    X[::2, 1] = np.nan
    assert survey_scaling(Rows(ArrayTable(X))).scale.tolist() == [1, 1]


@pytest.mark.parametrize("check", [refuse_infinity, survey_scaling])
def test_infinity_is_refused_with_its_place(check):
    X = np.zeros((N, 3))
    X[2345, 1] = -np.inf
    with pytest.raises(ValueError, match="infinity in row 2345, column 1; use NaN"):
        check(Rows(ArrayTable(X)))
    with pytest.raises(ValueError, match="infinity in row 2345, column 'b'; use NaN"):
        check(Rows(ArrayTable(X)), np.array(["a", "b", "c"], dtype=object))


def test_columns_without_values_and_huge_values_are_refused_for_a_fit_only():
    X = np.random.default_rng(0).normal(size=(N, 3))
    X[:, 2] = np.nan
    with pytest.raises(ValueError, match="no value in any row of column 2, only NaN; leave the column out"):
        survey_scaling(Rows(ArrayTable(X)))
    X[:, 2] = 0
    X[7, 2] = 1e300
    with pytest.raises(ValueError, match="column 2 are too large to be squared; rescale"):
        survey_scaling(Rows(ArrayTable(X)))
    refuse_infinity(Rows(ArrayTable(X)))
