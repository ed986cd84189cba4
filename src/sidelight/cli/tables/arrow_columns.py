"""Columns of arrow tables, as other types and as plain text."""

from pathlib import Path
from typing import Any

from sidelight.cli.errors import Refusal, one_line
from sidelight.cli.extras import arrow

# What tables in text hold where a value is missing; the same for numbers and for text.
MISSING_WORDS = (
    *("NA", "N/A", "n/a", "#N/A", "#N/A N/A", "#NA", "NULL", "null"),
    *("NaN", "nan", "-NaN", "-nan", "1.#IND", "-1.#IND", "1.#QNAN", "-1.#QNAN"),
)


def without_missing_words(column: Any) -> Any:
    """Return a column of text with nothing where a word says that the value is missing."""
    pa, compute = arrow(), arrow("compute")
    missing = compute.is_in(column, pa.array(MISSING_WORDS))
    return compute.if_else(missing, pa.scalar(None, pa.string()), column) if compute.any(missing).as_py() else column


def converted(path: Path, column: Any, name: str, kind: Any = None) -> Any:
    """Return a column of a file as another type; unchanged where none is given."""
    pa = arrow()
    if kind is None:
        return column
    if pa.types.is_floating(column.type) and pa.types.is_string(kind):
        # Whole numbers with gaps are often stored as floats, and 17.0 is the name 17.
        whole = arrow("compute").cast(column, pa.int64(), safe=False)
        if whole.cast(pa.float64()).equals(column.cast(pa.float64())):
            column = whole
    # Whole numbers beyond 2^53 lose digits as floats, which does not matter here.
    safe = not (pa.types.is_integer(column.type) and pa.types.is_floating(kind))
    try:
        return column.cast(kind, safe=safe)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise Refusal(f"{path}: column {name!r} cannot be taken as {kind}: {one_line(error)}") from error


def with_plain_text(table: Any) -> Any:
    """Return a table whose categories are the values that they stand for, and whose text is of one type.

    Categories that have an order keep it.
    """
    pa = arrow()
    for number, field in enumerate(table.schema):
        column, kind = table.column(number), field.type
        if pa.types.is_dictionary(kind):
            if kind.ordered and _is_text(kind.value_type):
                table = table.set_column(number, field.name, _ordered_text(column))
                continue
            kind = kind.value_type
        if pa.types.is_large_string(kind) or pa.types.is_string_view(kind):
            kind = pa.string()
        if kind != field.type:
            table = table.set_column(number, field.name, column.cast(kind))
    return table


def _is_text(kind: Any) -> bool:
    types = arrow().types
    return bool(types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind))


def _ordered_text(column: Any) -> Any:
    """Return ordered categories of text whose values are of the usual type."""
    pa = arrow()
    kind = pa.dictionary(pa.int32(), pa.string(), ordered=True)
    parts = (
        pa.DictionaryArray.from_arrays(chunk.indices.cast(pa.int32()), chunk.dictionary.cast(pa.string()), ordered=True)
        for chunk in column.chunks
    )
    return pa.chunked_array(list(parts), kind)
