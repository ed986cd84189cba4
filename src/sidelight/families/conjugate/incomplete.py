"""Blocks in which some rows are whole and some lack cells: each kind has an evaluator of its own."""

from typing import Any

import numpy as np

from sidelight._typing import AnyArray, FloatArray, IntArray
from sidelight.families.conjugate.missing import has_missing
from sidelight.kernels.loops import front


class IncompleteEvaluator:
    """Take whole rows to a quick evaluator and the others to one that can do without some cells.

    Parameters
    ----------
    whole : evaluator
        For rows without NaN; also sweeps where there is none at all.
    partial : evaluator
        For the other rows; its statistics are added to those of ``whole``.
    """

    def __init__(self, whole: Any, partial: Any) -> None:
        self.n_components: int = whole.n_components
        self.block_rows: int = min(whole.block_rows, partial.block_rows)
        self._whole = whole
        self._partial = partial
        self._score_buffer = np.empty(self.n_components * self.block_rows)
        self._complete: IntArray | None = None
        self._incomplete = np.empty(0, dtype=np.int64)

    def load(self, block: AnyArray) -> None:
        """Take a block of rows."""
        if not has_missing(block):
            self._complete = None
            self._whole.load(block)
            return
        missing = np.isnan(block).any(axis=1)
        self._complete, self._incomplete = np.flatnonzero(~missing), np.flatnonzero(missing)
        self._whole.load(block[self._complete])
        self._partial.load(block[self._incomplete])

    def log_likelihood(self) -> FloatArray:
        """Return the scores (components, rows) of the block, in a buffer that the next call overwrites."""
        if self._complete is None:
            return self._whole.log_likelihood()
        n_rows = len(self._complete) + len(self._incomplete)
        scores = front(self._score_buffer, self.n_components, n_rows)
        scores[:, self._complete] = self._whole.log_likelihood()
        scores[:, self._incomplete] = self._partial.log_likelihood()
        return scores

    def accumulate(self, responsibilities: FloatArray) -> None:
        """Add the statistics of the block, weighted by responsibilities (components, rows)."""
        if self._complete is None:
            self._whole.accumulate(responsibilities)
            return
        self._whole.accumulate(responsibilities[:, self._complete])
        self._partial.accumulate(responsibilities[:, self._incomplete])

    def sweep_softly(self, rows: AnyArray, *arguments: Any) -> float | None:
        """Accumulate rows that choose softly and by themselves, where none of them lacks a cell; else None."""
        return None if has_missing(rows) else self._whole.sweep_softly(rows, *arguments)

    def statistics(self) -> Any:
        """Return what was accumulated since the last call, and start anew."""
        return self._whole.statistics() + self._partial.statistics()
