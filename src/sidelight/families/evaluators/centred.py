"""Evaluators that measure every row from each component's own mean.

They take a pass per component instead of one matrix product, and stay exact where the linear form loses its digits
(tight components far from each other, covariances near singular) or where its features would be too many.
"""

from abc import abstractmethod
from collections.abc import Callable

import numpy as np
from scipy.linalg import blas

from sidelight._typing import AnyArray, BoolArray, FloatArray, IntArray
from sidelight.families.evaluators.evaluator import Evaluator
from sidelight.families.exponential import GaussianStatistics, SquareStatistics
from sidelight.kernels.loops import front, has_missing

# Rows that have less of a component than this fraction of the largest share in their block are not summed up for it.
# All of them together are less than the rounding of that share: a block has about 1000 rows.
_NEGLIGIBLE = 1e-20

_Reduce = Callable[[FloatArray], FloatArray]


class _CentredEvaluator(Evaluator[GaussianStatistics]):
    """The loop over components and the buffers that the evaluators share.

    ``constants`` (components,) are log densities at the ``means`` (components, d); ``reduce`` makes the part of the
    second moments that the family keeps.
    """

    # Many rows at a time: each component takes several calls for a block.
    block_rows = 1152

    def __init__(self, means: FloatArray, constants: FloatArray, reduce: _Reduce) -> None:
        self.n_components, d = means.shape
        self._means = means
        self._constants = constants
        self._reduce = reduce
        self._differences = np.empty((self.block_rows, d))
        self._score_buffer = np.empty(self.n_components * self.block_rows)
        self._block: AnyArray = np.empty((0, d))
        self._start()

    def _start(self) -> None:
        self._mass = np.zeros(self.n_components)
        self._first = np.zeros_like(self._means)

    def _measure(self, component: int, out: FloatArray) -> None:
        """Write the differences of the block from a component's mean."""
        np.subtract(self._block, self._means[component], out=out)

    def _measure_some(self, component: int, rows: IntArray, out: FloatArray) -> None:
        """Write the differences of some rows of the block from a component's mean."""
        np.subtract(self._block[rows], self._means[component], out=out)

    @abstractmethod
    def _whiten(self, component: int, differences: FloatArray) -> None:
        """Turn differences from the mean into uncorrelated ones of unit variance, in place."""

    @abstractmethod
    def _add_second(self, component: int, weights: FloatArray, differences: FloatArray) -> None:
        """Add the weighted second moments of the differences, which may be overwritten."""

    @abstractmethod
    def _second_moments(self) -> FloatArray:
        """Return the second moments of all components."""

    def load(self, block: AnyArray) -> None:
        """Take a block of rows."""
        self._block = block

    def log_likelihood(self) -> FloatArray:
        """Return the log densities (components, rows) of the block, in a buffer that the next call overwrites."""
        differences = self._differences[: len(self._block)]
        scores = front(self._score_buffer, self.n_components, len(self._block))
        for k in range(self.n_components):
            self._measure(k, differences)
            self._whiten(k, differences)
            np.einsum("nd,nd->n", differences, differences, out=scores[k])
        scores *= -0.5
        scores += self._constants[:, None]
        return scores

    def accumulate(self, responsibilities: FloatArray) -> None:
        """Add the statistics of the block, weighted by responsibilities (components, rows)."""
        self._mass += responsibilities.sum(axis=1)
        # In many dimensions nearly all rows belong to one component, as far as floats can tell.
        counted = responsibilities > _NEGLIGIBLE * responsibilities.max(axis=1, keepdims=True, initial=0.0)
        for k, weights in enumerate(responsibilities):
            rows = np.flatnonzero(counted[k])
            differences = self._differences[: len(rows)]
            if len(rows) < len(self._block):
                self._measure_some(k, rows, differences)
                weights = weights[rows]
            else:
                self._measure(k, differences)
            self._first[k] += weights @ differences
            self._add_second(k, weights, differences)

    def statistics(self) -> GaussianStatistics:
        """Return the statistics accumulated since the last call, and start anew."""
        second = self._reduce(self._second_moments())
        collected = GaussianStatistics(self._mass, self._first, second, self._means)
        self._start()
        return collected


class TriangularEvaluator(_CentredEvaluator):
    """Densities by the triangular factor of each precision (BLAS trmm), scatter by symmetric updates (syrk).

    ``factors`` (components, d, d) are lower triangular C with CᵀC = Σ⁻¹; both routines take half the operations of a
    plain matrix product.
    """

    def __init__(
        self, means: FloatArray, factors: FloatArray, constants: FloatArray, reduce: _Reduce = np.asarray
    ) -> None:
        self._factors = [np.asfortranarray(factor) for factor in factors]
        super().__init__(means, constants, reduce)

    def _start(self) -> None:
        super()._start()
        d = self._means.shape[1]
        self._second = [np.zeros((d, d), order="F") for _ in self._means]

    def _whiten(self, component: int, differences: FloatArray) -> None:
        blas.dtrmm(1.0, self._factors[component], differences.T, lower=1, overwrite_b=1)

    def _add_second(self, component: int, weights: FloatArray, differences: FloatArray) -> None:
        differences *= np.sqrt(weights)[:, None]
        blas.dsyrk(1.0, differences.T, beta=1.0, c=self._second[component], overwrite_c=1)

    def _second_moments(self) -> FloatArray:
        upper = np.stack(self._second)  # syrk fills only the upper triangle
        return upper + np.triu(upper, 1).swapaxes(1, 2)


class ScaledEvaluator(_CentredEvaluator):
    """Densities and squares of axis-parallel Gaussians; ``scales`` (components, d) are roots of the precisions."""

    def __init__(
        self, means: FloatArray, scales: FloatArray, constants: FloatArray, reduce: _Reduce = np.asarray
    ) -> None:
        self._scales = scales
        super().__init__(means, constants, reduce)

    def _start(self) -> None:
        super()._start()
        self._second = np.zeros_like(self._means)

    def _whiten(self, component: int, differences: FloatArray) -> None:
        differences *= self._scales[component]

    def _add_second(self, component: int, weights: FloatArray, differences: FloatArray) -> None:
        np.square(differences, out=differences)
        self._second[component] += weights @ differences

    def _second_moments(self) -> FloatArray:
        return self._second


class ScaledCellEvaluator(Evaluator[SquareStatistics]):
    """Scores Σ_j c_j − ½ s_j² (x_j − m_j)² over the observed cells, and their squares about each mean.

    ``means``, ``scales`` and ``constants`` (components, d) are m, s and c.
    """

    block_rows = ScaledEvaluator.block_rows

    def __init__(self, means: FloatArray, scales: FloatArray, constants: FloatArray) -> None:
        self.n_components = len(means)
        self._cells = _ObservedCells(means, scales, constants.sum(axis=1))
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

    def statistics(self) -> SquareStatistics:
        """Return the statistics accumulated since the last call, and start anew."""
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

    def _measure_some(self, component: int, rows: IntArray, out: FloatArray) -> None:
        super()._measure_some(component, rows, out)
        if self._missing is not None:
            out[self._missing[rows]] = 0.0
