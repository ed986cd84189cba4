"""Blocks as users state them become codes."""

from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from sidelight._typing import AnyArray, IntArray
from sidelight.side.closure import NO_PAIRS, join_groups
from sidelight.side.parsing.columns import compress, encode, names_array, unknown_column
from sidelight.side.parsing.rows import FindRows


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
