"""The columns that a table is clustered by: as a data frame, their kinds, and why other columns are left out."""

import re
from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

from sidelight._warnings import warn
from sidelight.cli.errors import Refusal
from sidelight.cli.extras import arrow, pandas
from sidelight.cli.tables.asked import AskedColumns, FrameColumn, read_asked
from sidelight.cli.tables.columns import as_frame_column, is_text, pandas_frame, refuse_infinite, tidied
from sidelight.cli.tables.csv import is_number
from sidelight.cli.tables.files import TableFile
from sidelight.cli.tables.written_numbers import WrittenNumbers, words_of, written_numbers

# Text with more different values than this is read as names or remarks, unless the user says otherwise.
_MOST_CATEGORIES = 200
# Text with at most this number of different values always is a set of categories.
_FEW_CATEGORIES = 20
# If at least this fraction of the cells are numbers, the others are mistakes and not categories.
_NUMBERS_MEANT = 0.9
_DATE = r"^\s*[0-9]{1,2}[./][0-9]{1,2}[./][0-9]{4}( [0-9]{1,2}:[0-9]{2}(:[0-9]{2})?)?\s*$"
_DIGITS = r"^\s*[0-9]+\s*$"
# What pandas calls a column without a name, which is the index of a table that it has written; and what we do.
_NO_NAME = re.compile(r"Unnamed: \d+|column 1")
# What columns of postal codes are called: digits that mean nothing as numbers, also where none begins with a zero.
_POSTAL = re.compile(r"plz|postleitzahl|zip([ _-]?code)?|post(al)?[ _-]?code|code[ _-]postal", re.IGNORECASE)
# Columns that are left out and named in an error.
_OMISSIONS_SAID = 5
# In fewer rows, whole numbers without a gap may well be measured.
_ROWS_TO_NUMBER = 20


class Omission(NamedTuple):
    """A column that is not used, and why."""

    name: str
    why: str


class Features(NamedTuple):
    """The columns to cluster by: their kinds, as ``family=`` takes them, and missing cells; and those left out.

    ``sources`` are the columns of the table that they come from, by their names here; ``written`` says how cells are
    written in columns of the table where that is not the usual way (see `NumberStyle.stored`, `WrittenDates`).
    """

    kinds: dict[str, str]
    missing: dict[str, int]
    omissions: list[Omission]
    sources: dict[str, str]
    written: dict[str, str]


def find_features(
    file: TableFile,
    table: Any,
    columns: Sequence[str],
    asked: AskedColumns = AskedColumns(),  # noqa: B008 (immutable)
) -> tuple[Any, Features]:
    """Decide which columns of an arrow table to use, and as which kind; return a frame of those, and what they are.

    ``columns`` are those that no option uses for something else; ``asked`` is what the user says about them.
    """
    from sidelight.tables.schema import learn_schema

    found: dict[str, FrameColumn] = {}
    omissions = []
    for name in columns:
        column = _column(file, table[name], name, asked)
        if isinstance(column, Omission):
            omissions.append(column)
        else:
            found[name] = column
    if not found:
        told = "; ".join(f"{name!r} {why}" for name, why in omissions[:_OMISSIONS_SAID])
        told += f"; and {len(omissions) - _OMISSIONS_SAID} more" if len(omissions) > _OMISSIONS_SAID else ""
        single = " It is read as a single column: names and cells are cut by commas, semicolons, tabs or |."
        uncut = single if len(file.header) == 1 and " " in file.header[0] else ""
        raise Refusal(f"{file.path} has no column to cluster by{f': {told}' if told else ''}.{uncut}")
    frame = pandas_frame({feature_name(name, log=name in asked.log): column.cells for name, column in found.items()})
    if len(frame.columns) < len(found):
        raise Refusal(f"{file.path}: --log makes two columns of one name; rename the one that is called log(…).")
    refuse_infinite(file, frame)
    known = {feature: column.kind for feature, column in zip(frame.columns, found.values(), strict=True) if column.kind}
    schema = learn_schema(frame, known)
    return frame, Features(
        kinds=dict(zip(frame.columns, schema.kinds, strict=True)),
        missing={feature: column.n_missing for feature, column in zip(frame.columns, found.values(), strict=True)},
        omissions=omissions,
        sources=dict(zip(frame.columns, found, strict=True)),
        written={name: column.written for name, column in found.items() if column.written},
    )


