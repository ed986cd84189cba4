"""Student t components with Normal-Wishart or Normal-Gamma posteriors (Svensén and Bishop 2005).

Given the scales u of its rows a component is Gaussian: κ = κ0 + Σ r u, m = (κ0 m0 + Σ r u x) / κ and the scatter take
the scaled rows, while the degrees of the Wishart, ν0 + Σ r, count rows whatever their scale. The tails are parameters
that maximise the bound.

A component is nearly as well described by precisions α times as high and scales α times as low, and steps that change
one at a time creep along that direction: more so the more columns there are. So each update also takes the α that
raises the bound most (Liu, Rubin and Wu 1998 by maximum likelihood; Qi and Jaakkola 2006 for variational Bayes). Rows
see only the products u Λ, which stay; what changes is the prior of the scales, of the precisions and of the means,

    f(α) = c ln α − h / α − B α,   c = A − (ν/2) Σ r,   h = (ν/2) Σ r u,

where A ln α − B α is what the Gaussians' prior has of it (:meth:`ConjugateStudent._prior_terms`).
"""

from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import Any, Generic, NamedTuple, Self, TypeVar

import numpy as np
from numpy.random import RandomState
from scipy.linalg import solve_triangular
from scipy.special import digamma

from sidelight._storable import storable
from sidelight._typing import AnyArray, FloatArray, IntArray
from sidelight.families.conjugate.family import ConjugateFamily, multidigamma
from sidelight.families.conjugate.learned import LearnsCentre
from sidelight.families.conjugate.normal_gamma import NormalGamma, NormalGammaParameters
from sidelight.families.conjugate.normal_wishart import NormalWishart, NormalWishartParameters
from sidelight.families.evaluators.evaluator import Evaluator
from sidelight.families.evaluators.missing import IncompleteRows, PatternRows, pattern_rows
from sidelight.families.exponential import GaussianStatistics, SquareStatistics
from sidelight.families.gaussian.full import log_scales, quadratic_evaluator
from sidelight.families.student.rows import (
    Distances,
    DistanceSource,
    QuadraticSource,
    StudentEvaluator,
    StudentParameters,
    StudentStatistics,
)
from sidelight.families.student.tails import AT_START, tail_degrees
from sidelight.kernels.loops import Backend, has_missing

Inner = TypeVar("Inner", NormalWishart, NormalGamma)

# How often an update alternates between α and the posteriors; a second time changes the third digit of α.
_EXPANSIONS = 1


@dataclass(frozen=True, eq=False)
class ConjugateStudent(ConjugateFamily[StudentParameters, StudentStatistics], Generic[Inner]):
    """Student t components; ``gaussian`` is the family of their rows given the scales."""

    gaussian: Inner

    @abstractmethod
    def _gaussians(self, statistics: StudentStatistics) -> Any:
        """Return the posteriors of the Gaussians given the statistics of scaled rows."""

    @abstractmethod
    def _prior_terms(self, gaussians: Any) -> tuple[FloatArray, FloatArray]:
        """Return A and B (components,): −KL(q ‖ p) has A ln α − B α where precisions are multiplied by α."""

    def update(self, statistics: StudentStatistics) -> StudentParameters:
        """Return the posteriors and tails that maximise the bound given the scales, up to a factor of these."""
        return self._maximised(self.expanded(statistics))

    def expanded(self, statistics: StudentStatistics) -> StudentStatistics:
        """Return the statistics after the scales of each component are divided by the α that raises the bound most."""
        for _ in range(_EXPANSIONS):
            gaussians, tails = self._maximised(statistics)
            prior_logs, prior_rates = self._prior_terms(gaussians)
            logs = prior_logs - 0.5 * tails * statistics.mass
            inverses = 0.5 * tails * statistics.scaled_rows.mass
            statistics = statistics.rescaled(1.0 / _highest(logs, inverses, prior_rates))
        return statistics

    def _maximised(self, statistics: StudentStatistics) -> StudentParameters:
        """Return the posteriors and tails that maximise the bound given the scales."""
        return StudentParameters(self._gaussians(statistics), tail_degrees(statistics.mass, statistics.deviations))

    def relearned(self, statistics: StudentStatistics) -> Self:
        """Return the family whose prior of the Gaussians is learned, where theirs is."""
        gaussian = self.gaussian
        if not isinstance(gaussian, LearnsCentre):
            return self
        scaled = self.expanded(statistics)
        learned = gaussian.learned_from(
            lambda prior: replace(self, gaussian=prior)._gaussians(scaled),
            lambda prior: replace(self, gaussian=prior).log_evidence(scaled),
        )
        return self if learned is gaussian else replace(self, gaussian=learned)

    def log_prior(self, parameters: StudentParameters) -> float:
        """Return −Σ_k KL(q(μ_k, Λ_k) ‖ p(μ_k, Λ_k)); tails have no prior."""
        return self.gaussian.log_prior(parameters.gaussians)

    def divergence(self, parameters: StudentParameters) -> FloatArray:
        """Return the symmetric divergences of the Gaussians' posteriors."""
        return self.gaussian.divergence(parameters.gaussians)

    def attributes(self, parameters: StudentParameters) -> dict[str, FloatArray]:
        """Return the parameters by name; ``covariances_`` are those of rows of scale one."""
        return {**self.gaussian.attributes(parameters.gaussians), "tail_degrees_": parameters.tails}

    def around(self, means: FloatArray) -> StudentParameters:
        """Return the prior moved to each of these means."""
        return StudentParameters(self.gaussian.around(means), np.full(len(means), AT_START))

    def select(self, parameters: StudentParameters, components: IntArray) -> StudentParameters:
        """Return the parameters of these components, in this order."""
        return StudentParameters(self.gaussian.select(parameters.gaussians, components), parameters.tails[components])

    def narrowed(self, components: IntArray) -> Self:
        """Return the family whose prior means are those of these components."""
        return replace(self, gaussian=self.gaussian.narrowed(components))

    def n_parameters(self, n_components: int) -> int:
        """Return the number of free parameters."""
        return self.gaussian.n_parameters(n_components) + n_components


