"""Evaluate any family whose log density is linear in features of the row: an exponential family.

For a block of rows with features F (features, rows) and coefficients W (components, features), the log densities
are ``W @ F`` and the sufficient statistics ``F @ R.T``: two matrix products on one block while it is in the cache.
"""

from collections.abc import Callable
from typing import Generic, TypeVar

import numpy as np

from sidelight._typing import AnyArray, FloatArray, IntArray
from sidelight.kernels.loops import Links, front, rows_per_block

Statistics = TypeVar("Statistics")

# Without returning to Python after each, smaller blocks that stay in the cache are quickest.
_SWEPT_ROWS = 384


class LinearEvaluator(Generic[Statistics]):
    """Log densities and sufficient statistics of blocks of rows, at fixed parameters, in buffers of its own.

    Parameters
    ----------
    fill : callable
        ``fill(block, out)`` writes the features of a block of rows into ``out`` (features, rows).
    coefficients : (components, features)
        What the features are multiplied with to give log densities.
    collect : callable
        Turns the accumulated (components, features) sums into the family's statistics.
    sweep : callable, optional
        ``sweep(rows, coefficients, offsets, codes, classes, weights, links, block_rows, sums)`` takes many rows
        through the whole of a soft E-step at once; see :func:`sidelight.kernels.compiled.quadratic_sweep` and
        :func:`sidelight.kernels.compiled.linked_sweep`.
    count : callable, optional
        ``count(block)`` says how many of the features the block needs, where the last ones are often all zero; only
        these are filled and multiplied. All of them where not given.
    """

    def __init__(
        self,
        fill: Callable[[AnyArray, FloatArray], None],
        coefficients: FloatArray,
        collect: Callable[[FloatArray], Statistics],
        sweep: Callable[..., float] | None = None,
        count: Callable[[AnyArray], int] | None = None,
    ) -> None:
        n_components, n_features = coefficients.shape
        self.n_components = n_components
        self.block_rows = rows_per_block(n_components + n_features)
        self._fill = fill
        # A multiple of four components makes the first product a tenth quicker in OpenBLAS.
        padding = -n_components % 4
        self._coefficients = np.concatenate([coefficients, np.zeros((padding, n_features))])
        self._collect = collect
        self._sweep = sweep
        self._count = count
        self._swept_rows = min(self.block_rows, _SWEPT_ROWS)
        self._feature_buffer = np.empty(n_features * self.block_rows)
        self._score_buffer = np.empty(len(self._coefficients) * self.block_rows)
        self._features = front(self._feature_buffer, n_features, 0)
        # Transposed, the second product is a tenth quicker in OpenBLAS.
        self._product = np.empty((n_features, n_components))
        self._sums = np.zeros((n_features, n_components))

    def load(self, block: AnyArray) -> None:
        """Take a block of rows."""
        n_features = self._coefficients.shape[1] if self._count is None else self._count(block)
        self._features = front(self._feature_buffer, n_features, len(block))
        self._fill(block, self._features)

    def log_likelihood(self) -> FloatArray:
        """Return the log densities (components, rows) of the block, in a buffer that the next call overwrites."""
        scores = front(self._score_buffer, len(self._coefficients), self._features.shape[1])
        coefficients = self._coefficients[:, : len(self._features)]
        return np.matmul(coefficients, self._features, out=scores)[: self.n_components]

    def accumulate(self, responsibilities: FloatArray) -> None:
        """Add the statistics of the block, weighted by responsibilities (components, rows)."""
        n_features = len(self._features)
        product = np.matmul(self._features, responsibilities.T, out=self._product[:n_features])
        self._sums[:n_features] += product

    def sweep_softly(
        self,
        rows: AnyArray,
        log_weights: FloatArray,
        codes: IntArray | None,
        classes: IntArray,
        weights: FloatArray,
        links: Links | None = None,
    ) -> float | None:
        """Accumulate the statistics of rows that choose softly and by themselves; return their weighted log evidence.

        None, and nothing done, where there is no quicker way than block by block. With ``links``, neighbours add to the
        scores and the posterior is kept for them; the evidence leaves out what late neighbours add.
        """
        if self._sweep is None:
            return None
        known = np.empty(0, dtype=np.int64) if codes is None else np.require(codes, np.int64, ["C", "W"])
        size = self._swept_rows
        return self._sweep(rows, self._coefficients, log_weights, known, classes, weights, links, size, self._sums)

    def statistics(self) -> Statistics:
        """Return what was accumulated since the last call, and start anew."""
        sums, self._sums = self._sums, np.zeros_like(self._sums)
        return self._collect(sums.T)
