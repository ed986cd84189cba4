"""The columns that a table is clustered by: as a data frame, their kinds, and why other columns are left out."""

import re
import warnings
from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from sidelight.cli.errors import Refusal
from sidelight.cli.extras import arrow, pandas
from sidelight.cli.tables.csv import is_number
from sidelight.cli.tables.files import TableFile
from sidelight.cli.tables.written_numbers import WrittenNumbers, words_of, written_numbers

# Text with more different values than this is read as names or remarks, unless the user says otherwise.
_MOST_CATEGORIES = 200
# Text with at most this number of different values always is a set of categories.
_FEW_CATEGORIES = 20
# If at least this fraction of the cells are numbers, the others are mistakes and not categories.
_NUMBERS_MEANT = 0.9
_DATES = "holds dates or times (turn them into numbers, such as days since, to use them)"
_DATE = r"^\s*[0-9]{1,2}[./][0-9]{1,2}[./][0-9]{4}( [0-9]{1,2}:[0-9]{2}(:[0-9]{2})?)?\s*$"
_DIGITS = r"^\s*[0-9]+\s*$"
# What pandas calls a column without a name, which is the index of a table that it has written; and what we do.
_NO_NAME = re.compile(r"Unnamed: \d+|column 1")
# In fewer rows, whole numbers without a gap may well be measured.
_ROWS_TO_NUMBER = 20


def _tidied(column: Any) -> Any:
    """Return a column with NaN as missing, and whole numbers that were stored as floats because cells are missing."""
    pa, compute = arrow(), arrow("compute")
    if pa.types.is_uint64(column.type) and (compute.max(column).as_py() or 0) >= 2**63:
        return column.cast(pa.float64(), safe=False)
    if not pa.types.is_floating(column.type):
        return column
    column = compute.if_else(compute.is_nan(column), pa.scalar(None, column.type), column)
    if not column.null_count or column.null_count == len(column):
        return column
    try:
        return column.cast(pa.int64())
    except pa.ArrowInvalid:  # some have decimals
        return column


def as_frame_column(column: Any) -> Any:
    """Return a column for a frame: numbers and booleans keep their types if cells are missing, text is categories."""
    pa, pd = arrow(), pandas()
    types = pa.types
    kind = column.type
    if types.is_floating(kind) or types.is_decimal(kind):
        return column.cast(pa.float64()).to_numpy()
    if types.is_integer(kind):
        if column.null_count:
            return pd.array(column.to_pandas(integer_object_nulls=False), dtype="Int64")
        return column.cast(pa.int64()).to_numpy()
    if types.is_boolean(kind):
        return pd.array(column.to_pandas(), dtype="boolean" if column.null_count else "bool")
    encoded = column if types.is_dictionary(kind) else column.dictionary_encode()
    return encoded.unify_dictionaries().combine_chunks().to_pandas()


def pandas_frame(columns: Mapping[str, Any]) -> Any:
    """Return a data frame of columns, without copies where possible."""
    return pandas().DataFrame(dict(columns), copy=False)


def refuse_infinite(file: TableFile, frame: Any) -> None:
    """Refuse cells that are infinite, saying where the first one stands."""
    for name in frame.columns:
        values = frame[name]
        if values.dtype.kind == "f":
            infinite = np.flatnonzero(np.isinf(values.to_numpy()))
            if len(infinite):
                raise Refusal(
                    f"{file.path}, {file.place(int(infinite[0]))}: column {name!r} is infinite; correct the cell, or "
                    "empty it if the value is not known."
                )


class Omission(NamedTuple):
    """A column that is not used, and why."""

    name: str
    why: str


class Features(NamedTuple):
    """The columns to cluster by: their kinds, as ``family=`` takes them, and missing cells; and those left out.

    ``written`` says how numbers are written in columns where that is not the usual way (see `NumberStyle.stored`).
    """

    kinds: dict[str, str]
    missing: dict[str, int]
    omissions: list[Omission]
    written: dict[str, str]


def find_features(
    file: TableFile, table: Any, columns: Sequence[str], categorical: Collection[str]
) -> tuple[Any, Features]:
    """Decide which columns of an arrow table to use, and as which kind; return a frame of those, and what they are.

    ``columns`` are those that no option uses for something else; the ``categorical`` ones are categories in any case.
    """
    from sidelight.tables.schema import learn_schema

    series, missing, written, omissions = {}, {}, {}, []
    for name in columns:
        column = _tidied(file.convert(table[name], name, arrow().string() if name in categorical else None))
        if _is_text(column) and name not in categorical:
            found = written_numbers(column.to_pylist(), getattr(file, "decimal", "."))
            if found is not None:
                column, written[name] = as_number_column(column, found), found.style.stored
                _warn_converted(name, found)
        why = _useless(column, name, forced=name in categorical)
        if why is None and _is_text(column) and name not in categorical:
            _refuse_broken_numbers(file, name, column)
        if why is None:
            series[name] = as_frame_column(column)
            missing[name] = column.null_count
        else:
            omissions.append(Omission(name, why))
    if not series:
        told = "; ".join(f"{name!r} {why}" for name, why in omissions)
        raise Refusal(f"{file.path} has no column to cluster by{f': {told}' if told else ''}.")
    frame = pandas_frame(series)
    refuse_infinite(file, frame)
    texts = [name for name in frame.columns if str(frame[name].dtype) == "category"]
    schema = learn_schema(frame, dict.fromkeys(texts, "categorical"))
    return frame, Features(dict(zip(frame.columns, schema.kinds, strict=True)), missing, omissions, written)


