"""Read what users pass: columns of labels become codes; links, blocks and ids become row numbers."""

import operator
from collections.abc import Callable, Hashable, Iterable, Mapping
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from sidelight._typing import AnyArray, BoolArray, FloatArray, IntArray
from sidelight.side.closure import NO_PAIRS, join_groups
from sidelight.side.missing_text import without_missing_text

# Finds the rows that users name, -1 for absent rows: `row_numbers` or `rows_with_ids`, given all but the last two.
FindRows = Callable[[AnyArray, Callable[[int], str]], IntArray]
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


class StatedLinks(NamedTuple):
    """Links in the order given, as row numbers; ``present`` is true where both ends are among the rows."""

    pairs: IntArray
    present: BoolArray


def read_links(links: Any, argument: str, find: FindRows) -> StatedLinks:
    """Read pairs of row numbers or ids from a list of pairs, an (m, 2) array or a two-column table."""
    pairs = find(_pair_table(links, argument), lambda flat: f"{argument}[{flat // 2}]")
    return StatedLinks(pairs, np.all(pairs >= 0, axis=1))


def _pair_table(links: Any, argument: str) -> AnyArray:
    if links is None:
        return NO_PAIRS
    if isinstance(links, (str, bytes, Mapping)) or not isinstance(links, Iterable):
        raise ValueError(  # noqa: TRY004  (as scikit-learn does for malformed input)
            f"{argument} must be a list of pairs or an (m, 2) array, not {type(links).__name__}"
        )
    if hasattr(links, "__array__"):
        table = np.asarray(links)
        if table.size == 0:
            return NO_PAIRS
        if table.ndim != 2 or table.shape[1] != 2:
            raise ValueError(f"{argument} has shape {table.shape}; give two columns, one row per pair")
        return table
    return _table_of_list(list(links), argument)


def _table_of_list(pairs: list[Any], argument: str) -> AnyArray:
    if not pairs:
        return NO_PAIRS
    try:
        # An array of text would make every id as long as the longest.
        table = np.empty(0) if _names_text(pairs) else np.asarray(pairs)
    except ValueError:  # of several lengths; the loop finds the first that is not a pair
        table = np.empty(0)
    if table.dtype.kind in "iu" and table.shape == (len(pairs), 2):
        return table
    for position, pair in enumerate(pairs):
        if isinstance(pair, (str, bytes)) or not hasattr(pair, "__len__") or len(pair) != 2:
            raise ValueError(
                f"{argument}[{position}] is {pair!r}, which is not a pair; give a list of pairs such as [(0, 4)]"
            )
    # End by end, as NumPy would turn ("a", 1) into two strings.
    return names_array([end for pair in pairs for end in pair]).reshape(-1, 2)


def _names_text(pairs: list[Any]) -> bool:
    """Say whether pairs name rows by text."""
    return any(isinstance(end, str | bytes) for pair in pairs if isinstance(pair, list | tuple) for end in pair)


def refuse_self_links(links: StatedLinks, argument: str) -> None:
    """Refuse a cannot-link of a row with itself."""
    wrong = np.flatnonzero(links.present & (links.pairs[:, 0] == links.pairs[:, 1]))
    if len(wrong):
        position = int(wrong[0])
        raise ValueError(f"{argument}[{position}] keeps row {links.pairs[position, 0]} apart from itself; remove it")


def read_confidence(confidence: Any, n_must: int, n_cannot: int) -> tuple[FloatArray, FloatArray]:
    """Read one number, one per link (must-links first), or a mapping with an entry for each kind."""
    if isinstance(confidence, Mapping):
        unknown = set(confidence) - {"must_link", "cannot_link"}
        if unknown:
            raise ValueError(
                f"confidence has the entry {sorted(map(str, unknown))[0]!r}; "
                "use 'must_link' and 'cannot_link', each one number or one per link"
            )
        return (
            _confidences(confidence.get("must_link"), n_must, "confidence['must_link']", "must-links"),
            _confidences(confidence.get("cannot_link"), n_cannot, "confidence['cannot_link']", "cannot-links"),
        )
    both = _confidences(confidence, n_must + n_cannot, "confidence", "links")
    return both[:n_must], both[n_must:]


def _confidences(values: Any, n_links: int, argument: str, links: str) -> FloatArray:
    if values is None:
        return np.ones(n_links)
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{argument} must be one number or one per link, above 0.5 and at most 1") from error
    wrong = np.flatnonzero(~((array.ravel() > 0.5) & (array.ravel() <= 1)))
    if len(wrong):
        place = f"{argument}[{wrong[0]}]" if array.ndim else argument
        raise ValueError(
            f"{place} is {array.ravel()[wrong[0]]}, but a confidence is above 0.5 and at most 1 (certain); "
            "a link that is more likely wrong than right belongs among those of the other kind"
        )
    if array.ndim and array.shape != (n_links,):
        raise ValueError(
            f"{argument} has {array.size} values, but there are {n_links} {links}; "
            "give one number, or one per link (must-links first, then cannot-links)"
        )
    return np.broadcast_to(array, (n_links,)).copy()


def merge_links(pairs: IntArray, confidence: FloatArray) -> tuple[IntArray, FloatArray]:
    """Order links, the lower row first; merge equal ones, keeping the highest confidence; drop self-links."""
    low, high = pairs.min(axis=1), pairs.max(axis=1)
    order = np.lexsort((-confidence, high, low))
    order = order[low[order] < high[order]]
    low, high, confidence = low[order], high[order], confidence[order]
    first = np.ones(len(low), dtype=bool)
    first[1:] = (low[1:] != low[:-1]) | (high[1:] != high[:-1])
    return np.column_stack([low[first], high[first]]), confidence[first]


class StatedBlocks(NamedTuple):
    """Block of each row, names of the blocks, number of memberships listed, and of those that name absent rows."""

    codes: IntArray
    names: AnyArray
    n_stated: int = 0
    n_dropped: int = 0


def read_blocks(blocks: Any, n: int, find: FindRows) -> StatedBlocks:
    """Read blocks: a column of names, one per row; or a list (or mapping by name) of lists of rows or ids; or None."""
    if blocks is None:
        return StatedBlocks(*unknown_column(n))
    if isinstance(blocks, Mapping):
        return _listed_blocks(list(blocks), list(blocks.values()), n, find)
    if isinstance(blocks, (list, tuple)) and any(_is_list(block) for block in blocks):
        return _listed_blocks(list(range(len(blocks))), list(blocks), n, find)
    return StatedBlocks(*encode(blocks, "blocks", n))


def _is_list(value: Any) -> bool:
    return isinstance(value, Iterable) and not isinstance(value, (str, bytes))


def _listed_blocks(names: list[Any], blocks: list[Any], n: int, find: FindRows) -> StatedBlocks:
    members = [NO_PAIRS]
    n_stated = n_dropped = 0
    for number, (name, block) in enumerate(zip(names, blocks, strict=True)):
        if not _is_list(block):
            raise ValueError(f"blocks[{name!r}] is {block!r}; give each block as a list of its rows")
        listed = np.asarray(block) if hasattr(block, "__array__") else names_array(list(block))
        rows = find(listed, partial("blocks[{!r}][{}]".format, name))
        present = rows[rows >= 0]
        n_stated += len(rows)
        n_dropped += len(rows) - len(present)
        members.append(np.column_stack([present, np.full(len(present), number)]))
    codes = join_groups(n, np.unique(np.concatenate(members), axis=0), len(names))
    return StatedBlocks(*compress(codes, names_array(names)), n_stated, n_dropped)


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
