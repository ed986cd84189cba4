"""Columns of labels and of other names become codes."""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np

from sidelight._typing import AnyArray, BoolArray, IntArray
from sidelight.side.missing_text import without_missing_text

# Strings are stored as long as the longest of them if that takes at most this many times their characters, and this
# number of characters more.
_PADDING, _ROOM = 8, 1_000_000


class CodedColumn(NamedTuple):
    """A partial column as codes: ``names[codes]`` where known, -1 where unknown; names are sorted."""

    codes: IntArray
    names: AnyArray


def unknown_column(n: int) -> CodedColumn:
    """Return the codes of n rows that are all unknown; they take no memory, however large n is."""
    return CodedColumn(np.broadcast_to(np.int64(-1), (n,)), np.empty(0, dtype=np.int64))


def is_missing(value: Any) -> bool:
    """Return whether a value stands for "unknown": None, NaN, NaT or pandas' NA."""
    if value is None:
        return True
    try:
        return bool(value != value)  # NaN and NaT differ from themselves
    except TypeError:  # pandas' NA has no truth value
        return True
    except ValueError:  # an array, which is not a missing value
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
    # NumPy would make all strings as long as the longest, and turn [1, "a", nan] into strings: "nan" would be a label.
    types = set(map(type, values))
    texts = any(issubclass(each, str | bytes) for each in types)
    try:
        if texts and not any(issubclass(each, list | tuple | np.ndarray) for each in types):
            return np.fromiter(values, object, len(values))
        return np.asarray(values)
    except ValueError as error:
        raise ValueError(
            f"{argument} must be one-dimensional, but some of its values are lists; pass one value per row"
        ) from error


def encode(values: Any, argument: str, n: int | None = None) -> CodedColumn:
    """Encode a partial column of names (labels, blocks); -1, None and NaN stand for unknown.

    So does text that a program writes for a missing value, with a warning; text that a person may have written for one
    stays a name, with a warning.
    """
    vector = without_missing_text(as_vector(values, argument, n), argument)
    if vector.dtype.kind == "O":
        return _encode_objects(vector, argument)
    known = _is_known(vector, argument)
    if vector.dtype.kind == "f":
        wrong = np.flatnonzero(known & ~((np.rint(vector) == vector) & (np.abs(vector) < 2**53)))
        if len(wrong):
            raise _continuous(argument, int(wrong[0]), vector[wrong[0]].item())
        vector = np.where(known, vector, -1).astype(np.int64)
    names, inverse = np.unique(as_int64(vector)[known], return_inverse=True)
    codes = np.full(len(vector), -1, dtype=np.int64)
    codes[known] = inverse
    return CodedColumn(codes, names)


def _is_known(vector: AnyArray, argument: str) -> BoolArray:
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


def as_int64(vector: AnyArray) -> AnyArray:
    """Make integers int64, so that equal names are equal whatever type they were stored in."""
    fits = vector.dtype.kind == "i" or (vector.dtype.kind == "u" and vector.max(initial=0) < 2**63)
    return vector.astype(np.int64) if fits else vector


def _continuous(argument: str, row: int, value: float) -> ValueError:
    return ValueError(
        f"{argument} looks continuous: row {row} holds {value!r}; "
        "pass integers, strings or booleans, with -1, None or NaN where unknown"
    )


def _encode_objects(vector: AnyArray, argument: str) -> CodedColumn:
    known, values = [], []
    for row, value in enumerate(vector.tolist()):
        if value is None or is_missing(value):
            continue
        name = python_value(value)
        if isinstance(name, float):
            raise _continuous(argument, row, name)
        if isinstance(name, bool) or name != -1:
            known.append(row)
            values.append(name)
    try:
        names = sorted_names(values)
    except TypeError as error:
        raise ValueError(
            f"{argument} holds values that cannot name anything ({error}); use integers, strings or booleans"
        ) from error
    code_of = {name: code for code, name in enumerate(names.tolist())}
    codes = np.full(len(vector), -1, dtype=np.int64)
    codes[known] = [code_of[value] for value in values]
    return CodedColumn(codes, names)


def encode_complete(labels: AnyArray, argument: str) -> IntArray:
    """Return the groups of a complete labelling as codes 0, 1, …; every value, -1 too, is a group."""
    refuse_missing(labels, argument)
    if labels.dtype.kind != "O":
        return np.unique(labels, return_inverse=True)[1].astype(np.int64)
    numbers: dict[Any, int] = {}
    return np.array([numbers.setdefault(value, len(numbers)) for value in labels.tolist()], dtype=np.int64)


def refuse_missing(labels: AnyArray, argument: str) -> None:
    """Refuse a labelling that leaves a row without a label."""
    if labels.dtype.kind in "fcOmM":
        missing = next((row for row, value in enumerate(labels.tolist()) if is_missing(value)), None)
        if missing is not None:
            raise ValueError(f"{argument} has no label at place {missing}; choose labelled rows by rows=")


def python_value(value: Any) -> Any:
    """Make NumPy scalars Python values, and whole floats integers."""
    if isinstance(value, np.generic):
        value = value.item()
    return int(value) if isinstance(value, float) and value.is_integer() else value


def sorted_names(values: Iterable[Any]) -> AnyArray:
    """Return the distinct values in order, as `names_array` stores them."""
    distinct = set(values)
    try:
        ordered = sorted(distinct)
    except TypeError:  # several types: by type, so that the order is the same in every run
        ordered = sorted(distinct, key=lambda name: (type(name).__name__, str(name)))
    return names_array(ordered)


def have_one_width(values: Iterable[str]) -> bool:
    """Say whether strings can be stored as long as the longest of them each, without taking much more room."""
    lengths = [len(value) for value in values]
    return len(lengths) * max(lengths, default=0) <= _PADDING * sum(lengths) + _ROOM


def names_array(values: list[Any]) -> AnyArray:
    """Return an array of integers, strings or booleans where all values are of one type, else of objects.

    Strings of which a few are much longer than the others are objects too.
    """
    types = {type(value) for value in values}
    if types in ({int}, {bool}) or (types == {str} and have_one_width(values)):
        array = np.array(values)
        if array.dtype.kind in "iUb":
            return array
    return np.fromiter(values, object, len(values)) if values else np.empty(0, dtype=np.int64)


def compress(codes: IntArray, names: AnyArray) -> CodedColumn:
    """Leave out the names that no code uses."""
    used, inverse = np.unique(codes[codes >= 0], return_inverse=True)
    compressed = np.full(len(codes), -1, dtype=np.int64)
    compressed[codes >= 0] = inverse
    return CodedColumn(compressed, names[used])
