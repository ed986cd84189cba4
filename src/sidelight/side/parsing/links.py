"""Links as users state them become pairs of row numbers."""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np

from sidelight._typing import AnyArray, BoolArray, FloatArray, IntArray
from sidelight.side.closure import NO_PAIRS
from sidelight.side.parsing.columns import names_array
from sidelight.side.parsing.rows import FindRows


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
