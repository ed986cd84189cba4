"""Rows that users name, by number or by id, become row numbers."""

import operator
from collections.abc import Callable, Hashable
from functools import partial
from typing import Any

import numpy as np

from sidelight._typing import AnyArray, IntArray
from sidelight.side.parsing.columns import as_int64, as_vector, is_missing, names_array, python_value

# Finds the rows that users name, -1 for absent rows: `row_numbers` or `rows_with_ids`, given all but the last two.
FindRows = Callable[[AnyArray, Callable[[int], str]], IntArray]


def choose_rows(rows: Any, argument: str, n: int) -> IntArray:
    """Read a choice among n rows: row numbers, in any order, or a mask."""
    chosen = as_vector(rows, argument)
    if len(chosen) == 0:
        return np.empty(0, dtype=np.int64)
    if chosen.dtype.kind == "b":
        if len(chosen) != n:
            raise ValueError(f"{argument} is a mask of {len(chosen)} values, but there are {n} rows")
        return np.flatnonzero(chosen)
    if chosen.dtype.kind not in "iu":
        raise ValueError(f"{argument} holds {chosen.dtype} values; give row numbers or a mask")
    wrong = np.flatnonzero((chosen < 0) | (chosen >= n))
    if len(wrong):
        raise ValueError(f"{argument}[{wrong[0]}] is {chosen[wrong[0]]}, but the {n} rows are numbered 0 to {n - 1}")
    return chosen.astype(np.int64)


def row_numbers(n: int, names: AnyArray, place: Callable[[int], str]) -> IntArray:
    """Return rows that go by number, 0 to n - 1; ``place`` locates a flat position, for messages."""
    numbers = names if names.dtype.kind in "iu" else _as_integers(names, place)
    wrong = np.flatnonzero((numbers < 0) | (numbers >= n))
    if len(wrong):
        first = int(wrong[0])
        raise ValueError(
            f"{place(first)} names row {numbers.flat[first]}, but the {n} rows are numbered 0 to {n - 1}; "
            "correct the number, or pass sample_id to name rows by id"
        )
    return numbers.astype(np.int64)


def _as_integers(names: AnyArray, place: Callable[[int], str]) -> IntArray:
    rows = []
    for position, value in enumerate(names.ravel().tolist()):
        number = python_value(value)
        try:
            rows.append(operator.index(number))
        except TypeError:
            number = None
        if number is None or isinstance(number, bool):
            raise ValueError(
                f"{place(position)} names row {value!r}, which is not a row number; "
                "give integers, or pass sample_id to name rows by id"
            )
    return np.array(rows, dtype=np.int64).reshape(names.shape)


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


def row_finder(n: int, ids: AnyArray | None) -> FindRows:
    """Return the function that finds rows by their ids, or by number where there are none."""
    return partial(row_numbers, n) if ids is None else partial(rows_with_ids, ids)
