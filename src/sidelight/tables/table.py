"""What a pass, a start and a result ask of a table, wherever its rows are."""

from typing import Protocol

from sidelight._typing import AnyArray, IntArray

# Rows that one task takes at a time. It depends on nothing, so that sums come out the same for any number of threads.
CHUNK_ROWS = 12 * 768


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

    def chunks(self) -> list[slice]:
        """Return the ranges of rows that tasks take, in order; together they are the whole table."""

    def take(self, rows: slice | IntArray) -> AnyArray:
        """Return some rows of one chunk, or a few scattered ones; a view where that is possible."""

    def gather(self, rows: IntArray) -> AnyArray:
        """Return a copy of rows from all over the table, as floats; CSR of a sparse one."""

    def release(self, chunk: slice) -> None:
        """Say that a chunk is not needed for now, so that its memory can be given back."""


def row_ranges(n_rows: int, size: int) -> list[slice]:
    """Return ranges of at most ``size`` rows that cover all of them."""
    return [slice(start, min(start + size, n_rows)) for start in range(0, n_rows, size)]
