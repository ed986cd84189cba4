"""The columns that a table is clustered by: their kinds, and why other columns are left out."""

from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

from sidelight.cli.errors import Refusal
from sidelight.cli.extras import arrow
from sidelight.cli.tables.csv import is_number
from sidelight.cli.tables.files import TableFile
from sidelight.cli.tables.frames import as_frame_column, pandas_frame, refuse_infinite, tidied

# Text with more different values than this is read as names or remarks, unless the user says otherwise.
_MOST_CATEGORIES = 200
# Text with at most this number of different values always is a set of categories.
_FEW_CATEGORIES = 20
# If at least this fraction of the cells are numbers, the others are mistakes and not categories.
_NUMBERS_MEANT = 0.9


class Omission(NamedTuple):
    """A column that is not used, and why."""

    name: str
    why: str


class Features(NamedTuple):
    """The columns that a table is clustered by.

    Parameters
    ----------
    kinds : dict
        From their names to the names of their kinds, as ``family=`` takes them.
    missing : dict
        From their names to how many cells are missing.
    omissions : list of Omission
        The other columns.
    """

    kinds: dict[str, str]
    missing: dict[str, int]
    omissions: list[Omission]


def find_features(
    file: TableFile, table: Any, columns: Sequence[str], categorical: Collection[str]
) -> tuple[Any, Features]:
    """Decide which columns of a table to use, and as which kind.

    Parameters
    ----------
    file : TableFile
    table : pyarrow.Table
        What was read from the file.
    columns : sequence of str
        Those that no option uses for something else.
    categorical : collection of str
        Those that are categories whatever they hold.

    Returns
    -------
    frame : pandas.DataFrame
        The columns that are used.
    features : Features
    """
    from sidelight.tables.schema import learn_schema

    series, missing, omissions = {}, {}, []
    for name in columns:
        column = tidied(file.convert(table[name], name, arrow().string() if name in categorical else None))
        why = _useless(column, forced=name in categorical)
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
    return frame, Features(dict(zip(frame.columns, schema.kinds, strict=True)), missing, omissions)


def _is_text(column: Any) -> bool:
    types = arrow().types
    kind = column.type.value_type if types.is_dictionary(column.type) else column.type
    return bool(types.is_string(kind) or types.is_large_string(kind))


def _useless(column: Any, *, forced: bool) -> str | None:
    """Say why a column cannot be used, None if it can."""
    types, compute = arrow().types, arrow("compute")
    kind = column.type
    if column.null_count == len(column):
        return "is empty"
    if types.is_temporal(kind):
        return "holds dates or times (turn them into numbers, such as days since, to use them)"
    text = _is_text(column)
    if not (
        text or types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind) or types.is_boolean(kind)
    ):
        return f"holds {kind}, which is neither numbers nor text"
    different = compute.count_distinct(column, mode="only_valid").as_py()
    if different == 1:
        return "has the same value wherever it has one"
    known = len(column) - column.null_count
    if text and not forced and different > max(_FEW_CATEGORIES, min(known // 2, _MOST_CATEGORIES)):
        if _share_of_numbers(column) >= _NUMBERS_MEANT:
            return None
        return f"is free text ({different} different values; --categorical makes it categories)"
    if types.is_integer(kind) and not column.null_count and different == len(column) > 2 and _counts_rows(column):
        return "numbers the rows"
    return None


def _counts_rows(column: Any) -> bool:
    values = column.to_numpy()
    return bool((values[1:] - values[:-1] == 1).all())


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
