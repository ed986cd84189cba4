"""The columns of a frame or an array as they come, each with what it holds."""

import datetime
from collections.abc import Callable, Iterator, Sequence
from decimal import Decimal
from numbers import Integral, Real
from typing import Any, NamedTuple

import narwhals as nw
import numpy as np

from sidelight._typing import AnyArray, BoolArray, FloatArray, IntArray
from sidelight.tables.usual_values import MOST_CELLS, rows_to_look_at
from sidelight.tables.validation import as_frame, column_label

# pandas' own marks of a missing value; pandas is not a dependency.
_MISSING_TYPES = ("NAType", "NaTType")
# Floats that are whole are taken for integers if they have at most this many values.
_MOST_WHOLE = 10
# Of an array with many columns fewer rows are looked at, so that this many cells are held in memory; but no fewer rows.
_MOST_CELLS, _LEAST_ROWS = 10_000_000, 1_000


class RawColumn(NamedTuple):
    """A column before it is encoded.

    Parameters
    ----------
    label : str
        What messages call it.
    values : (n,)
        Floats, NaN where missing; objects, None where missing, if it holds text or objects. Dates are days since
        1970-01-01, UTC where they have a time zone; durations are numbers of days, times of day numbers of hours.
    holds : {"numbers", "integers", "booleans", "dates", "text", "objects"}
    levels : tuple, optional
        The categories in their order, where the column declares one.
    """

    label: str
    values: AnyArray
    holds: str
    levels: tuple[Any, ...] | None = None

    def cells(self) -> list[Any]:
        """Return the cells as Python objects, None where missing."""
        cells = self.values.tolist()
        if self.values.dtype == object:
            return cells
        return [None if cell != cell else cell for cell in cells]

    def n_values(self) -> int:
        """Return how many different values it holds: none, 1, or 2 for more than one."""
        if self.values.dtype == object:
            if self.holds == "objects":  # of several types, or of a strange one, which have no values to count
                return 2 if any(cell is not None for cell in self.values.tolist()) else 0
            return min(len(set(self.values.tolist()) - {None}), 2)
        numbers = self.values[~np.isnan(self.values)]
        return 0 if not numbers.size else 1 if numbers.min() == numbers.max() else 2


def raw_columns(X: Any) -> Iterator[RawColumn]:
    """Yield the columns of a frame, or of an array of numbers, booleans or objects."""
    frame = as_frame(X)
    if frame is not None:
        for series in frame.iter_columns():
            yield _from_series(series)
    elif X.dtype == object:
        for number, values in enumerate(X.T):
            yield _from_objects(column_label(number, None), values)
    else:
        holds = "booleans" if X.dtype == bool else "numbers"
        for number, values in enumerate(X.T):
            yield RawColumn(column_label(number, None), values.astype(float) if X.dtype == bool else values, holds)