def feature_frame(table: Any, names: Collection[str]) -> Any:
    """Return columns of an arrow table as a frame, as :func:`find_features` makes them."""
    return pandas_frame({name: as_frame_column(_tidied(table[name])) for name in names})


def as_number_column(column: Any, found: WrittenNumbers) -> Any:
    """Return the numbers of a column of text; whole ones where all of them are."""
    pa = arrow()
    numbers = pa.chunked_array([pa.array([found.values.get(cell) for cell in column.to_pylist()], pa.float64())])
    try:
        return numbers.cast(pa.int64())
    except pa.ArrowInvalid:  # some have decimals
        return numbers


def _warn_converted(name: str, found: WrittenNumbers) -> None:
    """Say what was read as numbers, and which words as missing ones."""
    parts = [f"cells such as {found.example!r} are read as numbers"] if found.example else []
    if found.missing:
        parts.append(f"{words_of(found.missing)} cells stands for a missing number")
    warnings.warn(f"column {name!r}: {'; '.join(parts)}.", UserWarning, stacklevel=2)


def _is_text(column: Any) -> bool:
    types = arrow().types
    kind = column.type.value_type if types.is_dictionary(column.type) else column.type
    return bool(types.is_string(kind) or types.is_large_string(kind))


def _useless(column: Any, name: str, *, forced: bool) -> str | None:
    """Say why a column cannot be used, None if it can."""
    types, compute = arrow().types, arrow("compute")
    kind = column.type
    if column.null_count == len(column):
        return "is empty"
    if types.is_temporal(kind):
        return _DATES
    text = _is_text(column)
    if text and not forced and _all_match(column, _DATE):
        return _DATES
    if not (
        text or types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind) or types.is_boolean(kind)
    ):
        return f"holds {kind}, which is neither numbers nor text"
    different = compute.count_distinct(column, mode="only_valid").as_py()
    if different == 1:
        return "has the same value wherever it has one"
    known = len(column) - column.null_count
    if text and not forced and different == known > 2 and _all_match(column, _DIGITS):
        return "holds codes, another one in each row"
    if text and not forced and different > max(_FEW_CATEGORIES, min(known // 2, _MOST_CATEGORIES)):
        if _share_of_numbers(column) >= _NUMBERS_MEANT:
            return None
        return f"is free text ({different} different values; --categorical makes it categories)"
    if types.is_integer(kind) and not column.null_count and different == len(column) > 2 and _counts_rows(column, name):
        return "numbers the rows"
    return None


def _counts_rows(column: Any, name: str) -> bool:
    """Say whether different whole numbers number the rows, which may have been sorted or drawn since."""
    values = column.to_numpy()
    if (values[1:] - values[:-1] == 1).all() or _NO_NAME.fullmatch(name):
        return True
    return len(values) >= _ROWS_TO_NUMBER and values.max() - values.min() == len(values) - 1


def _all_match(column: Any, pattern: str) -> bool:
    """Say whether all cells of a column of text that are not empty match a pattern."""
    compute = arrow("compute")
    return bool(compute.all(compute.match_substring_regex(column.cast(arrow().string()), pattern)).as_py())


def _share_of_numbers(column: Any) -> float:
    compute = arrow("compute")
    text = column.cast(arrow().string())
    pattern = r"^\s*[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?\s*$"
    return float(compute.mean(compute.cast(compute.match_substring_regex(text, pattern), "float64")).as_py())


def _refuse_broken_numbers(file: TableFile, name: str, column: Any) -> None:
    """Refuse a column of numbers that a few cells turn into text."""
    different = arrow("compute").count_distinct(column, mode="only_valid").as_py()
    if different <= _FEW_CATEGORIES or _share_of_numbers(column) < _NUMBERS_MEANT:
        return
    row, cell = next((row, cell) for row, cell in enumerate(column.to_pylist()) if cell and not is_number(cell))
    raise Refusal(
        f"{file.path}, {file.place(row)}: column {name!r} holds numbers, but here {cell!r}; correct or empty the cell, "
        f"or use --categorical {name} or --ignore {name}."
    )
