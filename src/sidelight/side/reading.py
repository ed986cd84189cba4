"""Read what users pass: columns of labels or ids in any of the usual containers, and names of rows."""

import operator
from collections.abc import Callable, Hashable, Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sidelight.side.bonds import IntArray

AnyArray = NDArray[Any]


class Encoded(NamedTuple):
    """A partial column as codes: ``names[codes]`` where known, -1 where not; names are sorted."""

    codes: IntArray
    names: AnyArray


def nobody(n: int) -> Encoded:
    """Return the codes of n rows of which nothing is known; they take no room however many they are."""
    return Encoded(np.broadcast_to(np.int64(-1), (n,)), np.empty(0, dtype=np.int64))


def is_missing(value: Any) -> bool:
    """Tell whether a value stands for "unknown": None, NaN, NaT, pandas' NA."""
    if value is None:
        return True
    try:
        return bool(value != value)  # NaN and NaT differ from themselves
    except TypeError:  # pandas' NA refuses to be a truth value
        return True
    except ValueError:  # an array, which is no missing value
        return False


def as_vector(values: Any, argument: str, n: int | None = None) -> AnyArray:
    """Turn a list, array or column of pandas or polars into a one-dimensional array, checking its length."""
    readable = isinstance(values, Iterable) or hasattr(values, "__array__")
    if isinstance(values, (str, bytes, Mapping)) or not readable:
        raise ValueError(f"{argument} must be a one-dimensional list, array or column, not {type(values).__name__}")
    if np.ma.isMaskedArray(values):
        array = np.asarray(values).astype(object)
        array[np.ma.getmaskarray(values)] = None
    elif hasattr(values, "__array__"):
        array = np.asarray(values)
    else:
        array = _from_sequence(list(values), argument)
    if array.ndim != 1:
        raise ValueError(f"{argument} must be one-dimensional, but has shape {array.shape}; pass one column")
    if n is not None and len(array) != n:
        raise ValueError(f"{argument} has {len(array)} values, but there are {n} rows; give one per row")
    return array


def _from_sequence(values: list[Any], argument: str) -> AnyArray:
    try:
        array = np.asarray(values)
    except ValueError as error:
        raise ValueError(
            f"{argument} must be one-dimensional, but some of its values are lists; pass one value per row"
        ) from error
    # NumPy writes [1, "a", nan] as strings, and "nan" would become a label.
    return np.array(values, dtype=object) if array.dtype.kind in "US" else array


def encode(values: Any, argument: str, n: int | None = None) -> Encoded:
    """Encode a partial column of names (labels, blocks); -1, None and NaN stand for unknown."""
    vector = as_vector(values, argument, n)
    if vector.dtype.kind == "O":
        return _encode_objects(vector, argument)
    known = _known(vector, argument)
    if vector.dtype.kind == "f":
        vector = _integral(vector, known, argument)
    vector = _widened(vector)
    names, inverse = np.unique(vector[known], return_inverse=True)
    codes = np.full(len(vector), -1, dtype=np.int64)
    codes[known] = inverse
    return Encoded(codes, names)


def _known(vector: AnyArray, argument: str) -> NDArray[np.bool_]:
    match vector.dtype.kind:
        case "i":
            return np.asarray(vector != -1)
        case "f":
            return ~(np.isnan(vector) | (vector == -1))
        case "M" | "m":
            return ~np.isnat(vector)
        case "b" | "u" | "U" | "S":
            return np.ones(len(vector), dtype=bool)
    raise ValueError(f"{argument} holds {vector.dtype} values; use integers, strings or booleans")


def _integral(vector: AnyArray, known: NDArray[np.bool_], argument: str) -> IntArray:
    wrong = np.flatnonzero(known & ~((np.rint(vector) == vector) & (np.abs(vector) < 2**53)))
    if len(wrong):
        raise _continuous(argument, int(wrong[0]), vector[wrong[0]].item())
    return np.where(known, vector, -1).astype(np.int64)


def _widened(vector: AnyArray) -> AnyArray:
    """Make integers int64, so that names compare whatever type they were stored in."""
    fits = vector.dtype.kind == "i" or (vector.dtype.kind == "u" and vector.max(initial=0) < 2**63)
    return vector.astype(np.int64) if fits else vector


def _continuous(argument: str, row: int, value: float) -> ValueError:
    return ValueError(
        f"{argument} looks continuous: row {row} holds {value!r}; "
        "pass integers, strings or booleans, with -1, None or NaN where unknown"
    )


def _encode_objects(vector: AnyArray, argument: str) -> Encoded:
    known, values = [], []
    for row, value in enumerate(vector.tolist()):
        if is_missing(value):
            continue
        plain = _plain(value)
        if isinstance(plain, float):
            raise _continuous(argument, row, plain)
        if isinstance(plain, bool) or plain != -1:
            known.append(row)
            values.append(plain)
    try:
        names = sort_names(values)
    except TypeError as error:
        raise ValueError(
            f"{argument} holds values that cannot name anything ({error}); use integers, strings or booleans"
        ) from error
    place = {name: code for code, name in enumerate(names.tolist())}
    codes = np.full(len(vector), -1, dtype=np.int64)
    codes[known] = [place[value] for value in values]
    return Encoded(codes, names)


