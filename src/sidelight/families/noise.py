"""Rows that belong nowhere: one further component, the last, whose density is broad and does not move.

Its density is constant, 1 / Π w_j over the observed cells of a row, with w_j the width of column j (after the noise
component of Banfield and Raftery 1993, whose density is one over the volume of the data). Within a box of these widths
it is a uniform distribution, the most spread one there is; outside it stays as it is, so that a row beyond all others
is noise as well. Widths leave out the outer half percent of the cells at either end, where Banfield and Raftery take
the whole range, so that one wrong cell does not make every other outlier probable elsewhere.
"""

from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.random import RandomState

from sidelight._storable import storable
from sidelight._typing import AnyArray, FloatArray, IntArray
from sidelight.families.conjugate.family import ConjugateFamily
from sidelight.families.evaluators.evaluator import Evaluator, Scorer
from sidelight.families.gaussian.full import CentredFamily
from sidelight.families.student import LikelihoodStudent
from sidelight.kernels.loops import Backend, QuadraticForm, front, has_missing

Clusters = ConjugateFamily[Any, Any] | CentredFamily[Any] | LikelihoodStudent


@storable("NoiseParameters")
class NoiseParameters(NamedTuple):
    """Parameters of the clusters' components, and how many these are; the noise has none."""

    clusters: Any
    n_clusters: int


@storable("NoiseStatistics")
@dataclass(frozen=True, eq=False)
class NoiseStatistics:
    """Statistics of the clusters' components, and Σ r (1,) of the noise."""

    clusters: Any
    noise: FloatArray

    @property
    def mass(self) -> FloatArray:
        """Sum of the responsibilities of each component, the noise last."""
        return np.concatenate([self.clusters.mass, self.noise])

    def means(self) -> FloatArray:
        """Return the means of the clusters' components."""
        return self.clusters.means()

    def __add__(self, other: "NoiseStatistics") -> "NoiseStatistics":
        return NoiseStatistics(self.clusters + other.clusters, self.noise + other.noise)

    def scaled(self, factor: float) -> "NoiseStatistics":
        """Return the statistics of the same rows, each counted ``factor`` times."""
        return NoiseStatistics(self.clusters.scaled(factor), factor * self.noise)

    def regrouped(self, groups: IntArray) -> "NoiseStatistics":
        """Return the statistics of groups of components; the noise, which is last, stays by itself."""
        return NoiseStatistics(self.clusters.regrouped(groups[:-1]), self.noise)


class NoisePredictive(Scorer):
    """Log densities of the clusters' components, and of the noise below them; ``log_widths`` (d,) are ln w."""

    def __init__(self, clusters: Scorer, log_widths: FloatArray) -> None:
        self.n_components = clusters.n_components + 1
        self.block_rows = clusters.block_rows
        self._clusters = clusters
        self._log_widths = log_widths
        self._score_buffer = np.empty(self.n_components * self.block_rows)
        self._background: FloatArray | float = 0.0

    def load(self, block: AnyArray) -> None:
        """Take a block of rows."""
        self._clusters.load(block)
        self._background = -float(self._log_widths.sum())
        if has_missing(block):
            self._background = self._background + np.isnan(block) @ self._log_widths

    def log_likelihood(self) -> FloatArray:
        """Return the log densities (components, rows) of the block, in a buffer that the next call overwrites."""
        found = self._clusters.log_likelihood()
        scores = front(self._score_buffer, self.n_components, found.shape[1])
        scores[:-1] = found
        scores[-1] = self._background
        return scores