def _highest(logs: FloatArray, inverses: FloatArray, rates: FloatArray) -> FloatArray:
    """Return the α where c ln α − h/α − B α is highest: the positive root of c α + h − B α²."""
    # Of the two forms of the root, the one in which nothing cancels.
    total = np.abs(logs) + np.sqrt(np.square(logs) + 4.0 * inverses * rates)
    return np.where(logs > 0, total / (2.0 * rates), 2.0 * inverses / total)


class _Scale(NamedTuple):
    """D = offset + factor (x − m)ᵀ Ψ⁻¹ (x − m) and ½ ln|Λ| = base + (p/2) ln factor + ½ ln|Ψ⁻¹|, all (components,)."""

    factor: FloatArray
    offset: FloatArray
    base: FloatArray


@storable("StudentNormalWishart")
@dataclass(frozen=True, eq=False)
class FullStudent(ConjugateStudent[NormalWishart]):
    """Student t components with free covariances; missing cells are latent variables of their row.

    A row with the cells x_o observed has q(u) = Gamma((ν + |o|)/2, (ν + D_o)/2) with
    D_o = d/κ + ν_W (x_o − m_o)ᵀ Ψ_oo⁻¹ (x_o − m_o), ν_W the Wishart's degrees. Given u the missing cells are normal as
    in :mod:`sidelight.families.evaluators.missing`, with their covariance divided by u, so that E[u x xᵀ] takes the
    covariance of the missing cells once, whatever the scale of the row.
    """

    def evaluator(self, parameters: StudentParameters, backend: Backend) -> Evaluator[StudentStatistics]:
        """Return an evaluator of the rows' part of the bound and of the statistics."""
        _, mean_precision, degrees, _, _ = parameters.gaussians
        d = len(self.gaussian.centre)
        base = 0.5 * (multidigamma(degrees, d) + d * np.log(2.0 / degrees))
        return self._rows(parameters, _Scale(degrees, d / mean_precision, base), parameters.tails, backend)

    def predictive(self, parameters: StudentParameters, backend: Backend) -> Evaluator[StudentStatistics]:
        """Return a scorer of new rows by Student t's of shape Ψ (κ + 1) / (κ f), f = ν_W + 1 − d.

        The posterior predictive has no closed form. Given the scale of the row it is a Student t with f degrees, and
        given μ and Λ one with ν; a single one with 1 / (1/f + 1/ν) degrees is exact where either is large.
        """
        means, mean_precision, degrees, _, _ = parameters.gaussians
        freedom = degrees + 1 - means.shape[1]
        factor = freedom * mean_precision / (mean_precision + 1.0)
        nothing = np.zeros(len(means))
        tails = 1.0 / (1.0 / freedom + 1.0 / parameters.tails)
        return self._rows(parameters, _Scale(factor, nothing, nothing), tails, backend)

    def _rows(
        self, parameters: StudentParameters, scale: _Scale, tails: FloatArray, backend: Backend
    ) -> Evaluator[StudentStatistics]:
        gaussians: NormalWishartParameters = parameters.gaussians
        means, _, degrees, scatter, factors = gaussians
        d, roots = means.shape[1], np.sqrt(scale.factor)
        deviations = np.sqrt(np.diagonal(scatter, axis1=1, axis2=2)) / roots[:, None]
        quadratic = quadratic_evaluator(
            means, roots[:, None, None] * factors, deviations, -0.5 * scale.offset, self.gaussian.centre, backend
        )
        whole_roots = scale.base + 0.5 * d * np.log(scale.factor) + log_scales(factors)
        whole = StudentEvaluator(QuadraticSource(quadratic, np.zeros(len(means)), whole_roots, d), tails)

        def patterns() -> StudentEvaluator:
            return StudentEvaluator(_PatternSource(PatternRows(means, scatter, degrees), scale), tails)

        return IncompleteRows(whole, patterns, pattern_rows(scatter))

    def _gaussians(self, statistics: StudentStatistics) -> NormalWishartParameters:
        scaled = statistics.scaled_rows
        assert isinstance(scaled, GaussianStatistics)
        return self.gaussian.update(scaled)._replace(degrees=self.gaussian.degrees + statistics.mass)

    def _prior_terms(self, gaussians: NormalWishartParameters) -> tuple[FloatArray, FloatArray]:
        means, mean_precision, degrees, _, factors = gaussians
        prior, d = self.gaussian, means.shape[1]
        white = np.einsum("kij,kj->ki", factors, means - prior.mean)
        traces = np.einsum("kij,jl,kil->k", factors, prior.scatter, factors)
        of_means = d / mean_precision + degrees * np.square(white).sum(axis=1)
        rates = 0.5 * (degrees * traces + prior.mean_precision * of_means)
        return np.full(len(means), 0.5 * d * (prior.degrees + 1.0)), rates

    def log_evidence(self, statistics: StudentStatistics) -> FloatArray:
        """Return the log evidence given the scales of the rows, without what the scales themselves add."""
        return self.gaussian.evidence_of(self._gaussians(statistics), statistics.mass)

    def sample(self, parameters: StudentParameters, component: int, n: int, random: RandomState) -> FloatArray:
        """Draw n rows from the posterior predictive distribution of one component."""
        gaussians = (values[component] for values in parameters.gaussians)
        mean, mean_precision, degrees, _, factor = gaussians
        d, half = len(mean), 0.5 * parameters.tails[component]
        noise = solve_triangular(factor, random.standard_normal((d, n)), lower=True).T
        widths = 1.0 / random.gamma(half, 1.0 / half, size=n) + 1.0 / mean_precision
        return mean + noise * np.sqrt(widths / random.chisquare(degrees + 1 - d, size=n))[:, None]


