"""Gaussian components with axes in common and shapes of their own: EVE and VVE."""

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.random import RandomState

from sidelight._storable import storable
from sidelight._typing import AnyArray, FloatArray, IntArray
from sidelight.families.evaluators.evaluator import Evaluator
from sidelight.families.exponential import GaussianStatistics
from sidelight.families.gaussian.full import CentredFamily, FullGaussian, FullParameters, positive_variances
from sidelight.families.gaussian.principal_axes import principal_axes
from sidelight.families.gaussian.volumes import Scatter, equal_volumes, scatter_matrices
from sidelight.kernels.loops import Backend, QuadraticForm


@storable("OrientedParameters")
class OrientedParameters(NamedTuple):
    """Means (components, d), covariances and factors C with CᵀC = Σ⁻¹ (components, d, d), and their axes (d, d)."""

    means: FloatArray
    covariances: FloatArray
    factors: FloatArray
    axes: FloatArray


@storable("OrientedStatistics")
@dataclass(frozen=True, eq=False)
class OrientedStatistics(GaussianStatistics):
    """Weighted sums of rows, and the axes (d, d) of the parameters they were taken at."""

    axes: FloatArray

    def measured_from(self, origin: FloatArray) -> "OrientedStatistics":
        """Return the statistics of the same rows measured from another origin."""
        return oriented(super().measured_from(origin), self.axes)

    def _each(self, function: Callable[[str, FloatArray], FloatArray]) -> "OrientedStatistics":
        return super()._each(lambda name, values: values if name == "axes" else function(name, values))


def oriented(statistics: GaussianStatistics, axes: FloatArray) -> OrientedStatistics:
    """Return statistics together with axes."""
    return OrientedStatistics(statistics.mass, statistics.first, statistics.second, statistics.origin, axes)


class OrientedEvaluator(Evaluator[OrientedStatistics]):
    """The evaluator of free covariances; its statistics keep the axes, from which the next update starts."""

    def __init__(self, evaluator: Evaluator[GaussianStatistics], axes: FloatArray) -> None:
        self.n_components = evaluator.n_components
        self.block_rows = evaluator.block_rows
        self._evaluator = evaluator
        self._axes = axes

    def load(self, block: AnyArray) -> None:
        """Take a block of rows."""
        self._evaluator.load(block)

    def log_likelihood(self) -> FloatArray:
        """Return the log densities (components, rows) of the block, in a buffer that the next call overwrites."""
        return self._evaluator.log_likelihood()

    def accumulate(self, responsibilities: FloatArray) -> None:
        """Add the statistics of the block, weighted by responsibilities (components, rows)."""
        self._evaluator.accumulate(responsibilities)

    def statistics(self) -> OrientedStatistics:
        """Return the statistics accumulated since the last call, and start anew."""
        return oriented(self._evaluator.statistics(), self._axes)

    def quadratic_form(self) -> QuadraticForm | None:
        """Return the quadratic form that the log densities of complete rows are; None where they are not one."""
        return self._evaluator.quadratic_form()


@dataclass(frozen=True, eq=False)
class _CommonOrientation(CentredFamily[OrientedParameters]):
    """Components with common axes; how the variances along them may differ is for the subclass to say.

    The axes that maximise the objective are found step by step, and there may be several local maxima: an update starts
    at the axes before, so that no step lowers the objective.
    """

    @abstractmethod
    def _variances(self, scatter: Scatter) -> FloatArray:
        """Return the best variances (components, d) for the diagonals of the scatter along the axes."""

    def parameters(self, means: FloatArray, covariances: FloatArray) -> OrientedParameters:
        """Return the parameters with these means and covariances; the axes are those of the mean covariance."""
        return self._with_axes(means, covariances, np.linalg.eigh(covariances.mean(axis=0))[1])

    def _with_axes(self, means: FloatArray, covariances: FloatArray, axes: FloatArray) -> OrientedParameters:
        return OrientedParameters(*self._free.parameters(means, covariances), axes)

    @property
    def _free(self) -> FullGaussian:
        """The family without restrictions, which has the same densities."""
        return FullGaussian(self.centre, self.prior)

    def evaluator(self, parameters: OrientedParameters, backend: Backend) -> OrientedEvaluator:
        """Return the quickest evaluator that is exact enough at these parameters."""
        return OrientedEvaluator(self._free.evaluator(_free_parameters(parameters), backend), parameters.axes)

    def update(self, statistics: GaussianStatistics) -> OrientedParameters:
        """Return the parameters that maximise the expected log density plus the prior, from the axes before."""
        assert isinstance(statistics, OrientedStatistics)
        scatter = scatter_matrices(statistics, self.prior)
        axes, variances = principal_axes(scatter, statistics.axes, self._variances)
        covariances = np.einsum("ij,kj,lj->kil", axes, variances, axes)
        return self._with_axes(statistics.means(), covariances, axes)

    def log_prior(self, parameters: OrientedParameters) -> float:
        """Return the prior's part of the objective."""
        return self._free.log_prior(_free_parameters(parameters))

    def sample(self, parameters: OrientedParameters, component: int, n: int, random: RandomState) -> FloatArray:
        """Draw n rows from one component."""
        return self._free.sample(_free_parameters(parameters), component, n, random)

    def select(self, parameters: OrientedParameters, components: IntArray) -> OrientedParameters:
        """Return the parameters of these components, in this order."""
        return OrientedParameters(*self._free.select(_free_parameters(parameters), components), parameters.axes)

    def around(self, means: FloatArray) -> OrientedParameters:
        """Return components with these means, each as wide as the whole table."""
        covariances = np.repeat(np.diag(self.prior.spread)[None], len(means), axis=0)
        return self._with_axes(means, covariances, np.eye(len(self.centre)))


def _free_parameters(parameters: OrientedParameters) -> FullParameters:
    return FullParameters(parameters.means, parameters.covariances, parameters.factors)


@storable("EVEGaussian")
@dataclass(frozen=True, eq=False)
class EVEGaussian(_CommonOrientation):
    """Components of equal volume with common axes, each with a shape of its own."""

    def _variances(self, scatter: Scatter) -> FloatArray:
        return equal_volumes(scatter)

    def n_parameters(self, n_components: int) -> int:
        """Return the number of free parameters."""
        d = len(self.centre)
        return n_components * (2 * d - 1) + 1 + d * (d - 1) // 2


@storable("VVEGaussian")
@dataclass(frozen=True, eq=False)
class VVEGaussian(_CommonOrientation):
    """Components with common axes, each with a volume and a shape of its own (Flury 1984).

    mclust up to 6.1.3 chooses the axes of VVE by the sum of |DᵀS_kD|^(1/d) over components, which maximises the
    likelihood for EVE only; here they maximise it for VVE.
    """

    def _variances(self, scatter: Scatter) -> FloatArray:
        return positive_variances(scatter.sums / scatter.rows[:, None])

    def n_parameters(self, n_components: int) -> int:
        """Return the number of free parameters."""
        d = len(self.centre)
        return n_components * 2 * d + d * (d - 1) // 2
