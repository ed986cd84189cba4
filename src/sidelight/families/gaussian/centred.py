"""Evaluators that measure every row from each component's own mean.

They take a pass per component instead of one matrix product, and stay exact where the linear form loses its digits
(tight components far from each other, covariances near singular) or where its features would be too many.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable

import numpy as np
from scipy.linalg import blas

from sidelight._typing import AnyArray, FloatArray
from sidelight.families.gaussian.statistics import GaussianStatistics
from sidelight.kernels.loops import front

_LOG_2_PI = math.log(2 * math.pi)


class _CentredEvaluator(ABC):
    """What the evaluators share: the loop over components and the buffers.

    Parameters
    ----------
    means : (components, d)
    constants : (components,)
        Log densities at the means.
    reduce : callable
        What of the second moments the family keeps.
    """

    block_rows = 384

    def __init__(
        self,
        means: FloatArray,
        constants: FloatArray,
        reduce: Callable[[FloatArray], FloatArray],
    ) -> None:
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
        differences = self._differences[: len(self._block)]
        self._mass += responsibilities.sum(axis=1)
        for k, weights in enumerate(responsibilities):
            self._measure(k, differences)
            self._first[k] += weights @ differences
            self._add_second(k, weights, differences)

    def sweep_softly(self, *_: object) -> None:
        """Say that there is no quicker way than block by block."""
        return None  # noqa: RET501  (the answer, not the lack of one)

    def statistics(self) -> GaussianStatistics:
        """Return what was accumulated since the last call, and start anew."""
        second = self._reduce(self._second_moments())
        collected = GaussianStatistics(self._mass, self._first, second, self._means)
        self._start()
        return collected


def _keep(second: FloatArray) -> FloatArray:
    return second


def log_density_at_mean(scales: FloatArray) -> FloatArray:
    """Return the log densities at the means of Gaussians whose precisions have the determinants Π scales²."""
    return np.log(scales).sum(axis=1) - 0.5 * scales.shape[1] * _LOG_2_PI


class TriangularEvaluator(_CentredEvaluator):
    """Densities by the triangular factor of each precision (BLAS trmm), scatter by symmetric updates (syrk).

    ``factors`` (components, d, d) are lower triangular C with CᵀC = Σ⁻¹; both routines take half the operations of a
    plain matrix product. ``constants`` (components,) are the values at the means, those of a Gaussian if not given.
    """

    def __init__(
        self,
        means: FloatArray,
        factors: FloatArray,
        reduce: Callable[[FloatArray], FloatArray] = _keep,
        *,
        constants: FloatArray | None = None,
    ) -> None:
        if constants is None:
            constants = log_density_at_mean(np.diagonal(factors, axis1=1, axis2=2))
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
    """Densities and squares of axis-parallel Gaussians; ``scales`` (components, d) are roots of the precisions.

    ``constants`` (components,) are the values at the means, those of a Gaussian if not given.
    """

    def __init__(
        self,
        means: FloatArray,
        scales: FloatArray,
        reduce: Callable[[FloatArray], FloatArray] = _keep,
        *,
        constants: FloatArray | None = None,
    ) -> None:
        self._scales = scales
        super().__init__(means, log_density_at_mean(scales) if constants is None else constants, reduce)

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
