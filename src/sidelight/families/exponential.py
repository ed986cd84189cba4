"""Exponential families: sums over rows, and evaluators of log densities that are linear in features of the row."""

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Self

import numpy as np

from sidelight._storable import storable
from sidelight._typing import AnyArray, FloatArray, IntArray
from sidelight.families.evaluators.evaluator import Evaluator, Statistics
from sidelight.kernels.loops import Backend, QuadraticForm, front, has_missing, rows_per_block


def add_up(values: FloatArray, groups: IntArray) -> FloatArray:
    """Return the sums of values (components, …) over groups of components, without those whose group is -1."""
    total = np.zeros((int(groups.max()) + 1, *values.shape[1:]))
    kept = groups >= 0
    np.add.at(total, groups[kept], values[kept])
    return total


@dataclass(frozen=True, eq=False)
class _Sums:
    """Sums over rows with the components along the first axis; a field named ``origin`` is not one of them."""

    mass: FloatArray

    def __add__(self, other: Self) -> Self:
        return self._each(lambda name, values: values + getattr(other, name))

    def scaled(self, factor: float) -> Self:
        """Return the statistics of the same rows, each counted ``factor`` times."""
        return self._each(lambda _, values: factor * values)

    def weighted(self, factors: FloatArray) -> Self:
        """Return the statistics after each row of a component counts as often as its factor says, (components,)."""
        return self._each(lambda _, values: np.reshape(factors, (-1, *(1,) * (values.ndim - 1))) * values)

    def regrouped(self, groups: IntArray) -> Self:
        """Return the statistics of groups of components put together; those of group -1 are left out.

        A sum over components stays as it is: the share of those left out is not known.
        """
        n_components = len(self.mass)
        return self._each(lambda _, values: add_up(values, groups) if len(values) == n_components else values)

    def paired(self, first: IntArray, second: IntArray) -> Self:
        """Return the statistics of pairs of components put together, a component may be in several pairs."""
        n_components = len(self.mass)
        return self._each(lambda _, values: values[first] + values[second] if len(values) == n_components else values)

    def _each(self, function: Callable[[str, FloatArray], FloatArray]) -> Self:
        """Return the statistics whose sums are a function of the names and the values of these."""
        values = {name: getattr(self, name) for name in self.__dataclass_fields__}
        return type(self)(**{name: own if name == "origin" else function(name, own) for name, own in values.items()})


class _MeasuredSums(_Sums):
    """Sums over rows measured from an origin, (d,) or (components, d): far from all of them, sums of squares cancel."""

    origin: FloatArray

    @abstractmethod
    def measured_from(self, origin: FloatArray) -> Self:
        """Return the statistics of the same rows measured from another origin."""

    @abstractmethod
    def offsets(self) -> FloatArray:
        """Return the means measured from the origin."""

    def means(self) -> FloatArray:
        """Return the means (components, d)."""
        return self.origin + self.offsets()

    def __add__(self, other: Self) -> Self:
        return super().__add__(other if other.origin is self.origin else other.measured_from(self.origin))

    def regrouped(self, groups: IntArray) -> Self:
        """Return the statistics of groups of components put together, measured from one origin."""
        return super(_MeasuredSums, self._from_one_origin()).regrouped(groups)

    def paired(self, first: IntArray, second: IntArray) -> Self:
        """Return the statistics of pairs of components put together, measured from one origin."""
        return super(_MeasuredSums, self._from_one_origin()).paired(first, second)

    def _from_one_origin(self) -> Self:
        return self if self.origin.ndim == 1 else self.measured_from(self.origin.mean(axis=0))


@storable("CountStatistics")
@dataclass(frozen=True, eq=False)
class CountStatistics(_Sums):
    """Weighted counts of categories or words: Σ r (components,) and Σ r x (components, categories)."""

    counts: FloatArray

    def means(self) -> FloatArray:
        """Return the mean counts (components, categories)."""
        return self.counts / np.maximum(self.mass, np.finfo(float).tiny)[:, None]


@storable("CellStatistics")
@dataclass(frozen=True, eq=False)
class CellStatistics(_Sums):
    """Weighted sums of cells.

    ``mass`` (components,) is Σ r over rows; ``cells`` and ``sums`` (components, columns) are Σ r and Σ r x over the
    rows in which the column's cell is observed.
    """

    cells: FloatArray
    sums: FloatArray

    def means(self) -> FloatArray:
        """Return the mean of each column's observed cells (components, columns)."""
        return self.sums / np.maximum(self.cells, np.finfo(float).tiny)


