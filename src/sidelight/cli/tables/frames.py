"""From arrow columns to the data frame that a model is fitted to."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from sidelight.cli.errors import Refusal
from sidelight.cli.extras import arrow, pandas
from sidelight.cli.tables.files import TableFile


def tidied(column: Any) -> Any:
    """Return a column with NaN as missing, and whole numbers that were stored as floats because cells are missing."""
    pa, compute = arrow(), arrow("compute")
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
