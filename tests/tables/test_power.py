"""Transforms of columns: inverse, derivative, ends, and what shifting and scaling a column does."""

import numpy as np
import pytest

from sidelight.tables.power import PowerTransform, in_original_units, log_jacobian, transformed

LOGARITHM = PowerTransform(centre=2.0, scale=0.5, skewness=0.8, low=-1.1, high=np.inf)
EXPONENTIAL = PowerTransform(centre=-3.0, scale=2.0, skewness=-0.6, low=-4.0, high=2.5)
POWERS = pytest.mark.parametrize("power", [LOGARITHM, EXPONENTIAL], ids=["logarithm", "exponential"])


def spread(power, n=401):
    """Cells inside the bent part and far outside, without its ends, where the second derivative jumps."""
    t = np.linspace(-9.03, 9.07, n)
    return power.centre + power.scale * t


@POWERS
def test_the_inverse_leads_back(power):
    cells = np.concatenate([spread(power), [-1e6, 1e6]])
    np.testing.assert_allclose(power.invert(power.apply(cells)), cells, rtol=1e-9, atol=1e-9)
    y = np.linspace(-30, 30, 101)
    np.testing.assert_allclose(power.apply(power.invert(y)), y, rtol=1e-9, atol=1e-9)


@POWERS
def test_the_derivative_is_that_of_the_transform(power):
    cells, step = spread(power), 1e-6
    numerical = (power.apply(cells + step) - power.apply(cells - step)) / (2 * step)
    np.testing.assert_allclose(np.exp(power.log_derivative(power.apply(cells))), numerical, rtol=1e-7)


@POWERS
def test_the_slope_is_one_at_the_median_and_never_jumps(power):
    assert power.apply(np.array([power.centre]))[0] == power.centre
    assert power.log_derivative(np.array([power.centre]))[0] == pytest.approx(0)
    for end in (power.low, power.high):
        if np.isfinite(end):
            near = power.centre + power.scale * (end + np.array([-1e-9, 1e-9]))
            before, after = power.log_derivative(power.apply(near))
            assert before == pytest.approx(after, abs=1e-7)


def test_inside_its_ends_it_is_the_logarithm_and_the_exponential():
    cells = np.linspace(1.6, 40, 50)
    origin = LOGARITHM.centre - LOGARITHM.scale / LOGARITHM.skewness
    line = np.polyfit(np.log(cells - origin), LOGARITHM.apply(cells), 1)
    np.testing.assert_allclose(np.polyval(line, np.log(cells - origin)), LOGARITHM.apply(cells), rtol=1e-10)
    cells = np.linspace(-10, 1, 50)
    grown = np.exp(0.6 * cells / EXPONENTIAL.scale)
    line = np.polyfit(grown, EXPONENTIAL.apply(cells), 1)
    np.testing.assert_allclose(np.polyval(line, grown), EXPONENTIAL.apply(cells), rtol=1e-10)


def test_an_exponential_undoes_a_logarithm():
    t = np.linspace(-1, 5, 30)
    there = PowerTransform(0.0, 1.0, 0.7, -1.2, np.inf)
    back = PowerTransform(0.0, 1.0, -0.7, -9.0, 9.0)
    np.testing.assert_allclose(back.apply(there.apply(t)), t, rtol=1e-12, atol=1e-12)


@POWERS
@pytest.mark.parametrize("cell", [1e300, -1e300, 1e100, -1e100, 0.0, 5e-324])
def test_finite_cells_stay_numbers(power, cell):
    found = power.apply(np.array([cell]))
    assert np.isfinite(found).all()
    assert np.isfinite(power.log_derivative(found)).all()


@POWERS
def test_missing_cells_stay_missing_and_infinity_is_not_hidden(power):
    with np.errstate(invalid="raise"):
        found = power.apply(np.array([np.nan, np.inf, -np.inf]))
    np.testing.assert_array_equal(np.isnan(found), [True, False, False])
    assert np.isinf(found[1:]).all()


def test_a_table_changes_only_where_it_has_a_transform():
    table = np.random.default_rng(0).normal(size=(20, 3))
    table[3, 1] = np.nan
    powers = (None, LOGARITHM, None)
    found = transformed(table, powers)
    np.testing.assert_array_equal(found[:, [0, 2]], table[:, [0, 2]])
    np.testing.assert_array_equal(found[:, 1], LOGARITHM.apply(table[:, 1]))
    np.testing.assert_allclose(in_original_units(found, powers), table)
    expected = LOGARITHM.log_derivative(found[:, 1])
    expected[3] = 0
    np.testing.assert_array_equal(log_jacobian(found, powers), expected)
    assert transformed(table, None) is table
    np.testing.assert_array_equal(log_jacobian(table, None), 0)
