"""What a column holds, in a few words."""

import numpy as np

from sidelight.tables.column_summary import (
    ColumnFigures,
    only_value_or_range,
    range_of_counts,
    range_of_dates,
    range_of_numbers,
    share_of_yes,
    shares_in_order,
    shares_of_categories,
    usual_value_and_range,
)

NUMBERS = ColumnFigures(3.25, 1.5, -1.0, 12.0, (), np.empty(0))


def test_numbers_have_a_range_with_the_decimals_of_their_scale():
    assert range_of_numbers(NUMBERS) == "−1.0 to 12.0, mean 3.2, sd 1.50"
    assert range_of_counts(NUMBERS._replace(least=0.0)) == "0 to 12, mean 3.2, sd 1.50"


def test_a_usual_value_is_named_with_its_share_before_the_others():
    figures = NUMBERS._replace(usual=-2.5, usual_share=0.67)
    assert usual_value_and_range(figures) == "−2.5 in 67 % of rows, otherwise −1.0 to 12.0, mean 3.2, sd 1.50"
    assert usual_value_and_range(figures._replace(usual_share=1.0)) == "−2.5 in 100 % of rows"


def test_a_constant_column_has_one_value():
    assert only_value_or_range(NUMBERS._replace(least=12.0)) == "always 12"
    assert only_value_or_range(NUMBERS) == range_of_numbers(NUMBERS)
    assert only_value_or_range(NUMBERS._replace(categories=("a",), counts=np.array([4.0]))) == "a 100 %"


def test_dates_have_the_first_and_the_last():
    assert range_of_dates(NUMBERS._replace(least=18264.0, greatest=18753.5)) == "2020-01-03 to 2021-05-06"


def test_zeros_and_ones_have_a_share():
    assert share_of_yes(NUMBERS._replace(mean=0.004)) == "under 1 % yes"


def test_the_most_frequent_categories_are_named():
    figures = NUMBERS._replace(categories=("a", "b", "c", "d", "e"), counts=np.array([1.0, 5.0, 2.0, 1.0, 1.0]))
    assert shares_of_categories(figures) == "b 50 %, c 20 %, a 10 %, d 10 % and 1 more"
    assert (
        shares_of_categories(figures._replace(categories=("a", "b"), counts=np.array([1.0, 3.0]))) == "b 75 %, a 25 %"
    )


def test_ordered_categories_keep_their_order():
    figures = NUMBERS._replace(categories=("low", "middle", "high"), counts=np.array([1.0, 4.0, 5.0]))
    assert shares_in_order(figures) == "low 10 %, middle 40 %, high 50 %"
    many = NUMBERS._replace(categories=tuple("abcdef"), counts=np.array([0.0, 3.0, 1.0, 3.0, 1.0, 0.0]))
    assert shares_in_order(many) == "b to e, median c"
