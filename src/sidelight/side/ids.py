"""Rows that go by id: read the ids of a table, and find the rows that users name by them."""

from collections.abc import Callable, Hashable
from typing import Any

import numpy as np

from sidelight._typing import AnyArray, IntArray
from sidelight.side.parsing import as_int64, as_vector, is_missing, names_array, python_value


def read_ids(sample_id: Any, n: int | None) -> AnyArray:
    """Read the names of rows: all present, all different."""
    vector = as_vector(sample_id, "sample_id", n)
    if vector.dtype.kind in "fOmM":
        values = vector.tolist()
        missing = next((row for row, value in enumerate(values) if is_missing(value)), None)
        if missing is not None:
            raise ValueError(f"sample_id has no id at row {missing}; give every row an id")
        vector = names_array([python_value(value) for value in values]) if vector.dtype.kind in "fO" else vector
    vector = as_int64(vector)
    first_row: dict[Any, int] = {}
    if vector.dtype.kind == "O":
        unfit = next((row for row, name in enumerate(vector) if not isinstance(name, Hashable)), None)
        if unfit is not None:
            raise ValueError(f"sample_id holds {vector[unfit]!r} at row {unfit}, which cannot be an id")
    for row, name in enumerate(vector.tolist()):
        if first_row.setdefault(name, row) != row:
            raise ValueError(f"sample_id names rows {first_row[name]} and {row} both {name!r}; ids must be unique")
    return vector


def rows_of(ids: AnyArray, wanted: AnyArray) -> IntArray:
    """Find the rows that carry the wanted ids, in the shape of ``wanted``; -1 where no row does."""
    wanted = as_int64(wanted)
    # Sorting is the fast way for numbers only; strings are slow to sort.
    if ids.dtype.kind == wanted.dtype.kind == "i" and len(ids):
        order = np.argsort(ids, kind="stable")
        place = np.minimum(np.searchsorted(ids, wanted, sorter=order), len(ids) - 1)
        return np.where(ids[order[place]] == wanted, order[place], -1).astype(np.int64)
    lookup = {name: row for row, name in enumerate(ids.tolist())} if wanted.size else {}
    found = [lookup.get(python_value(name), -1) for name in wanted.ravel().tolist()]
    return np.array(found, dtype=np.int64).reshape(wanted.shape)


def rows_with_ids(ids: AnyArray, names: AnyArray, place: Callable[[int], str]) -> IntArray:
    """Return rows that go by id, -1 where no row carries it; ``place`` locates a flat position, for messages."""
    if names.dtype.kind == "O":
        for position, value in enumerate(names.ravel().tolist()):
            if is_missing(value):
                raise ValueError(f"{place(position)} names no row: an id is missing; fill it in or remove it")
    return rows_of(ids, names)