@storable("GaussianStatistics")
@dataclass(frozen=True, eq=False)
class GaussianStatistics(_MeasuredSums):
    """Weighted sums of rows: Σ r (components,), Σ r (x − origin) (components, d) and Σ r (x − origin)(x − origin)ᵀ.

    ``second`` is the part of the latter that the family needs: all of it (components, d, d), its sum over components
    (1, d, d), its diagonals (components, d) or their sums (components,).
    """

    first: FloatArray
    second: FloatArray
    origin: FloatArray

    def measured_from(self, origin: FloatArray) -> "GaussianStatistics":
        """Return the statistics of the same rows measured from another origin."""
        shift = np.broadcast_to(self.origin - origin, self.first.shape)
        first = self.first + self.mass[:, None] * shift
        second = self.second + self._second_by(shift, first)
        return GaussianStatistics(self.mass, first, second, origin)

    def offsets(self) -> FloatArray:
        """Return the means measured from the origin; zero for a component that owns nothing."""
        owned = np.where(self.mass > np.finfo(float).tiny, self.mass, np.inf)
        return self.first / owned[:, None]

    def scatter(self) -> FloatArray:
        """Return the second moments about the means, of the same shape as ``second``."""
        return self.second - self._second_by(self.offsets(), np.zeros_like(self.first))

    def _second_by(self, shift: FloatArray, first: FloatArray) -> FloatArray:
        """Return the change of the second moments by a shift: δ f'ᵀ + f δᵀ, with f before and f' after it."""
        if self.second.ndim < 3:
            squares = shift * (self.first + first)
            return squares if self.second.ndim == 2 else squares.sum(axis=1)
        outer = shift[:, :, None] * first[:, None, :] + self.first[:, :, None] * shift[:, None, :]
        return outer if len(self.second) == len(outer) else outer.sum(axis=0, keepdims=True)


# Relative error of a sum of responsibilities over very many rows.
_ROUNDING = 1e-12


@storable("SquareStatistics")
@dataclass(frozen=True, eq=False)
class SquareStatistics(_MeasuredSums):
    """Weighted sums of cells and of their squares.

    ``mass`` (components,) is Σ r over rows; ``cells``, ``first`` and ``second`` (components, columns) are Σ r,
    Σ r (x − origin) and Σ r (x − origin)² over the rows in which the column's cell is observed.
    """

    cells: FloatArray
    first: FloatArray
    second: FloatArray
    origin: FloatArray

    def measured_from(self, origin: FloatArray) -> "SquareStatistics":
        """Return the statistics of the same rows measured from another origin."""
        shift = self.origin - origin
        first = self.first + self.cells * shift
        return SquareStatistics(self.mass, self.cells, first, self.second + shift * (self.first + first), origin)

    def offsets(self) -> FloatArray:
        """Return the means measured from the origin; zero where a component owns no cell."""
        # Where nearly all cells are missing, what is left of their mass is rounding, and does not belong to the sums.
        least = np.maximum(_ROUNDING * self.mass, np.finfo(float).tiny)[:, None]
        return self.first / np.where(self.cells > least, self.cells, np.inf)


# Without returning to Python after each, smaller blocks that stay in the cache are quickest.
_SWEPT_ROWS = 384
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
    n_complete : int, optional
        How many features complete rows need, where those after them are zero but for missing cells: in blocks without
        such cells, only these are filled and multiplied. All of them where not given.
    centre : (d,), optional
        Given where the features of complete rows are those of :func:`sidelight.kernels.loops.quadratic_features`
        measured from it: the log densities are a quadratic form then.
    """

    def __init__(
        self,
        fill: Callable[[AnyArray, FloatArray], None],
        coefficients: FloatArray,
        collect: Callable[[FloatArray], Statistics],
        n_complete: int | None = None,
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
        self._n_complete = n_features if n_complete is None else n_complete
        self._centre = centre
        # The compiled loops want them in one piece.
        self._complete_coefficients = np.ascontiguousarray(self._coefficients[:, : self._n_complete])
        self._feature_buffer = np.empty(n_features * self.block_rows)
        self._score_buffer = np.empty(len(self._coefficients) * self.block_rows)
        self._features = front(self._feature_buffer, n_features, 0)
        # Transposed, the second product is a tenth quicker in OpenBLAS.
        self._product = np.empty((n_features, n_components))
        self._sums = np.zeros((n_features, n_components))

    def load(self, block: AnyArray) -> None:
        """Take a block of rows."""
        n_features = self._coefficients.shape[1]
        if self._n_complete < n_features and not has_missing(block):
            n_features = self._n_complete
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
        sums, block_rows = self._sums[: self._n_complete], min(self.block_rows, _SWEPT_ROWS)
        may_miss = self._n_complete < len(self._sums)
        buffers = self._feature_buffer, self._score_buffer
        return QuadraticForm(self._centre, self._complete_coefficients, sums, block_rows, *buffers, may_miss)

    def statistics(self) -> Statistics:
        """Return the statistics accumulated since the last call, and start anew."""
        sums, self._sums = self._sums, np.zeros_like(self._sums)
        return self._collect(sums.T)


def quadratic_form_evaluator(
    coefficients: FloatArray,
    centre: FloatArray,
    collect: Callable[[FloatArray], Statistics],
    backend: Backend,
) -> LinearEvaluator[Statistics]:
    """Return an evaluator of a quadratic form of rows measured from ``centre`` (d,).

    ``coefficients`` (components, features) are those of [1, x_i, x_i x_j (i <= j)], of [1, x_i, x_i²] or of
    [1, x_i, |x|²].
    """

    def fill(block: AnyArray, out: FloatArray) -> None:
        # One layout and type for the compiled loop, which would else be compiled again for each.
        backend.quadratic_features(np.require(block, np.float64, ["C", "W"]), centre, out)

    return LinearEvaluator(fill, coefficients, collect, centre=centre)


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