def _plain(value: Any) -> Any:
    """Make NumPy scalars Python values, and whole floats integers."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value


def sort_names(values: Iterable[Any]) -> AnyArray:
    """Give the distinct values in order, as integers, strings or booleans where all are."""
    distinct = set(values)
    try:
        ordered = sorted(distinct)
    except TypeError:  # of several types: by type, so that the order is the same in every run
        ordered = sorted(distinct, key=lambda name: (type(name).__name__, str(name)))
    return tidy(ordered)


def tidy(values: list[Any]) -> AnyArray:
    """Give an array of integers, strings or booleans where all values are of one type, else of objects."""
    types = {type(value) for value in values}
    if types in ({int}, {str}, {bool}):
        array = np.array(values)
        if array.dtype.kind in "iUb":
            return array
    return np.fromiter(values, object, len(values)) if values else np.empty(0, dtype=np.int64)


def read_ids(sample_id: Any, n: int | None, argument: str = "sample_id") -> AnyArray:
    """Read the names of rows: all present, all different."""
    vector = as_vector(sample_id, argument, n)
    if vector.dtype.kind in "fOmM":
        values = vector.tolist()
        missing = next((row for row, value in enumerate(values) if is_missing(value)), None)
        if missing is not None:
            raise ValueError(f"{argument} has no id at row {missing}; give every row an id")
        vector = tidy([_plain(value) for value in values]) if vector.dtype.kind in "fO" else vector
    vector = _widened(vector)
    first_row: dict[Any, int] = {}
    if vector.dtype.kind == "O":
        unfit = next((row for row, name in enumerate(vector) if not isinstance(name, Hashable)), None)
        if unfit is not None:
            raise ValueError(f"{argument} holds {vector[unfit]!r} at row {unfit}, which cannot be an id")
    for row, name in enumerate(vector.tolist()):
        if first_row.setdefault(name, row) != row:
            raise ValueError(f"{argument} names rows {first_row[name]} and {row} both {name!r}; ids must be unique")
    return vector


def rows_of(ids: AnyArray, wanted: AnyArray) -> IntArray:
    """Find the rows that carry the wanted ids, in the shape of ``wanted``; -1 where no row does."""
    wanted = _widened(wanted)
    # Sorting is the fast way for numbers only; strings are slow to sort.
    if ids.dtype.kind == wanted.dtype.kind == "i" and len(ids):
        order = np.argsort(ids, kind="stable")
        place = np.minimum(np.searchsorted(ids, wanted, sorter=order), len(ids) - 1)
        return np.where(ids[order[place]] == wanted, order[place], -1).astype(np.int64)
    lookup = {name: row for row, name in enumerate(ids.tolist())} if wanted.size else {}
    found = [lookup.get(_plain(name), -1) for name in wanted.ravel().tolist()]
    return np.array(found, dtype=np.int64).reshape(wanted.shape)


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


def resolve(ends: AnyArray, place: Callable[[int], str], n: int, ids: AnyArray | None) -> IntArray:
    """Find the rows that users name, by number or by id; -1 for ids that no row carries.

    ``place`` says where the value at a flat position stands, for messages.
    """
    if ids is None:
        return _row_numbers(ends, place, n)
    if ends.dtype.kind == "O":
        for position, value in enumerate(ends.ravel().tolist()):
            if is_missing(value):
                raise ValueError(f"{place(position)} names no row: an id is missing; fill it in or remove it")
    return rows_of(ids, ends)


def _row_numbers(ends: AnyArray, place: Callable[[int], str], n: int) -> IntArray:
    if ends.dtype.kind not in "iu":
        ends = _as_integers(ends, place)
    wrong = np.flatnonzero((ends.ravel() < 0) | (ends.ravel() >= n))
    if len(wrong):
        value = int(ends.ravel()[wrong[0]])
        raise ValueError(
            f"{place(int(wrong[0]))} names row {value}, but the {n} rows are numbered 0 to {n - 1}; "
            "correct the number, or pass sample_id to name rows by id"
        )
    return ends.astype(np.int64)


def _as_integers(ends: AnyArray, place: Callable[[int], str]) -> IntArray:
    rows = []
    for position, value in enumerate(ends.ravel().tolist()):
        plain = _plain(value)
        try:
            rows.append(operator.index(plain))
        except TypeError:
            plain = None
        if plain is None or isinstance(plain, bool):
            raise ValueError(
                f"{place(position)} names row {value!r}, which is no row number; "
                "give integers, or pass sample_id to name rows by id"
            )
    return np.array(rows, dtype=np.int64).reshape(ends.shape)
