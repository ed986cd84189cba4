"""Gaussian components with free covariances and Normal-Wishart posteriors.

Equations are those of Echraibi et al. (2019), appendix A; departures from the print are stated.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple, Self

import numpy as np
from numpy.random import RandomState
from scipy.linalg import solve_triangular
from scipy.special import gammaln, multigammaln

from sidelight._storable import storable
from sidelight._typing import AnyArray, FloatArray, IntArray
from sidelight.families.conjugate.family import ConjugateGaussian, multidigamma, normal_divergence, wishart_divergence
from sidelight.families.evaluators.evaluator import Evaluator, Scorer
from sidelight.families.evaluators.missing import (
    IncompleteEvaluator,
    IncompletePredictive,
    PatternEvaluator,
    pattern_rows,
)
from sidelight.families.exponential import GaussianStatistics
from sidelight.families.gaussian.full import (
    CovariancePrior,
    is_positive_definite,
    log_determinant,
    log_scales,
    precision_factors,
    quadratic_evaluator,
)
from sidelight.kernels.loops import Backend


@storable("NormalWishartParameters")
class NormalWishartParameters(NamedTuple):
    """Posteriors μ | Λ ~ N(m, (κΛ)⁻¹), Λ ~ W(L, ν) with E Λ = νL, one per component.

    The fields are m (components, d), κ and ν (components,), Ψ = L⁻¹ and lower triangular C with CᵀC = L
    (components, d, d).
    """

    means: FloatArray
    mean_precision: FloatArray
    degrees: FloatArray
    scatter: FloatArray
    factors: FloatArray


@storable("NormalWishart")
@dataclass(frozen=True, eq=False)
class NormalWishart(ConjugateGaussian[NormalWishartParameters, GaussianStatistics]):
    """Gaussians with free covariances under a Normal-Wishart prior; missing cells are latent variables of their row.

    ``degrees`` is ν0, more than d − 1, and ``scatter`` (d, d) is Ψ0 = L0⁻¹; the prior's covariance, as E[Λ]⁻¹, is
    Ψ0 / ν0.
    """

    degrees: float
    scatter: FloatArray

    def __post_init__(self) -> None:
        if self.degrees <= len(self.centre) - 1:
            raise ValueError(
                f"degrees is {self.degrees:g}; a Wishart prior of {len(self.centre)} columns needs more than "
                f"{len(self.centre) - 1}."
            )

    @classmethod
    def scaled(
        cls,
        mean: FloatArray,
        variances: FloatArray,
        *,
        degrees: float | None = None,
        fraction: float = 1.0,
        mean_precision: float = 0.01,
    ) -> Self:
        """Return the prior in the units of a table, whose covariance E[Λ]⁻¹ is a ``fraction`` of the table's.

        ``variances`` are of the columns (d,), or a covariance (d, d) that is positive definite but for columns that
        never change. Such a column has no variance to scale by and takes the mean variance of the others. ``degrees``
        is ν0, d + 2 where not given.
        """
        degrees = len(mean) + 2.0 if degrees is None else degrees
        diagonal = variances if variances.ndim == 1 else np.diagonal(variances)
        scatter = np.diag(CovariancePrior.scaled(diagonal, rows=degrees, fraction=fraction).scatter)
        if variances.ndim == 2:
            scatter += degrees * fraction * (variances - np.diag(diagonal))
        return cls(mean, mean, mean_precision, degrees, scatter)

    def evaluator(self, parameters: NormalWishartParameters, backend: Backend) -> IncompleteEvaluator:
        """Return an evaluator of E ln p(x) = ½ [E ln|Λ| − d ln 2π − d/κ − ν (x − m)ᵀ L (x − m)] and the statistics.

        For rows with missing cells see :mod:`sidelight.families.evaluators.missing`.
        """
        means, mean_precision, degrees, scatter, factors = parameters
        d = means.shape[1]
        slack = multidigamma(degrees, d) + d * np.log(2.0 / degrees) - d / mean_precision
        slack -= self._cost_of_rounding(parameters)
        score = partial(_expected_score, slack=slack, degrees=degrees)
        constants = score(np.zeros((len(means), 1)), log_scales(factors)[:, None], np.array([d]))[:, 0]
        whole = self._quadratic(parameters, constants, backend)
        patterns = partial(PatternEvaluator, means, scatter, degrees, score)
        return IncompleteEvaluator(whole, patterns, pattern_rows(scatter))

    def predictive(self, parameters: NormalWishartParameters, backend: Backend) -> IncompletePredictive:
        """Return a scorer of new rows by the Student t with f = ν + 1 − d degrees and shape Ψ (κ + 1) / (κ f).

        A row with missing cells is scored by the margin of its other cells, a Student t with as many degrees.
        """
        means, mean_precision, degrees, scatter, factors = parameters
        d = means.shape[1]
        score = partial(_student_score, freedom=degrees + 1 - d, precision=mean_precision)
        quadratic = self._quadratic(parameters, np.zeros(len(means)), backend)
        whole_score = partial(score, log_scales=log_scales(factors)[:, None], n_columns=np.array([d]))
        whole = _StudentPredictive(quadratic, -2.0 / degrees, whole_score)
        patterns = partial(PatternEvaluator, means, scatter, degrees, score)
        return IncompletePredictive(whole, patterns, pattern_rows(scatter))

    def _quadratic(
        self, parameters: NormalWishartParameters, constants: FloatArray, backend: Backend
    ) -> Evaluator[GaussianStatistics]:
        """Return an evaluator of c − ½ ν (x − m)ᵀ L (x − m)."""
        roots = np.sqrt(parameters.degrees)
        factors = roots[:, None, None] * parameters.factors
        deviations = np.sqrt(np.diagonal(parameters.scatter, axis1=1, axis2=2)) / roots[:, None]
        return quadratic_evaluator(parameters.means, factors, deviations, constants, self.centre, backend)

    def _cost_of_rounding(self, parameters: NormalWishartParameters) -> FloatArray:
        """Return E eᵀ Λ e of each component for what rounding took from a row, e: nothing where cells are exact."""
        return np.zeros(len(parameters.means))

    def update(self, statistics: GaussianStatistics) -> NormalWishartParameters:
        """Return the posteriors: κ = κ0 + N, ν = ν0 + N, m = (κ0 m0 + Σ r x) / κ and Ψ.

        Ψ = Ψ0 + Σ r (x − x̄)(x − x̄)ᵀ + (κ0 N / κ) (x̄ − m0)(x̄ − m0)ᵀ, which is the print's form about m. The print has
        ν = ν0 + N + 1, which is not the maximiser.
        """
        mass = statistics.mass
        mean_precision = self.mean_precision + mass
        prior_offsets = self.mean - statistics.origin
        means = statistics.origin + (self.mean_precision * prior_offsets + statistics.first) / mean_precision[:, None]
        offsets = statistics.offsets()
        away = offsets - prior_offsets
        scatter = statistics.second - np.einsum("k,ki,kj->kij", mass, offsets, offsets)
        scatter += np.einsum("k,ki,kj->kij", self.mean_precision * mass / mean_precision, away, away)
        scatter += self.scatter
        return NormalWishartParameters(means, mean_precision, self.degrees + mass, scatter, precision_factors(scatter))

    def admits(self, statistics: GaussianStatistics) -> bool:
        """Say whether every component owns some rows, whose scatter is positive definite."""
        without_prior = np.zeros(len(self.centre))
        return bool(statistics.mass.min() > 0) and is_positive_definite(statistics.scatter(), without_prior)

    def log_prior(self, parameters: NormalWishartParameters) -> float:
        """Return −Σ_k KL(q(μ_k, Λ_k) ‖ p(μ_k, Λ_k))."""
        means, mean_precision, degrees, _, factors = parameters
        d = means.shape[1]
        white = np.einsum("kij,kj->ki", factors, means - self.mean)
        of_means = normal_divergence(
            mean_precision, np.asarray(self.mean_precision), degrees * np.square(white).sum(axis=1), d
        )
        prior_log_determinant = -log_determinant(self.scatter)
        traces = np.einsum("kij,jl,kil->k", factors, self.scatter, factors)
        of_precisions = wishart_divergence(
            degrees, 2 * log_scales(factors), self.degrees, prior_log_determinant, traces, d
        )
        return -float(np.sum(of_means + of_precisions))

    def log_evidence(self, statistics: GaussianStatistics) -> FloatArray:
        """Return ln [Γ_d(ν/2) |Ψ0|^(ν0/2) κ0^(d/2)] − ln [Γ_d(ν0/2) |Ψ|^(ν/2) κ^(d/2)] − (N d/2) ln π.

        Of rows with missing cells the statistics hold expected cells; what their spread adds is left out.
        """
        return self.evidence_of(self.update(statistics), statistics.mass)

    def evidence_of(self, posterior: NormalWishartParameters, mass: FloatArray) -> FloatArray:
        """Return the log evidence of rows that count for ``mass`` (components,) and lead to these posteriors."""
        d = len(self.centre)
        prior_log_determinant = log_determinant(self.scatter)
        return (
            multigammaln(0.5 * posterior.degrees, d)
            - multigammaln(0.5 * self.degrees, d)
            + 0.5 * self.degrees * prior_log_determinant
            + posterior.degrees * log_scales(posterior.factors)
            + 0.5 * d * np.log(self.mean_precision / posterior.mean_precision)
            - 0.5 * d * math.log(math.pi) * mass
        )

    def divergence(self, parameters: NormalWishartParameters) -> FloatArray:
        """Return KL(q_k ‖ q_l) + KL(q_l ‖ q_k) of all pairs.

        With Δ = m_k − m_l this is
        d/2 (κ_l/κ_k + κ_k/κ_l − 2) + ½ Δᵀ(κ_l ν_k L_k + κ_k ν_l L_l)Δ
        + ½ (ν_k − ν_l) (E ln|Λ_k| − E ln|Λ_l|) + ½ tr(ν_k L_l⁻¹ L_k + ν_l L_k⁻¹ L_l) − d/2 (ν_k + ν_l).

        The print has other factors in the first two terms; see :func:`printed_divergence`.
        """
        return _assemble(parameters, 0.5 * parameters.mean_precision, 0.5)

    def sample(self, parameters: NormalWishartParameters, component: int, n: int, random: RandomState) -> FloatArray:
        """Draw n rows from the posterior predictive Student t of one component."""
        means, mean_precision, degrees, _, factors = (values[component] for values in parameters)
        d = len(means)
        noise = solve_triangular(factors, random.standard_normal((d, n)), lower=True).T
        widths = np.sqrt((1.0 + 1.0 / mean_precision) / random.chisquare(degrees + 1 - d, size=n))
        return means + noise * widths[:, None]

    def attributes(self, parameters: NormalWishartParameters) -> dict[str, FloatArray]:
        """Return the parameters by scikit-learn's names; the covariances are E[Λ]⁻¹ = Ψ / ν."""
        return {
            "means_": parameters.means,
            "covariances_": parameters.scatter / parameters.degrees[:, None, None],
            "mean_precision_": parameters.mean_precision,
            "degrees_of_freedom_": parameters.degrees,
        }

    def around(self, means: FloatArray) -> NormalWishartParameters:
        """Return the prior moved to each of these means."""
        n_components = len(means)
        scatter = np.repeat(self.scatter[None], n_components, axis=0)
        return NormalWishartParameters(
            np.where(np.isnan(means), self.mean, means),
            np.full(n_components, self.mean_precision),
            np.full(n_components, self.degrees),
            scatter,
            precision_factors(scatter),
        )

    def n_parameters(self, n_components: int) -> int:
        """Return the number of free parameters."""
        d = len(self.centre)
        return n_components * (d + d * (d + 1) // 2)


def printed_divergence(parameters: NormalWishartParameters) -> FloatArray:
    """Return V(k, l) as printed in appendix A of Echraibi et al. (2019), which is not the divergence.

    Its first term has d where d/2 is right, and its second tr((ν_k L_k + ν_l L_l) Δ Δᵀ) lacks the factor ½ and the
    precisions κ_l and κ_k of the other component. The rest is right.
    """
    return _assemble(parameters, np.ones(len(parameters.means)), 1.0)


def _assemble(parameters: NormalWishartParameters, distance_weights: FloatArray, width_weight: float) -> FloatArray:
    """Return the symmetric divergences with these factors of ν_k Δᵀ L_k Δ (one for each l) and d (κ_l/κ_k + …)."""
    means, mean_precision, degrees, scatter, factors = parameters
    n_components, d = means.shape
    white = np.einsum("kij,klj->kli", factors, means[:, None] - means)
    distances = degrees[:, None] * np.square(white).sum(axis=2)
    precisions = factors.swapaxes(1, 2) @ factors
    traces = precisions.reshape(n_components, -1) @ scatter.reshape(n_components, -1).T
    one_sided = distance_weights * distances + 0.5 * degrees[:, None] * (traces - d)
    log_determinants = multidigamma(degrees, d) + 2 * log_scales(factors)
    of_degrees = 0.5 * (degrees[:, None] - degrees) * (log_determinants[:, None] - log_determinants)
    widths = np.square(mean_precision[:, None] - mean_precision) / (mean_precision[:, None] * mean_precision)
    total = one_sided + one_sided.T + of_degrees + width_weight * d * widths
    np.fill_diagonal(total, 0.0)
    return total


def _expected_score(
    distances: FloatArray, log_scales: FloatArray, n_observed: IntArray, *, slack: FloatArray, degrees: FloatArray
) -> FloatArray:
    """Return ½ [Σψ((ν+1−i)/2) + d ln 2 − d/κ − |m| ln ν − |o| ln 2π − ln|Ψ_oo| − ν distance].

    ``slack`` is Σψ((ν+1−i)/2) + d ln(2/ν) − d/κ, which vanishes as ν and κ grow and leaves a Gaussian's log density.
    """
    constants = 0.5 * (slack[:, None] + n_observed * np.log(degrees / (2 * np.pi))[:, None]) + log_scales
    return constants - 0.5 * degrees[:, None] * distances


def _student_score(
    distances: FloatArray, log_scales: FloatArray, n_columns: IntArray, *, freedom: FloatArray, precision: FloatArray
) -> FloatArray:
    """Return the log densities of Student t distributions with f degrees of freedom and shape Ψ (κ + 1) / (κ f).

    ``distances`` (components, rows) are (x − m)ᵀ Ψ⁻¹ (x − m), ``log_scales`` (components, rows or 1) ½ ln|Ψ⁻¹|,
    ``n_columns`` (rows or 1,) the numbers of columns of Ψ; ``freedom`` is f and ``precision`` κ, both (components,).
    """
    shrinkage, halves = (precision / (precision + 1.0))[:, None], 0.5 * freedom[:, None]
    exponents = halves + 0.5 * n_columns
    constants = gammaln(exponents) - gammaln(halves) + 0.5 * n_columns * np.log(shrinkage / np.pi) + log_scales
    scores = np.log1p(shrinkage * distances)
    scores *= -exponents
    scores += constants
    return scores


class _StudentPredictive(Scorer):
    """Student t log densities of complete rows: ``score`` of distances, which are ``factors`` times ``quadratic``."""

    def __init__(self, quadratic: Scorer, factors: FloatArray, score: Callable[[FloatArray], FloatArray]) -> None:
        self.n_components = quadratic.n_components
        self.block_rows = quadratic.block_rows
        self._quadratic = quadratic
        self._factors = factors
        self._score = score

    def load(self, block: AnyArray) -> None:
        """Take a block of rows."""
        self._quadratic.load(block)

    def log_likelihood(self) -> FloatArray:
        """Return the log densities (components, rows) of the block."""
        return self._score(self._factors[:, None] * self._quadratic.log_likelihood())
