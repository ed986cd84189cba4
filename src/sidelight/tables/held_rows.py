"""Scattered rows of a table that is elsewhere, in memory."""

import numpy as np

from sidelight._typing import AnyArray, IntArray


class HeldRows:
    """Rows in memory, by their numbers."""

    def __init__(self) -> None:
        self._numbers = np.empty(0, dtype=np.int64)
        self._values: AnyArray = np.empty((0, 0))

    def missing(self, rows: IntArray) -> IntArray:
        """Return the numbers of rows that are not held."""
        return np.setdiff1d(rows, self._numbers)

    def add(self, numbers: IntArray, values: AnyArray) -> None:
        """Hold further rows."""
        joined = np.concatenate([self._numbers, numbers])
        order = np.argsort(joined)
        self._values = np.concatenate([self._values, values])[order] if len(self._numbers) else values[order]
        self._numbers = joined[order]

    def find(self, rows: IntArray) -> AnyArray | None:
        """Return rows, None where not all of them are held."""
        if not len(self._numbers) or not len(rows):
            return None
        places = np.searchsorted(self._numbers, rows[:1])
        if places[0] == len(self._numbers) or self._numbers[places[0]] != rows[0]:
            return None
        places = np.minimum(np.searchsorted(self._numbers, rows), len(self._numbers) - 1)
        return self._values.take(places, axis=0) if np.array_equal(self._numbers[places], rows) else None
