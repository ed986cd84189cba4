"""Some rows of a large table that show what its columns are: evenly spaced ones, and those that hold what these lack.

The kind of a column may hang on a cell that few rows have: a category that is rare, a count that is negative, the one
value that a column has beside its usual one. So all rows are looked at once, in parts wherever these are, and a part
hands back its rows that hold something new.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from sidelight._typing import AnyArray, BoolArray, FloatArray, IntArray
from sidelight.tables.frame import few_whole_numbers
from sidelight.tables.usual_values import MOST_CELLS

# Of a frame with more rows than this, some are looked at; of an array, rows are looked at in any case.
WHOLE_ROWS = 100_000
SAMPLE_ROWS = MOST_CELLS
# A column of text with more values than this is not a set of categories; they are not collected further.
_MOST_NEW_VALUES = 10_000
# A column with at most this many different numbers may be one of ordered categories, all of which must be known.
_FEW_NUMBERS = 1_000


def frame_shows_new(few: Any) -> Callable[[Any], Any] | None:
    """Return what finds the rows of further parts of a data frame that hold what ``few`` rows do not.

    None where no column can hold anything new that matters: numbers that vary are known well enough by some of them.
    """
    names = [name for name in few.columns if _may_show_new(few[name])]
    return partial(_new_rows, few=few[names]) if names else None


def _may_show_new(column: Any) -> bool:
    """Say whether other cells may change what a column is: not those of numbers or times that vary."""
    if column.dtype.kind not in "fmM" or column.nunique() < 2:
        return True
    return column.dtype.kind == "f" and few_whole_numbers(column.to_numpy(dtype=float, na_value=np.nan))


def _new_rows(part: Any, few: Any) -> Any:
    """Return the rows of a part that hold new categories, or larger or smaller numbers."""
    rows = [_new_places(part[name], few[name]) for name in few.columns]
    return part.iloc[np.unique(np.concatenate(rows))]


def _new_places(cells: Any, known: Any) -> IntArray:
    """Return where a column of a part has cells that show something new: each new value once."""
    if cells.dtype.kind in "fiu" and known.nunique() > _FEW_NUMBERS:
        return _beyond(*(column.to_numpy(dtype=float, na_value=np.nan) for column in (cells, known)))
    observed = np.flatnonzero(cells.notna())
    values = cells.iloc[observed].astype(object)
    new = ~values.isin(known.dropna().astype(object).unique()) & ~values.duplicated()
    return observed[new.to_numpy(dtype=bool)][:_MOST_NEW_VALUES]


def _beyond(cells: FloatArray, known: FloatArray) -> IntArray:
    """Return where the smallest and the largest number are, if they are beyond those that are known."""
    observed = np.flatnonzero(~np.isnan(cells))
    if not len(observed):
        return observed
    ends = observed[np.unique([cells[observed].argmin(), cells[observed].argmax()])]
    inside = (cells[ends] >= np.fmin.reduce(known)) & (cells[ends] <= np.fmax.reduce(known))
    return ends[~inside]


def array_shows_new(few: AnyArray) -> Callable[[AnyArray], AnyArray] | None:
    """Return what finds the rows of further parts of an array that hold what ``few`` rows do not.

    None where every column varies in these.
    """
    with np.errstate(invalid="ignore"):
        low, high = np.fmin.reduce(few), np.fmax.reduce(few)
        constant: BoolArray = ~(low < high)
    return partial(_new_array_rows, low=low, high=high, constant=constant) if constant.any() else None


def _new_array_rows(part: AnyArray, low: AnyArray, high: AnyArray, constant: BoolArray) -> AnyArray:
    """Return a row of a part for each constant column that has another value there."""
    rows: list[int] = []
    for column in np.flatnonzero(constant):
        cells = part[:, column]
        other = ~np.isnan(cells) & ~((cells >= low[column]) & (cells <= high[column]))
        rows.extend(np.flatnonzero(other)[:1])
    return part[np.unique(np.array(rows, dtype=np.int64))]
