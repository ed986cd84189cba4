"""Columns that the user says are numbers, ordered categories or dates: they are taken as such, or refused."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from sidelight.cli.errors import Refusal
from sidelight.cli.extras import arrow
from sidelight.cli.tables.columns import as_frame_column, declared_order, in_order, is_text, tidied
from sidelight.cli.tables.files import TableFile, check_columns, some
from sidelight.cli.tables.written_dates import UnreadableDateError, written_dates
from sidelight.cli.tables.written_numbers import NumberStyle, as_number, is_missing_word, number_style

_MOST_LEVELS = 200


class AskedColumns(NamedTuple):
    """What the user says about columns.

    ``ordinal`` maps columns to their values in order, none where the values themselves have one; ``date`` maps them to
    a format of `datetime.strptime`, "" where that is to be found out; the numbers of ``log`` are taken as logarithms.
    """

    categorical: tuple[str, ...] = ()
    number: tuple[str, ...] = ()
    ordinal: Mapping[str, tuple[str, ...]] = {}
    date: Mapping[str, str] = {}
    log: tuple[str, ...] = ()


class FrameColumn(NamedTuple):
    """A column for a frame, the kind it is to have, and how its cells are written where that is not the usual way."""

    cells: Any
    kind: str
    n_missing: int
    written: str = ""


def asked_columns(
    file: TableFile,
    aside: Mapping[str, str],
    *,
    categorical: Sequence[str] = (),
    number: Sequence[str] = (),
    ordinal: Sequence[str] = (),
    date: Sequence[str] = (),
    log: Sequence[str] = (),
) -> AskedColumns:
    """Return what options say about columns; two that contradict each other are refused.

    ``aside`` maps columns that are not to be clustered by to the options that say so. An entry of ``ordinal`` or
    ``date`` is the name of a column, or NAME=small<medium<large and NAME=%d/%m/%Y.
    """
    orders = dict(_with_detail(file, entry) for entry in ordinal)
    forms = dict(_with_detail(file, entry) for entry in date)
    by_option = {
        "--categorical": categorical,
        "--number": number,
        "--ordinal": tuple(orders),
        "--date": tuple(forms),
        "--log": log,
    }
    for option, names in by_option.items():
        check_columns(file, dict.fromkeys(names, option))
    _refuse_contradictions(file, aside, by_option)
    levels = {name: _levels(name, order) for name, order in orders.items()}
    for name, form in forms.items():
        if form and "%" not in form:
            raise Refusal(f"--date {name}={form}: the part after = says how dates are written, %d/%m/%Y, say.")
    return AskedColumns(tuple(categorical), tuple(number), levels, forms, tuple(log))


def _with_detail(file: TableFile, entry: str) -> tuple[str, str]:
    """Return the column of an entry, and what stands after its =; names may contain one themselves."""
    if entry in file.header:
        return entry, ""
    cuts = [place for place, letter in enumerate(entry) if letter == "="]
    for place in reversed(cuts):
        if entry[:place] in file.header:
            return entry[:place], entry[place + 1 :]
    return (entry[: cuts[0]], entry[cuts[0] + 1 :]) if cuts else (entry, "")


def _levels(name: str, order: str) -> tuple[str, ...]:
    levels = tuple(level.strip() for level in order.split("<")) if order else ()
    if order and (len(set(levels)) < len(levels) or len(levels) < 2 or "" in levels):
        raise Refusal(
            f"--ordinal {name}={order}: the part after = must be different values in order, small<medium<large, say."
        )
    return levels


def _refuse_contradictions(file: TableFile, aside: Mapping[str, str], by_option: Mapping[str, Sequence[str]]) -> None:
    taken = dict(aside)
    for option, names in by_option.items():
        for name in names:
            # The logarithm of a column that is said to hold numbers is no contradiction.
            if taken.get(name) not in (None, option) and (option, taken[name]) != ("--log", "--number"):
                raise Refusal(f"{taken[name]} and {option} both name column {name!r} of {file.path}; choose one.")
            taken[name] = option


def read_asked(file: TableFile, column: Any, name: str, asked: AskedColumns) -> FrameColumn | None:
    """Return a column that the user says something about, or whose order the file declares; None for others.

    The column is as the file has it.
    """
    if name in asked.log:
        found = _numbers(file, column, name)
        return found._replace(cells=logarithms(file, name, found.cells))
    if name in asked.number:
        return _numbers(file, column, name)
    if name in asked.date:
        return _dates(file, column, name, asked.date[name])
    if name in asked.ordinal:
        return _ordered(file, column, name, asked.ordinal[name])
    levels = None if name in asked.categorical else declared_order(column)
    return None if levels is None else FrameColumn(in_order(column, levels), "ordinal", column.null_count)


def _numbers(file: TableFile, column: Any, name: str) -> FrameColumn:
    pa = arrow()
    converted = tidied(file.convert(column, name))
    if not is_text(converted):
        return _stored_numbers(file, converted, name)
    cells = converted.cast(pa.string()).to_pylist()
    style = number_style(cells, getattr(file, "decimal", "."))
    values = text_numbers(file, cells, name, style)
    return FrameColumn(values, "gaussian", int(np.isnan(values).sum()), style.stored)


def _stored_numbers(file: TableFile, column: Any, name: str) -> FrameColumn:
    types = arrow().types
    if types.is_temporal(column.type):
        raise Refusal(f"{file.path}: column {name!r} holds dates or times; use --date {name} for dates.")
    if types.is_boolean(column.type):
        column = column.cast(arrow().int8())
    if not (types.is_integer(column.type) or types.is_floating(column.type) or types.is_decimal(column.type)):
        raise Refusal(
            f"{file.path}: column {name!r} holds {column.type}, which is not numbers; leave it out (--ignore)."
        )
    values = column.cast(arrow().float64(), safe=False).to_numpy()
    return FrameColumn(values, "gaussian", column.null_count)


def text_numbers(file: TableFile, cells: Iterable[str | None], name: str, style: NumberStyle) -> Any:
    """Return the numbers (n,) that texts stand for in a style, NaN for missing ones; others are refused."""
    values = []
    for row, cell in enumerate(cells):
        value = None if cell is None else as_number(cell, style)
        if value is None and cell is not None and not is_missing_word(cell):
            raise Refusal(
                f"{file.path}, {file.place(row)}: column {name!r} takes numbers, but holds {cell!r}; correct the cell, "
                "or empty it."
            )
        values.append(np.nan if value is None else value)
    return np.array(values, dtype=float)


def logarithms(file: TableFile, name: str, values: Any) -> Any:
    """Return natural logarithms; numbers that have none are refused."""
    low = np.flatnonzero(values <= 0)
    if len(low):
        raise Refusal(
            f"{file.path}, {file.place(int(low[0]))}: column {name!r} holds {values[low[0]]:g}, but --log takes "
            "numbers above zero; correct the cell, empty it, or leave --log out."
        )
    return np.log(values)


def _dates(file: TableFile, column: Any, name: str, form: str) -> FrameColumn:
    dates, written = as_dates(file, column, name, form)
    return FrameColumn(as_frame_column(dates), "date", dates.null_count, written)


def as_dates(file: TableFile, column: Any, name: str, form: str = "") -> tuple[Any, str]:
    """Return a column as arrow timestamps, and the format of its text, "" where the file itself has dates."""
    pa = arrow()
    types = pa.types
    converted = column if form else file.convert(column, name)
    if types.is_date(converted.type) or types.is_timestamp(converted.type):
        if types.is_timestamp(converted.type):  # the time of day where the dates were written does not matter here
            converted = converted.cast(pa.timestamp(converted.type.unit))
        return converted.cast(pa.timestamp("us"), safe=False), ""
    if not is_text(converted) and not (form and types.is_integer(converted.type)):
        raise Refusal(
            f"{file.path}: column {name!r} holds {converted.type}, which is not dates; if its numbers are, say how "
            f"they are written: --date '{name}=%Y%m%d', say."
        )
    cells = file.convert(converted, name, pa.string()).cast(pa.string()).to_pylist()
    try:
        found = written_dates(cells, form)
    except UnreadableDateError as error:
        raise Refusal(
            f"{file.path}, {file.place(cells.index(error.text))}: column {name!r} is to be dates, but {error.text!r} "
            f"{error}; correct the cell, or say how the dates are written: --date '{name}=%d/%m/%Y', say."
        ) from error
    values = [None if cell is None else found.values[cell] for cell in cells]
    return pa.chunked_array([pa.array(values, pa.timestamp("us"))]), found.form


def _ordered(file: TableFile, column: Any, name: str, levels: tuple[str, ...]) -> FrameColumn:
    pa, compute = arrow(), arrow("compute")
    levels = levels or declared_order(column) or ()
    if levels:
        return _in_given_order(file, file.convert(column, name, pa.string()).cast(pa.string()), name, levels)
    converted = tidied(file.convert(column, name))
    values = compute.unique(converted.drop_null())
    if is_text(converted):
        found = values.cast(pa.string()).to_pylist()
        example = "<".join(found[:4]) + ("<…" if len(found) > 4 else "")
        raise Refusal(
            f"{file.path}: column {name!r} holds text ({some(found)}), whose order --ordinal needs, from low to high: "
            f"--ordinal '{name}={example}', with the values in their order."
        )
    found_numbers = _stored_numbers(file, converted, name)
    if len(values) > _MOST_LEVELS:
        raise Refusal(
            f"{file.path}: column {name!r} has {len(values)} different values, too many for --ordinal; use --number."
        )
    return found_numbers._replace(kind="ordinal")


def _in_given_order(file: TableFile, column: Any, name: str, levels: tuple[str, ...]) -> FrameColumn:
    trimmed = arrow("compute").utf8_trim_whitespace(column)
    cells = in_order(trimmed, levels)
    strange = [
        (row, cell)
        for row, (cell, code) in enumerate(zip(trimmed.to_pylist(), cells.codes, strict=True))
        if code < 0 and cell is not None and not is_missing_word(cell)
    ]
    if strange:
        row, cell = strange[0]
        raise Refusal(
            f"{file.path}, {file.place(row)}: column {name!r} holds {cell!r}, which --ordinal does not name; it has "
            f"{'<'.join(levels)}. Put it in its place there, or correct the cell."
        )
    return FrameColumn(cells, "ordinal", int((cells.codes < 0).sum()))
