"""Chunks of a table that is read from front to back, for several threads that ask for them nearly in order."""

import threading
from collections import deque
from collections.abc import Callable, Iterator

import numpy as np

from sidelight._typing import AnyArray
from sidelight.tables.table import CHUNK_ROWS

# Parts that are kept: threads of one pass are not far from each other.
_KEPT = 8


class ForwardReader:
    """Reads forward through a table, and anew from the row that is asked for where that was not read lately.

    Parameters
    ----------
    read_from : callable
        Yields the parts of the table, each with the number of its first row, from the part that has a row on.
    n_rows : int
    """

    def __init__(self, read_from: Callable[[int], Iterator[tuple[int, AnyArray]]], n_rows: int) -> None:
        self._read_from, self._n_rows = read_from, n_rows
        self._reader: Iterator[tuple[int, AnyArray]] = iter(())
        self._kept: deque[tuple[int, AnyArray]] = deque(maxlen=_KEPT)
        self._lock = threading.Lock()
        self._own = threading.local()

    def range(self, start: int, stop: int) -> AnyArray:
        """Return a range of rows; the chunk around it is kept for this thread until it is released."""
        own: tuple[int, AnyArray] | None = getattr(self._own, "chunk", None)
        if own is None or not own[0] <= start <= stop <= own[0] + len(own[1]):
            first = start // CHUNK_ROWS * CHUNK_ROWS
            last = min(max(first + CHUNK_ROWS, stop), self._n_rows)
            with self._lock:
                own = first, self._read(first, last)
            self._own.chunk = own
        return own[1][start - own[0] : stop - own[0]]

    def release(self) -> None:
        """Forget what is kept for this thread."""
        self._own.chunk = None

    def _read(self, start: int, stop: int) -> AnyArray:
        parts: list[AnyArray] = []
        while start < stop:
            first, values = self._batch_with(start)
            parts.append(values[start - first : stop - first])
            start += len(parts[-1])
        return parts[0] if len(parts) == 1 else np.concatenate(parts)

    def _batch_with(self, row: int) -> tuple[int, AnyArray]:
        for start, values in self._kept:
            if start <= row < start + len(values):
                return start, values
        following = self._kept[-1][0] + len(self._kept[-1][1]) if self._kept else None
        if row != following:
            self._reader = self._read_from(row)
            self._kept.clear()
        self._kept.append(next(self._reader))
        return self._kept[-1]
