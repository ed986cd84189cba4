"""The table as a pass sees it: blocks of rows with their weights and labels."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from sidelight._typing import AnyArray, BoolArray, FloatArray, IntArray
from sidelight.tables.table import Table


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