class _PatternSource(DistanceSource):
    """Distances of rows with missing cells."""

    def __init__(self, rows: PatternRows, scale: _Scale) -> None:
        self.n_components = rows.n_components
        self.block_rows = rows.block_rows
        self._rows = rows
        self._scale = _Scale(*(values[:, None] for values in scale))

    def load(self, block: AnyArray) -> None:
        """Take a block of rows."""
        self._rows.load(block)

    def distances(self) -> Distances:
        """Return the distances of the block."""
        found, (factor, offset, base) = self._rows.distances(), self._scale
        log_roots = base + 0.5 * found.n_observed * np.log(factor) + found.log_scales
        return Distances(offset + factor * found.distances, log_roots, found.n_observed.astype(float))

    def add(self, scaled: FloatArray, responsibilities: FloatArray) -> None:
        """Add the sums of the block."""
        self._rows.add(scaled, responsibilities)

    def sums(self) -> tuple[FloatArray | None, GaussianStatistics]:
        """Return the sums since the last call, and start anew."""
        return None, self._rows.statistics()


@storable("StudentNormalGamma")
@dataclass(frozen=True, eq=False)
class DiagonalStudent(ConjugateStudent[NormalGamma]):
    """Student t components whose features are uncorrelated given the scale of the row; missing cells are left out."""

    def evaluator(self, parameters: StudentParameters, backend: Backend) -> StudentEvaluator:
        """Return an evaluator of the rows' part of the bound and of the statistics."""
        means, mean_precision, shapes, rates = parameters.gaussians
        cells = self.gaussian.quadratic(means, shapes / rates, -0.5 / mean_precision)
        return StudentEvaluator(_CellSource(cells, 0.5 * (digamma(shapes) - np.log(rates))), parameters.tails)

    def predictive(self, parameters: StudentParameters, backend: Backend) -> StudentEvaluator:
        """Return a scorer of new rows by Student t's of squared scales b (κ + 1) / (a κ).

        The posterior predictive has no closed form; this is its limit for components with many rows.
        """
        means, mean_precision, shapes, rates = parameters.gaussians
        precisions = shapes / rates * mean_precision / (mean_precision + 1.0)
        cells = self.gaussian.quadratic(means, precisions, np.zeros_like(means))
        return StudentEvaluator(_CellSource(cells, 0.5 * np.log(precisions)), parameters.tails)

    def _gaussians(self, statistics: StudentStatistics) -> NormalGammaParameters:
        scaled = statistics.scaled_rows
        assert isinstance(scaled, SquareStatistics)
        shapes = np.broadcast_to(self.gaussian.shape + 0.5 * statistics.observed, scaled.first.shape).copy()
        return self.gaussian.update(scaled)._replace(shapes=shapes)

    def _prior_terms(self, gaussians: NormalGammaParameters) -> tuple[FloatArray, FloatArray]:
        means, mean_precision, shapes, rates = gaussians
        prior, precisions = self.gaussian, shapes / rates
        of_means = 1.0 / mean_precision + precisions * np.square(means - prior.mean)
        totals = prior.rates * precisions + 0.5 * prior.mean_precision * of_means
        return np.full(len(means), means.shape[1] * (prior.shape + 0.5)), totals.sum(axis=1)

    def log_evidence(self, statistics: StudentStatistics) -> FloatArray:
        """Return the log evidence given the scales of the rows, without what the scales themselves add."""
        posterior = self._gaussians(statistics)
        return self.gaussian.evidence_of(posterior, 2 * (posterior.shapes - self.gaussian.shape))

    def sample(self, parameters: StudentParameters, component: int, n: int, random: RandomState) -> FloatArray:
        """Draw n rows from the posterior predictive distribution of one component."""
        gaussians = (values[component] for values in parameters.gaussians)
        means, mean_precision, shapes, rates = gaussians
        half = 0.5 * parameters.tails[component]
        widths = 1.0 / random.gamma(half, 1.0 / half, size=n)[:, None] + 1.0 / mean_precision
        precisions = random.gamma(shapes, 1.0 / rates, size=(n, len(means)))
        return means + random.standard_normal((n, len(means))) * np.sqrt(widths / precisions)


