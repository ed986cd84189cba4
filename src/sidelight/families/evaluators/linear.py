"""Evaluate any family whose log density is linear in features of the row: an exponential family.

For a block of rows with features F (features, rows) and coefficients W (components, features), the log densities
are ``W @ F`` and the sufficient statistics ``F @ R.T``: two matrix products on one block while it is in the cache.
Log densities that are quadratic in the row, c − ½ |C(x − m)|², are linear in the products of its cells.
"""

from collections.abc import Callable
from functools import cache

import numpy as np

from sidelight._typing import AnyArray, FloatArray, IntArray
from sidelight.families.evaluators.centred import TriangularEvaluator
from sidelight.families.evaluators.evaluator import Evaluator, Statistics
from sidelight.families.statistics import GaussianStatistics
from sidelight.kernels.loops import Backend, QuadraticForm, front, rows_per_block

# Without returning to Python after each, smaller blocks that stay in the cache are quickest.
_SWEPT_ROWS = 384
# Above this many features the triangular form takes fewer operations than the quadratic features.
_LARGEST_QUADRATIC_DIMENSION = 64
# Absolute error of a log density that the linear form may make.
_TOLERATED_ERROR = 1e-8


class LinearEvaluator(Evaluator[Statistics]):
    """Log densities and sufficient statistics of blocks of rows, at fixed parameters, in buffers of its own.

    Parameters
    ----------
    fill : callable
        ``fill(block, out)`` writes the features of a block of rows into ``out`` (features, rows).
    coefficients : (components, features)
        The log densities are these times the features.
    collect : callable
        Turns the accumulated (components, features) sums into the family's statistics.
    count : callable, optional
        ``count(block)`` returns the number of features the block needs, where the last ones are often all zero; only
        these are filled and multiplied. All of them where not given.
    centre : (d,), optional
        Given where the features are [1, x_i, x_i x_j (i <= j)] of rows measured from it: the log densities are a
        quadratic form then.
    """

    def __init__(
        self,
        fill: Callable[[AnyArray, FloatArray], None],
        coefficients: FloatArray,
        collect: Callable[[FloatArray], Statistics],
        count: Callable[[AnyArray], int] | None = None,
        centre: FloatArray | None = None,
    ) -> None:
        n_components, n_features = coefficients.shape
        self.n_components = n_components
        self.block_rows = rows_per_block(n_components + n_features)
        self._fill = fill
        # A multiple of four components makes the first product a tenth quicker in OpenBLAS.
        padding = -n_components % 4
        self._coefficients = np.concatenate([coefficients, np.zeros((padding, n_features))])
        self._collect = collect
        self._count = count
        self._centre = centre
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

    def quadratic_form(self) -> QuadraticForm | None:
        """Return the quadratic form of the log densities, where a centre says that they are one."""
        if self._centre is None:
            return None
        return QuadraticForm(self._centre, self._coefficients, self._sums, min(self.block_rows, _SWEPT_ROWS))

    def statistics(self) -> Statistics:
        """Return the statistics accumulated since the last call, and start anew."""
        sums, self._sums = self._sums, np.zeros_like(self._sums)
        return self._collect(sums.T)


def linear_form_is_exact(reach: FloatArray, precisions: FloatArray) -> bool:
    """Say whether log densities as a sum over quadratic features keep their digits.

    The terms of the sum are as large as |x|ᵀ|Λ||x| with x measured from the centre of the table, and cancel down to
    the squared distance from the component's mean; the error is machine precision times that size. This bounds
    the error by absolute values, where (μ−c)ᵀΛ(μ−c) alone would miss the terms that cancel within it.

    ``reach`` (components, d) is how far the rows of each component lie from the centre, per feature; ``precisions`` are
    inverse covariances (components, d, d), or their diagonals (components, d).
    """
    magnitude = np.abs(precisions)
    if precisions.ndim == 3:
        size = np.einsum("ki,kij,kj->k", reach, magnitude, reach)
    else:
        size = np.einsum("ki,ki,ki->k", reach, reach, magnitude)
    return bool(np.finfo(float).eps * size.max() < _TOLERATED_ERROR)


def quadratic_evaluator(
    means: FloatArray,
    factors: FloatArray,
    deviations: FloatArray,
    constants: FloatArray,
    centre: FloatArray,
    backend: Backend,
) -> Evaluator[GaussianStatistics]:
    """Return the quickest evaluator of c − ½ |C(x − m)|² that is exact enough.

    ``means`` (components, d) are m, ``factors`` (components, d, d) lower triangular C, and ``constants`` (components,)
    c, the value at the mean. ``deviations`` (components, d) say how far the rows of each component lie from its mean:
    square roots of the diagonal of (CᵀC)⁻¹. The linear form measures rows from ``centre`` (d,).
    """
    d = len(centre)
    rows, columns = _upper_triangle(d)

    def fill(block: AnyArray, out: FloatArray) -> None:
        # One layout and type for the compiled loop, which would else be compiled again for each.
        backend.quadratic_features(np.require(block, np.float64, ["C", "W"]), centre, out)

    def collect(sums: FloatArray) -> GaussianStatistics:
        second = np.empty((len(sums), d, d))
        second[:, rows, columns] = sums[:, d + 1 :]
        second[:, columns, rows] = sums[:, d + 1 :]
        return GaussianStatistics(sums[:, 0], sums[:, 1 : d + 1], second, centre)

    if d <= _LARGEST_QUADRATIC_DIMENSION:
        offsets = means - centre
        precisions = factors.swapaxes(1, 2) @ factors
        if linear_form_is_exact(np.abs(offsets) + deviations, precisions):
            return LinearEvaluator(fill, _coefficients(offsets, precisions, factors, constants), collect, centre=centre)
    return TriangularEvaluator(means, factors, constants)


@cache
def _upper_triangle(d: int) -> tuple[IntArray, IntArray]:
    """Return the rows and columns of the upper triangle, in the order of the quadratic features."""
    return np.triu_indices(d)


def _coefficients(
    offsets: FloatArray, precisions: FloatArray, factors: FloatArray, constants: FloatArray
) -> FloatArray:
    """Return the coefficients of [1, x_i, x_i x_j (i <= j)], x measured from the centre."""
    whitened = np.einsum("kij,kj->ki", factors, offsets)
    constant = constants - 0.5 * np.square(whitened).sum(axis=1)
    linear = np.einsum("kij,kj->ki", precisions, offsets)
    rows, columns = _upper_triangle(offsets.shape[1])
    quadratic = np.where(rows == columns, -0.5, -1.0) * precisions[:, rows, columns]
    return np.concatenate([constant[:, None], linear, quadratic], axis=1)