def sampled_columns(X: AnyArray, sampled: Sequence[bool]) -> list[RawColumn]:
    """Return the columns of an array of numbers, with the cells of some rows only where ``sampled`` says so.

    Rows are evenly spaced, and few enough to be held in memory. A column with one value in these rows, or none, is
    returned whole if it has others elsewhere.
    """
    n, d = X.shape
    columns = list(raw_columns(X))
    rows = rows_to_look_at(n, min(MOST_CELLS, max(_MOST_CELLS // d, _LEAST_ROWS)))
    few = X[rows]
    looked_at = [
        raw._replace(values=few[:, number]) if some else raw
        for number, (raw, some) in enumerate(zip(columns, sampled, strict=True))
    ]
    if len(few) == n:
        return looked_at
    constant = np.array([number for number, raw in enumerate(looked_at) if sampled[number] and raw.n_values() < 2])
    for number in constant[_varies(X, few, constant)] if len(constant) else ():
        looked_at[number] = columns[number]
    return looked_at


def _varies(X: AnyArray, few: AnyArray, constant: IntArray) -> BoolArray:
    """Say of columns that hold one value in a few rows, or none, whether they hold another one elsewhere."""
    seen = few[:, constant]
    first = np.take_along_axis(seen, np.argmax(~np.isnan(seen), axis=0)[None], axis=0)
    varies = np.zeros(len(constant), dtype=bool)
    for start in range(0, len(X), len(few)):
        cells = X[start : start + len(few)][:, constant]
        varies |= (~np.isnan(cells) & (cells != first)).any(axis=0)
    return varies


def _from_series(series: "nw.Series[Any]") -> RawColumn:
    label, kind = f"column {series.name!r}", series.dtype
    if kind.is_temporal():
        return _from_times(label, series)
    if kind.is_float():
        values = series.to_numpy()
        return RawColumn(label, values, "integers" if few_whole_numbers(values) else "numbers")
    if kind.is_numeric() or kind == nw.Boolean:
        holds = "booleans" if kind == nw.Boolean else "integers" if kind.is_integer() else "numbers"
        return RawColumn(label, series.cast(nw.Float64).to_numpy(), holds)
    if isinstance(kind, nw.Enum):
        # What narwhals calls ordered categories of pandas, and the categories of polars that have an order.
        return RawColumn(label, _text(series), "text", tuple(kind.categories))
    if kind in (nw.String, nw.Categorical):
        return RawColumn(label, _text(series), "text")
    if kind in (nw.Object, nw.Unknown):
        return _from_objects(label, series.to_numpy())
    raise ValueError(
        f"X: {label} holds {kind}, which no family describes; leave it out, or turn it into columns of numbers or text."
    )


def few_whole_numbers(values: FloatArray) -> bool:
    """Say whether floats are whole numbers of few values: pandas makes such columns of integers and booleans with gaps.

    Floats of many values stay numbers, also where all that are seen are whole: further rows may hold fractions.
    """
    observed = values[~np.isnan(values)]
    if not observed.size or not np.isfinite(observed).all() or (observed != np.rint(observed)).any():
        return False
    return len(np.unique(observed)) <= _MOST_WHOLE


def _text(series: "nw.Series[Any]") -> AnyArray:
    """Return text as objects, None where a cell is missing."""
    cells = np.array(series.to_numpy(), dtype=object)
    cells[series.is_null().to_numpy()] = None
    return cells


def _from_objects(label: str, values: AnyArray) -> RawColumn:
    """Return a column of Python objects as what all of them are."""
    cells = _without_marks(values)
    types = {type(cell) for cell in cells.tolist() if cell is not None}
    for held, instances, number in _TIMES:
        if types and all(issubclass(kind, instances) for kind in types):
            return RawColumn(label, np.array([np.nan if cell is None else number(cell) for cell in cells]), held)
    holds = _held(types)
    return RawColumn(label, cells if holds in ("text", "objects") else cells.astype(float), holds)


def _held(types: set[type]) -> str:
    if all(issubclass(kind, (bool, np.bool_)) for kind in types) and types:
        return "booleans"
    if any(issubclass(kind, (bool, np.bool_)) for kind in types):
        return "objects"
    if all(issubclass(kind, Integral) for kind in types) and types:
        return "integers"
    if all(issubclass(kind, (Real, Decimal)) for kind in types):
        return "numbers"
    return "text" if all(issubclass(kind, str) for kind in types) else "objects"


def _without_marks(values: AnyArray) -> AnyArray:
    """Return the values as objects, None where one is missing."""
    cells = np.empty(len(values), dtype=object)
    # Most are text, which is quickly told.
    cells[:] = [value if type(value) is str or not _is_missing(value) else None for value in values.tolist()]
    return cells


def _is_missing(value: Any) -> bool:
    return (
        value is None or type(value).__name__ in _MISSING_TYPES or (isinstance(value, float) and bool(np.isnan(value)))
    )


def _days_since_1970(date: Any) -> float:
    if isinstance(date, datetime.datetime) and date.tzinfo is not None:
        date = date.astimezone(datetime.UTC).replace(tzinfo=None)
    return float((np.datetime64(date, "us") - np.datetime64(0, "us")) / np.timedelta64(1, "D"))


def _days(duration: Any) -> float:
    return float(np.timedelta64(duration, "us") / np.timedelta64(1, "D"))


def _hours(time: datetime.time) -> float:
    return time.hour + (time.minute + (time.second + time.microsecond / 1e6) / 60) / 60


# What a column holds, the types of its cells, and the number that each of them is.
_TIMES: tuple[tuple[str, tuple[type, ...], Callable[[Any], float]], ...] = (
    ("dates", (datetime.date, np.datetime64), _days_since_1970),
    ("numbers", (datetime.timedelta, np.timedelta64), _days),
    ("numbers", (datetime.time,), _hours),
)
_MICROSECONDS_PER_DAY = 86_400e6


def _from_times(label: str, series: "nw.Series[Any]") -> RawColumn:
    """Return a column of dates, durations or times of day as numbers."""
    if series.dtype == nw.Duration:
        microseconds, holds = series.dt.total_microseconds(), "numbers"
    elif series.dtype in (nw.Date, nw.Datetime):
        microseconds, holds = series.dt.timestamp("us"), "dates"
    else:
        return _from_objects(label, np.array(series.to_list(), dtype=object))
    return RawColumn(label, microseconds.cast(nw.Float64).to_numpy() / _MICROSECONDS_PER_DAY, holds)