class _CellSource(DistanceSource):
    """Distances over observed cells; ``log_roots`` (components, d) are ½ E ln λ, and ``cells`` gives −D/2."""

    def __init__(self, cells: Evaluator[SquareStatistics], log_roots: FloatArray) -> None:
        self.n_components, self._d = log_roots.shape
        self.block_rows = cells.block_rows
        self._cells = cells
        self._log_roots = log_roots
        self._missing: FloatArray | None = None
        self._start()

    def _start(self) -> None:
        self._mass = np.zeros(self.n_components)
        self._lost = np.zeros((self.n_components, self._d))

    def load(self, block: AnyArray) -> None:
        """Take a block of rows."""
        self._missing = np.isnan(block).T.astype(float) if has_missing(block) else None
        self._cells.load(block)

    def distances(self) -> Distances:
        """Return the distances of the block."""
        squares = self._cells.log_likelihood()
        squares *= -2.0
        log_roots = self._log_roots.sum(axis=1, keepdims=True)
        if self._missing is None:
            return Distances(squares, log_roots, np.array([float(self._d)]))
        return Distances(squares, log_roots - self._log_roots @ self._missing, self._d - self._missing.sum(axis=0))

    def add(self, scaled: FloatArray, responsibilities: FloatArray) -> None:
        """Add the sums of the block."""
        self._cells.accumulate(scaled)
        self._mass += responsibilities.sum(axis=1)
        if self._missing is not None:
            self._lost += responsibilities @ self._missing.T

    def sums(self) -> tuple[FloatArray | None, SquareStatistics]:
        """Return the sums since the last call, and start anew."""
        # Rounding may leave a little less than nothing where all cells are missing.
        observed = np.maximum(self._mass[:, None] - self._lost, 0.0)
        self._start()
        return observed, self._cells.statistics()


def student_of(gaussian: NormalWishart | NormalGamma) -> FullStudent | DiagonalStudent:
    """Return the Student t family whose rows, given their scales, are those of a Gaussian family."""
    return FullStudent(gaussian) if isinstance(gaussian, NormalWishart) else DiagonalStudent(gaussian)