class NoiseEvaluator(NoisePredictive, Evaluator[NoiseStatistics]):
    """The same with statistics."""

    _clusters: Evaluator[Any]

    def __init__(self, clusters: Evaluator[Any], log_widths: FloatArray) -> None:
        super().__init__(clusters, log_widths)
        self._noise = np.zeros(1)
        self._form: QuadraticForm | None = None

    def accumulate(self, responsibilities: FloatArray) -> None:
        """Add the statistics of the block, weighted by responsibilities (components, rows)."""
        self._clusters.accumulate(responsibilities[:-1])
        self._noise += responsibilities[-1].sum()

    def quadratic_form(self) -> QuadraticForm | None:
        """Return the quadratic form of complete rows: that of the clusters, and a constant."""
        form = self._clusters.quadratic_form()
        if form is None:
            return None
        if self._form is None:
            n_features, k = form.coefficients.shape[1], self.n_components - 1
            coefficients = np.zeros((self.n_components + -self.n_components % 4, n_features))
            coefficients[:k] = form.coefficients[:k]
            coefficients[k, 0] = -self._log_widths.sum()
            self._form = form._replace(
                coefficients=coefficients,
                sums=np.zeros((n_features, k + 1)),
                score_buffer=np.empty(len(coefficients) * form.block_rows),
            )
        return self._form

    def statistics(self) -> NoiseStatistics:
        """Return the statistics accumulated since the last call, and start anew."""
        noise = self._noise
        own = self._clusters.quadratic_form()
        if own is not None and self._form is not None:
            # The first feature is one, so that its sums are those of responsibilities.
            own.sums[:] += self._form.sums[:, :-1]
            noise = noise + self._form.sums[0, -1]
        self._noise, self._form = np.zeros(1), None
        return NoiseStatistics(self._clusters.statistics(), noise)


@storable("NoiseFamily")
@dataclass(frozen=True, eq=False)
class NoiseFamily:
    """The components of a family, and noise after them; ``log_widths`` (d,) are ln w of the columns.

    Functions of some components count the noise as the last one; numbers of components are without it.
    """

    clusters: Clusters
    log_widths: FloatArray

    def evaluator(self, parameters: NoiseParameters, backend: Backend) -> NoiseEvaluator:
        """Return an evaluator of log densities and statistics."""
        return NoiseEvaluator(self.clusters.evaluator(parameters.clusters, backend), self.log_widths)

    def predictive(self, parameters: NoiseParameters, backend: Backend) -> NoisePredictive:
        """Return a scorer of new rows by predictive densities."""
        return NoisePredictive(self.clusters.predictive(parameters.clusters, backend), self.log_widths)

    def update(self, statistics: NoiseStatistics) -> NoiseParameters:
        """Return the parameters that maximise the objective; the noise does not move."""
        return NoiseParameters(self.clusters.update(statistics.clusters), len(statistics.clusters.mass))

    def log_prior(self, parameters: NoiseParameters) -> float:
        """Return the part of the objective that depends on the parameters alone."""
        return self.clusters.log_prior(parameters.clusters)

    def divergence(self, parameters: NoiseParameters) -> FloatArray:
        """Return the symmetric divergences of the clusters' components."""
        assert isinstance(self.clusters, ConjugateFamily)
        return self.clusters.divergence(parameters.clusters)

    def around(self, means: FloatArray) -> NoiseParameters:
        """Return components with these means, and the noise."""
        return NoiseParameters(self.clusters.around(means), len(means))

    def attributes(self, parameters: NoiseParameters) -> dict[str, Any]:
        """Return the parameters of the clusters' components by name."""
        return self.clusters.attributes(parameters.clusters)

    def select(self, parameters: NoiseParameters, components: IntArray) -> NoiseParameters:
        """Return the parameters of these components, in this order, and the noise."""
        kept = components[components < parameters.n_clusters]
        return NoiseParameters(self.clusters.select(parameters.clusters, kept), len(kept))

    def narrowed(self, components: IntArray) -> Self:
        """Return the family whose priors are those of these components, the noise last among them."""
        assert isinstance(self.clusters, ConjugateFamily)
        return replace(self, clusters=self.clusters.narrowed(components[:-1]))

    def sample(self, parameters: NoiseParameters, component: int, n: int, random: RandomState) -> FloatArray:
        """Draw n rows from the component of a cluster; noise has no distribution to draw from."""
        return self.clusters.sample(parameters.clusters, component, n, random)

    def n_parameters(self, n_components: int) -> int:
        """Return the number of free parameters of so many components and the weight of the noise."""
        return self.clusters.n_parameters(n_components) + 1
