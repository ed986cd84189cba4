"""The table as the pass sees it: blocks of rows, never a copy of the whole."""

import mmap
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from sidelight._typing import AnyArray, BoolArray, FloatArray, IntArray

# Rows that one task takes at a time. It depends on nothing, so that sums come out the same for any number of threads.
CHUNK_ROWS = 12 * 768
_SCATTERED_ROWS = 256


def take_rows(X: AnyArray, numbers: slice | IntArray) -> AnyArray:
    """Return some rows of a table, which may be sparse."""
    if isinstance(numbers, slice) or not isinstance(X, np.ndarray):
        return X[numbers]
    # Three times as quick as an index.
    return X.take(numbers, axis=0)


class Block(NamedTuple):
    """Some rows: their numbers, values, weights, and what is known of them (None: nothing of any)."""

    numbers: slice | IntArray
    values: AnyArray
    weights: FloatArray
    codes: IntArray | None


@dataclass(frozen=True, eq=False)
class Rows:
    """A table with row weights and codes, read in blocks.

    Parameters
    ----------
    X : (n, d)
        In memory or memory-mapped; a mapped table is read through and given back to the system as the pass goes on.
    weights : (n,), optional
        All one where absent.
    codes : (n,), optional
        What is known of each row by itself, -1 for nothing.
    left_out : (n,), optional
        True where a row is not part of the pass (rows that a joint coupling takes).
    """

    X: AnyArray
    weights: FloatArray | None = None
    codes: IntArray | None = None
    left_out: BoolArray | None = None

    def chunks(self) -> list[slice]:
        """Return the ranges of rows that tasks take."""
        n = self.X.shape[0]
        return [slice(start, min(start + CHUNK_ROWS, n)) for start in range(0, n, CHUNK_ROWS)]

    def whole(self, chunk: slice) -> Block:
        """Return a chunk as one block, without the rows left out."""
        numbers = self._kept(chunk)
        values = take_rows(self.X, numbers)
        weights = np.ones(values.shape[0]) if self.weights is None else self.weights[numbers]
        return Block(numbers, values, weights, None if self.codes is None else self.codes[numbers])

    def blocks(self, chunk: slice, block_rows: int) -> Iterator[Block]:
        """Yield the rows of a chunk, ``block_rows`` at a time, without those left out."""
        ones = np.ones(block_rows)
        for start in range(chunk.start, chunk.stop, block_rows):
            numbers = self._kept(slice(start, min(start + block_rows, chunk.stop)))
            values = take_rows(self.X, numbers)
            n = values.shape[0]
            if n:
                weights = ones[:n] if self.weights is None else self.weights[numbers]
                codes = None if self.codes is None else self.codes[numbers]
                yield Block(numbers, values, weights, codes)
        self.release(chunk)

    def _kept(self, part: slice) -> slice | IntArray:
        if self.left_out is None or not self.left_out[part].any():
            return part
        return part.start + np.flatnonzero(~self.left_out[part])

    def gather(self, numbers: IntArray) -> FloatArray:
        """Return a copy of some rows.

        Reading a scattered row of a mapped table brings its neighbours in, so their pages are given back on the way.
        """
        gathered = np.empty((len(numbers), self.X.shape[1]))
        for start in range(0, len(numbers), _SCATTERED_ROWS):
            part = slice(start, start + _SCATTERED_ROWS)
            gathered[part] = self.X[numbers[part]]
            self.release(slice(0, self.X.shape[0]))
        return gathered

    @cached_property
    def _mapped(self) -> tuple[mmap.mmap, int] | None:
        """The map behind the table and where the table starts in it; None for a table in memory."""
        if not isinstance(self.X, np.ndarray) or not self.X.flags.c_contiguous:
            return None
        owner = self.X
        while isinstance(owner.base, np.ndarray):
            owner = owner.base
        # A copy-on-write map keeps changes only in the pages that would be given back.
        if not isinstance(owner, np.memmap) or owner.mode == "c" or not isinstance(owner.base, mmap.mmap):
            return None
        offset = self.X.__array_interface__["data"][0] - owner.__array_interface__["data"][0]
        return owner.base, offset + owner.offset % mmap.ALLOCATIONGRANULARITY

    def release(self, chunk: slice) -> None:
        """Give the pages of a mapped chunk back, so that a table larger than memory does not fill it."""
        if self._mapped is None or not hasattr(mmap, "MADV_DONTNEED"):
            return
        pages, offset = self._mapped
        row_bytes = self.X.strides[0]
        first = (offset + chunk.start * row_bytes) // mmap.PAGESIZE * mmap.PAGESIZE
        last = (offset + chunk.stop * row_bytes) // mmap.PAGESIZE * mmap.PAGESIZE
        if last > first:
            pages.madvise(mmap.MADV_DONTNEED, first, last - first)
