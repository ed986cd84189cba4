"""Evaluators of families whose columns are independent, so that a missing cell (NaN) just leaves its term out."""

from collections.abc import Callable

import numpy as np

from sidelight._typing import AnyArray, BoolArray, FloatArray
from sidelight.families.evaluators.evaluator import Scorer, Statistics
from sidelight.families.exponential import LinearEvaluator
from sidelight.kernels.loops import front, has_missing, rows_per_block


def cell_evaluator(
    fill: Callable[[FloatArray, FloatArray], None],
    constants: FloatArray,
    coefficients: FloatArray,
    collect: Callable[[FloatArray, FloatArray, FloatArray], Statistics],
    neutral: FloatArray | None = None,
    centre: FloatArray | None = None,
) -> LinearEvaluator[Statistics]:
    """Return an evaluator of Σ_j (c_j + terms linear in features of x_j) over the observed cells of a row.

    The features are [1, those that ``fill`` writes, 1 where a cell is missing]; the last ones, which take the
    constants of the missing cells back, are used only in blocks that have such cells.

    Parameters
    ----------
    fill : callable
        ``fill(cells, out)`` writes the features of cells (columns, rows).
    constants : (components, columns)
        The term of an observed cell whose features are zero.
    coefficients : (components, features)
        Of the features that ``fill`` writes.
    collect : callable
        ``collect(mass, cells, sums)`` makes statistics of the responsibilities summed over rows (components,) and over
        observed cells (components, columns), and of the weighted sums of features.
    neutral : (columns,), optional
        The value that stands for a missing cell, so that its features are zero: 0 where not given.
    centre : (columns,), optional
        Given where ``fill`` writes x_i and x_i² measured from it: the log densities of complete rows are a quadratic
        form then.
    """
    n_complete = 1 + coefficients.shape[1]
    all_coefficients = np.concatenate([constants.sum(axis=1)[:, None], coefficients, -constants], axis=1)
    substitutes = np.zeros((constants.shape[1], 1)) if neutral is None else neutral[:, None]

    def fill_all(block: AnyArray, out: FloatArray) -> None:
        out[0] = 1.0
        cells = block.T
        if len(out) > n_complete:
            missing = np.isnan(cells)
            out[n_complete:] = missing
            cells = np.where(missing, substitutes, cells)
        fill(cells, out[1:n_complete])

    def collect_all(sums: FloatArray) -> Statistics:
        mass = sums[:, 0]
        # Rounding may leave a little less than nothing where all cells are missing.
        cells = np.maximum(mass[:, None] - sums[:, n_complete:], 0.0)
        return collect(mass, cells, sums[:, 1:n_complete])

    return LinearEvaluator(fill_all, all_coefficients, collect_all, n_complete, centre)


class CellwisePredictive(Scorer):
    """Predictive log densities that are sums over observed cells of a function of component, column and cell.

    ``log_density(component, cells)`` returns the terms of cells (rows, columns) without NaN.
    """

    def __init__(self, log_density: Callable[[int, FloatArray], FloatArray], n_components: int, n_columns: int) -> None:
        self.n_components = n_components
        self.block_rows = rows_per_block(n_components + 4 * n_columns)
        self._log_density = log_density
        self._score_buffer = np.empty(n_components * self.block_rows)
        self._missing: BoolArray | None = None
        self._cells = np.empty((0, n_columns))

    def load(self, block: AnyArray) -> None:
        """Take a block of rows."""
        self._missing = np.isnan(block) if has_missing(block) else None
        self._cells = np.asarray(block, dtype=float) if self._missing is None else np.where(self._missing, 0.0, block)

    def log_likelihood(self) -> FloatArray:
        """Return the log densities (components, rows) of the block, in a buffer that the next call overwrites."""
        scores = front(self._score_buffer, self.n_components, len(self._cells))
        for k in range(self.n_components):
            terms = self._log_density(k, self._cells)
            if self._missing is not None:
                terms[self._missing] = 0.0
            terms.sum(axis=1, out=scores[k])
        return scores
