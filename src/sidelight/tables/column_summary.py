"""What a column holds, in a few words."""

from typing import NamedTuple

import numpy as np

from sidelight._typing import FloatArray
from sidelight._wording import calendar_date, measured, percent, with_minus

_CATEGORIES_NAMED = 4


class ColumnFigures(NamedTuple):
    """Figures of the observed cells of a column, of which there is at least one.

    Parameters
    ----------
    mean, deviation, least, greatest : float
    categories : tuple of str
        Empty for a column without categories.
    counts : (n_categories,)
        Number of cells of each category.
    usual, usual_share : float
        The usual value of the column and the share of cells that hold it, the other figures being of the other cells;
        NaN and zero for a column that has none.
    """

    mean: float
    deviation: float
    least: float
    greatest: float
    categories: tuple[str, ...]
    counts: FloatArray
    usual: float = np.nan
    usual_share: float = 0.0


def range_of_numbers(figures: ColumnFigures) -> str:
    """Return smallest and largest number, mean and standard deviation."""
    scale = _scale(figures)
    return _range(figures, measured(figures.least, scale), measured(figures.greatest, scale))


def range_of_counts(figures: ColumnFigures) -> str:
    """Return the same for whole numbers."""
    return _range(figures, f"{figures.least:.0f}", f"{figures.greatest:.0f}")


def usual_value_and_range(figures: ColumnFigures) -> str:
    """Return the usual value with its share of the cells, and the range of the other cells."""
    usual = f"{with_minus(f'{figures.usual:g}')} in {percent(figures.usual_share)} of rows"
    return usual if figures.usual_share == 1 else f"{usual}, otherwise {range_of_numbers(figures)}"


def only_value_or_range(figures: ColumnFigures) -> str:
    """Return the value of a constant column; the range of numbers, or the categories, of any other."""
    if figures.categories:
        return shares_of_categories(figures)
    if figures.least == figures.greatest:
        return f"always {with_minus(f'{figures.least:g}')}"
    return range_of_numbers(figures)


def range_of_dates(figures: ColumnFigures) -> str:
    """Return the first and the last date."""
    return f"{calendar_date(figures.least)} to {calendar_date(figures.greatest)}"


def share_of_yes(figures: ColumnFigures) -> str:
    """Return the share of ones among zeros and ones."""
    return f"{percent(figures.mean)} yes"


def shares_of_categories(figures: ColumnFigures) -> str:
    """Return the most frequent categories with their shares."""
    order = np.argsort(-figures.counts, kind="stable")[:_CATEGORIES_NAMED]
    total = figures.counts.sum()
    words = [f"{figures.categories[code]} {percent(float(figures.counts[code] / total))}" for code in order]
    left = len(figures.categories) - len(words)
    return ", ".join(words) + (f" and {left} more" if left else "")


def shares_in_order(figures: ColumnFigures) -> str:
    """Return the shares of ordered categories in their order; of many, where they start, where half is and the end."""
    total = figures.counts.sum()
    if len(figures.categories) <= _CATEGORIES_NAMED:
        shares = zip(figures.categories, figures.counts, strict=True)
        return ", ".join(f"{category} {percent(float(count / total))}" for category, count in shares)
    seen = np.flatnonzero(figures.counts)
    median = int(np.searchsorted(np.cumsum(figures.counts), 0.5 * total))
    least, half, greatest = (figures.categories[code] for code in (seen[0], median, seen[-1]))
    return f"{least} to {greatest}, median {half}"


def _scale(figures: ColumnFigures) -> float:
    return max(abs(figures.least), abs(figures.greatest))


def _range(figures: ColumnFigures, least: str, greatest: str) -> str:
    mean, deviation = measured(figures.mean, _scale(figures)), measured(figures.deviation, figures.deviation)
    return f"{least} to {greatest}, mean {mean}, sd {deviation}"
