"""Axis-parallel Gaussian scores that measure every row from each component's own mean and leave missing cells out."""

import numpy as np

from sidelight._typing import AnyArray, BoolArray, FloatArray
from sidelight.families.conjugate.missing import has_missing
from sidelight.families.conjugate.statistics import SquareStatistics
from sidelight.families.gaussian.centred import ScaledEvaluator


class ScaledCellEvaluator:
    """Scores Σ_j c_j − ½ s_j² (x_j − m_j)² over the observed cells, and their squares about each mean.

    Parameters
    ----------
    means, scales, constants : (components, d)
        m, s and c.
    """

    block_rows = ScaledEvaluator.block_rows

    def __init__(self, means: FloatArray, scales: FloatArray, constants: FloatArray) -> None:
        self.n_components = len(means)
        self._cells = _ObservedCells(means, scales, constants=constants.sum(axis=1))
        self._constants = constants
        self._means = means
        self._missing: FloatArray | None = None
        self._lost = np.zeros_like(means)

    def load(self, block: AnyArray) -> None:
        """Take a block of rows."""
        missing = np.isnan(block) if has_missing(block) else None
        self._missing = None if missing is None else missing.astype(float)
        self._cells.load_observed(block, missing)

    def log_likelihood(self) -> FloatArray:
        """Return the scores (components, rows) of the block, in a buffer that the next call overwrites."""
        scores = self._cells.log_likelihood()
        if self._missing is not None:
            scores -= self._constants @ self._missing.T
        return scores

    def accumulate(self, responsibilities: FloatArray) -> None:
        """Add the statistics of the block, weighted by responsibilities (components, rows)."""
        self._cells.accumulate(responsibilities)
        if self._missing is not None:
            self._lost += responsibilities @ self._missing

    def sweep_softly(self, *_: object) -> None:
        """Say that there is no quicker way than block by block."""
        return None  # noqa: RET501  (the answer, not the lack of one)

    def statistics(self) -> SquareStatistics:
        """Return what was accumulated since the last call, and start anew."""
        whole, lost = self._cells.statistics(), self._lost
        self._lost = np.zeros_like(lost)
        # Rounding may leave a little less than nothing where all cells are missing.
        cells = np.maximum(whole.mass[:, None] - lost, 0.0)
        return SquareStatistics(whole.mass, cells, whole.first, whole.second, self._means)


class _ObservedCells(ScaledEvaluator):
    """Take a missing cell for the component's mean, so that it lies nowhere away from it."""

    _missing: BoolArray | None = None

    def load_observed(self, block: AnyArray, missing: BoolArray | None) -> None:
        """Take a block of rows of which some cells are missing."""
        self.load(block)
        self._missing = missing

    def _measure(self, component: int, out: FloatArray) -> None:
        super()._measure(component, out)
        if self._missing is not None:
            out[self._missing] = 0.0
