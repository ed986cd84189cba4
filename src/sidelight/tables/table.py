"""What a table is to a pass: rows of numbers, in chunks and blocks, wherever they are; and arrays as tables."""

import mmap
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, Protocol, TypeVar

import numpy as np
from scipy.sparse import issparse

from sidelight._typing import AnyArray, BoolArray, FloatArray, IntArray

# Rows that one task takes at a time. It depends on nothing, so that sums come out the same for any number of threads.
CHUNK_ROWS = 12 * 768

Found = TypeVar("Found")


class Table(Protocol):
    """Rows of numbers: floats with NaN where a cell is missing, or CSR; never a copy of the whole.

    A new source of tables (a folder of files, a cluster) is one new file with a class that has these members.
    """

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and of columns."""

    @property
    def is_sparse(self) -> bool:
        """Whether rows come in CSR form."""

    @property
    def in_memory(self) -> bool:
        """Whether all rows are in memory, so that there is room for results of each row too."""

    def chunks(self) -> list[slice]:
        """Return the ranges of rows that tasks take, in order; together they are the whole table."""

    def take(self, rows: slice | IntArray) -> AnyArray:
        """Return some rows of one chunk, or a few scattered ones; a view where that is possible."""

    def gather(self, rows: IntArray) -> AnyArray:
        """Return a copy of rows from all over the table, as floats; CSR of a sparse one."""

    def release(self, chunk: slice) -> None:
        """Say that a chunk is not needed for now, so that its memory can be given back."""

    def hold(self, rows: IntArray) -> None:
        """Have scattered rows at hand: every pass will take them, and fetching them anew may be a pass by itself."""

    def mapped(self, change: Callable[[AnyArray], AnyArray]) -> "Table":
        """Return the table whose rows are what ``change`` makes of some rows at a time, (m, d) to (m, d)."""

    def place(self, row: int) -> str:
        """Say where a row stands: its number, and the file or partition that has it."""

    def map_parts(self, rows: "Rows", work: Callable[["Rows"], Found]) -> Iterator[tuple[int, Found]]:
        """Work on the parts of ``rows``, which are of this table, where they are, in order.

        Yields the number of a part's first row, and what was found; rows of a part are numbered from 0.
        """


def row_ranges(n_rows: int, size: int) -> list[slice]:
    """Return ranges of at most ``size`` rows that cover all of them."""
    return [slice(start, min(start + size, n_rows)) for start in range(0, n_rows, size)]


class Block(NamedTuple):
    """Some rows: their numbers, values, weights and label codes (None where no row of the table has a label)."""

    numbers: slice | IntArray
    values: AnyArray
    weights: FloatArray
    codes: IntArray | None

    def number(self, place: int) -> int:
        """Return the number of the row at a place of the block."""
        return self.numbers.start + place if isinstance(self.numbers, slice) else int(self.numbers[place])


@dataclass(frozen=True, eq=False)
class Rows:
    """A table with row weights and label codes, read in blocks.

    Parameters
    ----------
    table : Table
    weights : (n,), optional
        All one where absent.
    codes : (n,), optional
        The label code of each row, -1 where it has none.
    left_out : (n,), optional
        True where a row does not take part in the pass: a coupling takes it.
    """

    table: Table
    weights: FloatArray | None = None
    codes: IntArray | None = None
    left_out: BoolArray | None = None

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows, also of those left out, and of columns."""
        return self.table.shape

    def chunks(self) -> list[slice]:
        """Return the ranges of rows that tasks take."""
        return self.table.chunks()

    def map_parts(self, work: Callable[["Rows"], Found]) -> Iterator[tuple[int, Found]]:
        """Work on the parts of the table where they are; see :meth:`Table.map_parts`."""
        return self.table.map_parts(self, work)

    def part(self, table: Table, numbers: slice) -> "Rows":
        """Return a range of rows as rows of their own, which ``table`` holds."""
        return Rows(
            table,
            None if self.weights is None else self.weights[numbers],
            None if self.codes is None else self.codes[numbers],
            None if self.left_out is None else self.left_out[numbers],
        )

    def whole(self, chunk: slice) -> Block:
        """Return a chunk as one block, without the rows left out."""
        numbers = self.numbers(chunk)
        values = self.table.take(numbers)
        weights = np.ones(values.shape[0]) if self.weights is None else self.weights[numbers]
        return Block(numbers, values, weights, None if self.codes is None else self.codes[numbers])

    def blocks(self, chunk: slice, block_rows: int) -> Iterator[Block]:
        """Yield the rows of a chunk, ``block_rows`` at a time, without those left out."""
        ones = np.ones(block_rows)
        for start in range(chunk.start, chunk.stop, block_rows):
            numbers = self.numbers(slice(start, min(start + block_rows, chunk.stop)))
            values = self.table.take(numbers)
            n = values.shape[0]
            if n:
                weights = ones[:n] if self.weights is None else self.weights[numbers]
                codes = None if self.codes is None else self.codes[numbers]
                yield Block(numbers, values, weights, codes)
        self.table.release(chunk)

    def total_weight(self) -> float:
        """Return how many rows those that take part count for."""
        kept = slice(None) if self.left_out is None else ~self.left_out
        weights = np.ones(self.shape[0]) if self.weights is None else self.weights
        return float(weights[kept].sum())

    def numbers(self, part: slice) -> slice | IntArray:
        """Return the numbers of the rows of a range that take part."""
        if self.left_out is None or not self.left_out[part].any():
            return part
        return part.start + np.flatnonzero(~self.left_out[part])


