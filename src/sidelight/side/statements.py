"""Read links, blocks and confidences as users state them."""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sidelight.side.bonds import IntArray, join_groups
from sidelight.side.reading import AnyArray, Encoded, encode, resolve, tidy

FloatArray = NDArray[np.float64]


class StatedLinks(NamedTuple):
    """Links in the order given, as row numbers; ``present`` tells where both ends are among the rows."""

    pairs: IntArray
    present: NDArray[np.bool_]


class StatedBlocks(NamedTuple):
    """Block of each row, names of the blocks, and the number of memberships of absent ids."""

    codes: IntArray
    names: AnyArray
    n_stated: int
    n_dropped: int


def read_links(links: Any, argument: str, n: int, ids: AnyArray | None) -> StatedLinks:
    """Read pairs of row numbers or ids from a list of pairs, an (m, 2) array or a two-column table."""
    table = _pair_table(links, argument)
    pairs = resolve(table, lambda flat: f"{argument}[{flat // 2}]", n, ids)
    return StatedLinks(pairs, np.all(pairs >= 0, axis=1))


def _pair_table(links: Any, argument: str) -> AnyArray:
    if links is None:
        return np.empty((0, 2), dtype=np.int64)
    if isinstance(links, (str, bytes, Mapping)) or not isinstance(links, Iterable):
        raise ValueError(  # noqa: TRY004  (as scikit-learn does for malformed input)
            f"{argument} must be a list of pairs or an (m, 2) array, not {type(links).__name__}"
        )
    if hasattr(links, "__array__"):
        table = np.asarray(links)
        if table.size == 0:
            return np.empty((0, 2), dtype=np.int64)
        if table.ndim != 2 or table.shape[1] != 2:
            raise ValueError(f"{argument} has shape {table.shape}; give two columns, one row per pair")
        return table
    return _table_of_list(list(links), argument)


def _table_of_list(pairs: list[Any], argument: str) -> AnyArray:
    if not pairs:
        return np.empty((0, 2), dtype=np.int64)
    try:
        table = np.asarray(pairs)
    except ValueError:  # of several lengths; the loop finds the first that is no pair
        table = np.empty(0)
    if table.dtype.kind in "iu" and table.shape == (len(pairs), 2):
        return table
    for position, pair in enumerate(pairs):
        if isinstance(pair, (str, bytes)) or not hasattr(pair, "__len__") or len(pair) != 2:
            raise ValueError(
                f"{argument}[{position}] is {pair!r}, which is no pair; give a list of pairs such as [(0, 4)]"
            )
    # End by end, as NumPy would write ("a", 1) as two strings.
    return tidy([end for pair in pairs for end in pair]).reshape(-1, 2)


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
        must = _confidences(confidence.get("must_link"), n_must, "confidence['must_link']", "must-links")
        cannot = _confidences(confidence.get("cannot_link"), n_cannot, "confidence['cannot_link']", "cannot-links")
        return must, cannot
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


def read_blocks(blocks: Any, n: int, ids: AnyArray | None) -> StatedBlocks:
    """Read blocks: a column of names, one per row; or a list (or mapping by name) of lists of rows or ids."""
    if blocks is None:
        return StatedBlocks(np.full(n, -1, dtype=np.int64), np.empty(0, dtype=np.int64), 0, 0)
    if isinstance(blocks, Mapping):
        return _listed_blocks(list(blocks), list(blocks.values()), [repr(name) for name in blocks], n, ids)
    if isinstance(blocks, (list, tuple)) and any(_is_list(block) for block in blocks):
        numbers = list(range(len(blocks)))
        return _listed_blocks(numbers, list(blocks), [str(number) for number in numbers], n, ids)
    codes, names = encode(blocks, "blocks", n)
    return StatedBlocks(codes, names, 0, 0)


def _is_list(value: Any) -> bool:
    return isinstance(value, Iterable) and not isinstance(value, (str, bytes))


def _listed_blocks(names: list[Any], blocks: list[Any], keys: list[str], n: int, ids: AnyArray | None) -> StatedBlocks:
    members = [np.empty((0, 2), dtype=np.int64)]
    n_stated = n_dropped = 0
    for number, (key, block) in enumerate(zip(keys, blocks, strict=True)):
        if not _is_list(block):
            raise ValueError(f"blocks[{key}] is {block!r}; give each block as a list of its rows")
        ends = np.asarray(block) if hasattr(block, "__array__") else tidy(list(block))
        rows = resolve(ends, lambda place, key=key: f"blocks[{key}][{place}]", n, ids)  # type: ignore[misc]
        present = rows[rows >= 0]
        n_stated += len(rows)
        n_dropped += len(rows) - len(present)
        members.append(np.column_stack([present, np.full(len(present), number)]))
    codes = join_groups(n, np.unique(np.concatenate(members), axis=0), len(names))
    return StatedBlocks(*compress(codes, tidy(names)), n_stated, n_dropped)


def compress(codes: IntArray, names: AnyArray) -> Encoded:
    """Leave out the names that no code uses."""
    used, inverse = np.unique(codes[codes >= 0], return_inverse=True)
    compressed = np.full(len(codes), -1, dtype=np.int64)
    compressed[codes >= 0] = inverse
    return Encoded(compressed, names[used])


def merge_links(pairs: IntArray, confidence: FloatArray) -> tuple[IntArray, FloatArray]:
    """Order links, the lower row first; merge equal ones, keeping the highest confidence; drop self-links."""
    low, high = pairs.min(axis=1), pairs.max(axis=1)
    order = np.lexsort((-confidence, high, low))
    order = order[low[order] < high[order]]
    low, high, confidence = low[order], high[order], confidence[order]
    first = np.ones(len(low), dtype=bool)
    first[1:] = (low[1:] != low[:-1]) | (high[1:] != high[:-1])
    return np.column_stack([low[first], high[first]]), confidence[first]
