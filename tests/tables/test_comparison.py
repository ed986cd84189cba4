"""How clusters are compared on a column: the numbers by their definitions, and the words."""

import numpy as np
import pytest

from sidelight.tables.comparison import DATES, MEANS, RATES, SHARES, Contrast
from sidelight.tables.kinds import all_kinds


def contrast(values, weights, rest_values, rest_weights, deviation):
    total, mass = np.add(values, rest_values), np.add(weights, rest_weights)
    parts = ([[part]] for part in (values, weights, rest_values, rest_weights))
    first, second, third, fourth = (np.array(part, dtype=float) for part in parts)
    return Contrast(second, first, fourth, third, np.array([total / mass]), np.array([deviation]))


def test_means_differ_by_standard_deviations():
    (((difference,),)) = MEANS.difference(contrast(60.0, 20.0, 40.0, 40.0, 0.5))
    assert difference == pytest.approx((3 - 1) / 0.5)
    assert MEANS.write_difference(-2.04) == "−2.0"
    assert MEANS.write_difference(-0.01) == "0.0"
    assert MEANS.write_sentence(3.0, 1.0, 4.0) == "higher (+4.0 sd: 3.00 against 1.00)"
    assert MEANS.write_value(12.345, 20.0) == "12.3"


def test_dates_differ_by_days():
    assert DATES.difference(contrast(20 * 18753.5, 20.0, 40 * 18264.0, 40.0, 9.0)) == pytest.approx(489.5)
    assert DATES.write_difference(-489.7) == "−490 d"
    assert DATES.write_difference(0.52) == "+0.5 d"
    assert DATES.write_value(18264.0, 2e4) == "2020-01-03"
    assert DATES.write_sentence(18753.5, 18264.0, 489.5) == "later by 490 days (2021-05-06 against 2020-01-03)"
    assert DATES.write_sentence(18264.0, 18265.5, -1.5) == "earlier by 1.5 days (2020-01-03 against 2020-01-04)"


def test_a_constant_feature_has_no_difference():
    assert MEANS.difference(contrast(20.0, 20.0, 40.0, 40.0, 0.0)) == 0


def test_a_cluster_without_observed_cells_has_the_overall_mean():
    found = contrast(0.0, 0.0, 40.0, 20.0, 1.0)
    assert found.inside == found.outside == 2


def test_shares_differ_by_percentage_points():
    assert SHARES.difference(contrast(15.0, 20.0, 10.0, 40.0, 0.4)) == pytest.approx(0.75 - 0.25)
    assert SHARES.write_difference(0.5) == "+50 pp"
    assert SHARES.write_sentence(0.25, 0.75, -0.5) == "less often (25 % against 75 %)"
    assert SHARES.write_value(0.996, 1.0) == "over 99 %"


def test_rates_differ_by_a_factor_that_stays_finite():
    # Half a row at the overall rate, 2, is added to both sides.
    difference = RATES.difference(contrast(80.0, 20.0, 40.0, 40.0, 1.0))
    assert difference == pytest.approx(np.log2((81 / 20.5) / (41 / 40.5)))
    assert np.isfinite(RATES.difference(contrast(0.0, 20.0, 40.0, 40.0, 1.0))).all()
    assert RATES.write_difference(1.0) == "×2"
    assert RATES.write_difference(-3.0) == "÷8"
    assert RATES.write_difference(40.0) == "×1000"
    assert RATES.write_sentence(4.0, 1.0, 2.0) == "higher (×4: 4.00 against 1.00)"


@pytest.mark.parametrize("kind", all_kinds().values(), ids=lambda kind: kind.name)
def test_every_kind_can_be_compared(kind):
    found = kind.comparison.difference(contrast(15.0, 20.0, 10.0, 40.0, 0.4))
    assert found.shape == (1, 1)
    assert found > 0
    assert kind.comparison.write_difference(float(found[0, 0])).startswith(("+", "×"))