_SCATTERED_ROWS = 256


@dataclass(frozen=True, eq=False)
class ArrayTable:
    """An array of numbers, read in chunks.

    Parameters
    ----------
    array : (n, d)
        In memory, CSR, or memory-mapped: a mapped one is read through and given back to the system as a pass goes on.
    """

    array: AnyArray

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and of columns."""
        n, d = self.array.shape
        return int(n), int(d)

    @property
    def is_sparse(self) -> bool:
        """Whether rows come in CSR form."""
        return bool(issparse(self.array))

    @property
    def in_memory(self) -> bool:
        """Whether the array is not mapped."""
        return self._mapped is None

    def chunks(self) -> list[slice]:
        """Return the ranges of rows that tasks take."""
        return row_ranges(self.array.shape[0], CHUNK_ROWS)

    def take(self, rows: slice | IntArray) -> AnyArray:
        """Return some rows; a view where they are a range."""
        if isinstance(rows, slice) or not isinstance(self.array, np.ndarray):
            return self.array[rows]
        # Three times as quick as an index.
        return self.array.take(rows, axis=0)

    def gather(self, rows: IntArray) -> AnyArray:
        """Return a copy of some rows.

        Reading a scattered row of a mapped table brings its neighbours in, so their pages are given back on the way.
        """
        if self.is_sparse:
            return self.array[rows]
        if self.in_memory:
            return self.take(rows).astype(float, copy=False)
        gathered = np.empty((len(rows), self.array.shape[1]))
        for part in row_ranges(len(rows), _SCATTERED_ROWS):
            gathered[part] = self.array[rows[part]]
            self.release(slice(0, self.array.shape[0]))
        return gathered

    def hold(self, rows: IntArray) -> None:
        """Do nothing: all rows are at hand."""

    def mapped(self, change: Callable[[AnyArray], AnyArray]) -> "ArrayTable":
        """Return what becomes of the rows: a copy in memory."""
        return ArrayTable(np.concatenate([change(self.take(chunk)) for chunk in self.chunks()]))

    def place(self, row: int) -> str:
        """Say where a row stands."""
        return f"row {row}"

    def map_parts(self, rows: Rows, work: Callable[[Rows], Found]) -> Iterator[tuple[int, Found]]:
        """Work on the table, which has one part."""
        yield 0, work(rows)

    @cached_property
    def _mapped(self) -> tuple[mmap.mmap, int] | None:
        """The map behind the table and where the table starts in it; None for a table in memory."""
        if not isinstance(self.array, np.ndarray) or not self.array.flags.c_contiguous:
            return None
        owner = self.array
        while isinstance(owner.base, np.ndarray):
            owner = owner.base
        # A copy-on-write map keeps changes only in the pages that would be given back.
        if not isinstance(owner, np.memmap) or owner.mode == "c" or not isinstance(owner.base, mmap.mmap):
            return None
        offset = self.array.__array_interface__["data"][0] - owner.__array_interface__["data"][0]
        return owner.base, offset + owner.offset % mmap.ALLOCATIONGRANULARITY

    def release(self, chunk: slice) -> None:
        """Give the pages of a mapped chunk back, so that a table larger than memory does not fill it."""
        if self._mapped is None or not hasattr(mmap, "MADV_DONTNEED"):
            return
        pages, offset = self._mapped
        row_bytes = self.array.strides[0]
        first = (offset + chunk.start * row_bytes) // mmap.PAGESIZE * mmap.PAGESIZE
        last = (offset + chunk.stop * row_bytes) // mmap.PAGESIZE * mmap.PAGESIZE
        if last > first:
            pages.madvise(mmap.MADV_DONTNEED, first, last - first)
