"""Arrow columns as columns of a data frame."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from sidelight.cli.errors import Refusal
from sidelight.cli.extras import arrow, pandas
from sidelight.cli.tables.files import TableFile


def tidied(column: Any) -> Any:
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


def is_text(column: Any) -> bool:
    """Say whether cells are text, or categories that are."""
    types = arrow().types
    kind = column.type.value_type if types.is_dictionary(column.type) else column.type
    return bool(types.is_string(kind) or types.is_large_string(kind))


def declared_order(column: Any) -> tuple[str, ...] | None:
    """Return the categories of a column that the file puts in an order; None for other columns."""
    if not (arrow().types.is_dictionary(column.type) and column.type.ordered):
        return None
    declared = [chunk.dictionary for chunk in column.chunks]
    # Where parts of the file list other categories, none of the lists has the whole order.
    same = bool(declared) and all(each.equals(declared[0]) for each in declared)
    return tuple(declared[0].to_pylist()) if same else None


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
    if types.is_timestamp(kind):
        return column.to_pandas().to_numpy()
    encoded = column if types.is_dictionary(kind) else column.dictionary_encode()
    return encoded.unify_dictionaries().combine_chunks().to_pandas()


def in_order(column: Any, levels: tuple[str, ...]) -> Any:
    """Return a column of text for a frame, as categories with an order; text that is none of them is missing."""
    known = set(levels)
    cells = [cell if cell in known else None for cell in column.cast(arrow().string()).to_pylist()]
    return pandas().Categorical(cells, categories=list(levels), ordered=True)


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