def feature_name(column: str, *, log: bool) -> str:
    """Return what a column is called in a frame, and so in all results: it says if numbers are logarithms."""
    return f"log({column})" if log else column


def _column(file: TableFile, stored: Any, name: str, asked: AskedColumns) -> FrameColumn | Omission:
    column = read_asked(file, stored, name, asked)
    if column is None:
        return _recognised(file, stored, name, forced=name in asked.categorical)
    if column.n_missing == len(stored):
        return Omission(name, "is empty")
    if pandas().Series(column.cells).nunique() < 2:
        return Omission(name, "has the same value wherever it has one")
    return column


def _recognised(file: TableFile, stored: Any, name: str, *, forced: bool) -> FrameColumn | Omission:
    """Return a column about which the user says nothing, or that is to be categories (``forced``)."""
    codes = _POSTAL.fullmatch(name.strip()) is not None
    column = tidied(file.convert(stored, name, arrow().string() if forced or codes else None))
    written = ""
    if is_text(column) and not forced and not codes:
        numbers = written_numbers(_text_counts(column), getattr(file, "decimal", "."))
        if numbers is not None:
            column, written = as_number_column(column, numbers), numbers.style.stored
            _warn_converted(name, numbers)
    why = _useless(column, name, forced=forced)
    if why is not None:
        return Omission(name, why)
    if is_text(column) and not forced and not codes:
        _refuse_broken_numbers(file, name, column)
    return FrameColumn(as_frame_column(column), "categorical" if is_text(column) else "", column.null_count, written)


def feature_frame(table: Any, names: Collection[str]) -> Any:
    """Return columns of an arrow table as a frame, as :func:`find_features` makes them."""
    return pandas_frame({name: as_frame_column(tidied(table[name])) for name in names})


def _text_counts(column: Any) -> dict[str, int]:
    """Return how often each text stands in a column."""
    counts = column.drop_null().value_counts()
    return dict(zip(counts.field("values").to_pylist(), counts.field("counts").to_pylist(), strict=True))


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
        stand = "stands" if len(found.missing) == 1 else "stand"
        parts.append(f"{words_of(found.missing)} {stand} for a missing number")
    warn(f"column {name!r}: {'; '.join(parts)}.")


def _useless(column: Any, name: str, *, forced: bool) -> str | None:
    """Say why a column cannot be used, None if it can."""
    types, compute = arrow().types, arrow("compute")
    kind = column.type
    if column.null_count == len(column):
        return "is empty"
    if types.is_duration(kind) or types.is_time(kind):
        return f"holds {'durations' if types.is_duration(kind) else 'times of day'}; write them as numbers to use them"
    if types.is_temporal(kind):
        return _dates_left_out(name)
    text = is_text(column)
    if text and not forced and _all_match(column, _DATE):
        return _dates_left_out(name)
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
        share = _share_of_numbers(column)
        if share == 1:  # they would be numbers if none began with a zero
            return f"holds codes ({different} different ones; --categorical makes them categories, --number numbers)"
        if share >= _NUMBERS_MEANT:
            return None
        return f"is free text ({different} different values; --categorical makes it categories)"
    if types.is_integer(kind) and not column.null_count and different == len(column) > 2 and _counts_rows(column, name):
        return "numbers the rows"
    return None


def _dates_left_out(name: str) -> str:
    return f"holds dates (--date {name} uses dates)"


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
    if different <= _FEW_CATEGORIES or not _NUMBERS_MEANT <= _share_of_numbers(column) < 1:
        return
    row, cell = next((row, cell) for row, cell in enumerate(column.to_pylist()) if cell and not is_number(cell))
    raise Refusal(
        f"{file.path}, {file.place(row)}: column {name!r} holds numbers, but here {cell!r}; correct or empty the cell, "
        f"or use --categorical {name} or --ignore {name}."
    )
