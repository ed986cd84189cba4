"""Gaussian components whose features are uncorrelated, with a Normal-Gamma posterior per feature."""

import math
from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np
from numpy.random import RandomState
from scipy.special import digamma, gammaln

from sidelight._storable import storable
from sidelight._typing import FloatArray
from sidelight.families.conjugate.family import (
    ConjugateGaussian,
    gamma_divergence,
    normal_divergence,
    symmetric_gamma_divergence,
)
from sidelight.families.evaluators.cells import CellwisePredictive, cell_evaluator
from sidelight.families.evaluators.centred import ScaledCellEvaluator
from sidelight.families.evaluators.evaluator import Evaluator
from sidelight.families.exponential import SquareStatistics, linear_form_is_exact
from sidelight.families.gaussian.full import CovariancePrior
from sidelight.kernels.loops import Backend


@storable("NormalGammaParameters")
class NormalGammaParameters(NamedTuple):
    """Posteriors μ | λ ~ N(m, 1/(κλ)), λ ~ Gamma(a, rate b): m, κ, a and b, all (components, d)."""

    means: FloatArray
    mean_precision: FloatArray
    shapes: FloatArray
    rates: FloatArray


@storable("NormalGamma")
@dataclass(frozen=True, eq=False)
class NormalGamma(ConjugateGaussian[NormalGammaParameters, SquareStatistics]):
    """Gaussians with one variance per feature and component under Normal-Gamma priors; missing cells are left out.

    ``shape`` is a0 and ``rates`` (d,) are b0; the prior's variances, as 1 / E λ, are b0 / a0.
    """

    shape: float
    rates: FloatArray

    @classmethod
    def scaled(
        cls,
        mean: FloatArray,
        variances: FloatArray,
        *,
        degrees: float = 3.0,
        fraction: float = 1.0,
        mean_precision: float = 0.01,
    ) -> Self:
        """Return the prior in the units of a table, whose variances are a ``fraction`` of the table's.

        A column that never changes takes the mean variance of the others. ``degrees`` is 2 a0, the number of rows that
        the prior variances count for.
        """
        prior = CovariancePrior.scaled(variances, rows=degrees, fraction=fraction)
        return cls(mean, mean, mean_precision, 0.5 * degrees, 0.5 * prior.scatter)

    def evaluator(self, parameters: NormalGammaParameters, backend: Backend) -> Evaluator[SquareStatistics]:
        """Return an evaluator of Σ_j ½ [ψ(a) − ln b − ln 2π − 1/κ − (a/b) (x − m)²] and of the statistics."""
        means, mean_precision, shapes, rates = parameters
        constants = 0.5 * (digamma(shapes) - np.log(2 * math.pi * rates) - 1.0 / mean_precision)
        constants -= 0.5 * self._cost_of_rounding(parameters)
        return self.quadratic(means, shapes / rates, constants)

    def _cost_of_rounding(self, parameters: NormalGammaParameters) -> FloatArray:
        """Return E λ e² (components, d) for what rounding took from a cell, e: nothing where cells are exact."""
        return np.zeros(parameters.means.shape)

    def quadratic(
        self, means: FloatArray, precisions: FloatArray, constants: FloatArray
    ) -> Evaluator[SquareStatistics]:
        """Return the quickest evaluator of Σ_j [c − ½ λ (x − m)²] that is exact enough.

        ``means``, ``precisions`` and ``constants`` (components, d) are m, λ and c.
        """
        offsets, d = means - self.centre, len(self.centre)

        def fill(cells: FloatArray, out: FloatArray) -> None:
            np.subtract(cells, self.centre[:, None], out=out[:d])
            np.square(out[:d], out=out[d:])

        def collect(mass: FloatArray, cells: FloatArray, sums: FloatArray) -> SquareStatistics:
            return SquareStatistics(mass, cells, sums[:, :d], sums[:, d:], self.centre)

        if linear_form_is_exact(np.abs(offsets) + 1.0 / np.sqrt(precisions), precisions):
            at_centre = constants - 0.5 * precisions * np.square(offsets)
            coefficients = np.concatenate([precisions * offsets, -0.5 * precisions], axis=1)
            return cell_evaluator(fill, at_centre, coefficients, collect, neutral=self.centre, centre=self.centre)
        return ScaledCellEvaluator(means, np.sqrt(precisions), constants)

    def predictive(self, parameters: NormalGammaParameters, backend: Backend) -> CellwisePredictive:
        """Return a scorer of new rows by products of Student t's, with 2a degrees and squared scales b (κ+1) / (aκ)."""
        means, mean_precision, shapes, rates = parameters
        exponents = shapes + 0.5
        factors = 0.5 * mean_precision / ((mean_precision + 1.0) * rates)
        constants = gammaln(exponents) - gammaln(shapes) + 0.5 * np.log(factors / math.pi)

        def log_density(component: int, cells: FloatArray) -> FloatArray:
            terms = cells - means[component]
            np.square(terms, out=terms)
            terms *= factors[component]
            np.log1p(terms, out=terms)
            terms *= -exponents[component]
            terms += constants[component]
            return terms

        return CellwisePredictive(log_density, *means.shape)

    def update(self, statistics: SquareStatistics) -> NormalGammaParameters:
        """Return the posteriors, with N the mass of a column's observed cells.

        κ = κ0 + N, m = (κ0 m0 + Σ r x) / κ, a = a0 + N/2, b = b0 + ½ [Σ r (x − x̄)² + κ0 N (x̄ − m0)² / κ].
        """
        cells = statistics.cells
        mean_precision = self.mean_precision + cells
        prior_offsets = self.mean - statistics.origin
        means = statistics.origin + (self.mean_precision * prior_offsets + statistics.first) / mean_precision
        offsets = statistics.offsets()
        # Rounding may leave a little less than nothing where a component's cells are all equal.
        squares = np.maximum(statistics.second - cells * np.square(offsets), 0.0)
        squares += self.mean_precision * cells / mean_precision * np.square(offsets - prior_offsets)
        return NormalGammaParameters(means, mean_precision, self.shape + 0.5 * cells, self.rates + 0.5 * squares)

    def log_prior(self, parameters: NormalGammaParameters) -> float:
        """Return −Σ_k KL(q(μ_k, λ_k) ‖ p(μ_k, λ_k))."""
        means, mean_precision, shapes, rates = parameters
        distances = shapes / rates * np.square(means - self.mean)
        of_means = normal_divergence(mean_precision, np.asarray(self.mean_precision), distances)
        of_precisions = gamma_divergence(shapes, rates, np.asarray(self.shape), self.rates)
        return -float(np.sum(of_means + of_precisions))

    def log_evidence(self, statistics: SquareStatistics) -> FloatArray:
        """Return Σ_j ln [Γ(a) b0^a0 κ0^½] − ln [Γ(a0) b^a κ^½] − (N_j/2) ln 2π, N_j the mass of observed cells."""
        return self.evidence_of(self.update(statistics), statistics.cells)

    def evidence_of(self, posterior: NormalGammaParameters, cells: FloatArray) -> FloatArray:
        """Return the log evidence of ``cells`` (components, d) many cells that lead to these posteriors."""
        of_precisions = gammaln(posterior.shapes) - gammaln(self.shape)
        of_precisions += self.shape * np.log(self.rates) - posterior.shapes * np.log(posterior.rates)
        of_means = 0.5 * np.log(self.mean_precision / posterior.mean_precision)
        return (of_precisions + of_means - 0.5 * math.log(2 * math.pi) * cells).sum(axis=1)

    def divergence(self, parameters: NormalGammaParameters) -> FloatArray:
        """Return KL(q_k ‖ q_l) + KL(q_l ‖ q_k) of all pairs.

        Per column: that of the Gammas + ½ (κ_l/κ_k + κ_k/κ_l − 2) + ½ (m_k − m_l)² (κ_l a_k/b_k + κ_k a_l/b_l).
        """
        means, mean_precision, shapes, rates = parameters
        total = symmetric_gamma_divergence(shapes, rates)
        precisions = shapes / rates
        for k in range(len(means)):
            own = mean_precision[k]
            widths = np.square(mean_precision - own) / (mean_precision * own)
            distances = np.square(means - means[k]) * (mean_precision * precisions[k] + own * precisions)
            total[k] += 0.5 * (widths + distances).sum(axis=1)
        return total

    def sample(self, parameters: NormalGammaParameters, component: int, n: int, random: RandomState) -> FloatArray:
        """Draw n rows from the posterior predictive Student t's of one component."""
        means, mean_precision, shapes, rates = (values[component] for values in parameters)
        scales = np.sqrt(rates / shapes * (1.0 + 1.0 / mean_precision))
        return means + scales * random.standard_t(2 * shapes, size=(n, len(means)))

    def attributes(self, parameters: NormalGammaParameters) -> dict[str, FloatArray]:
        """Return the parameters by scikit-learn's names, all (components, d); the covariances are 1 / E λ = b / a."""
        return {
            "means_": parameters.means,
            "covariances_": parameters.rates / parameters.shapes,
            "mean_precision_": parameters.mean_precision,
            "degrees_of_freedom_": 2 * parameters.shapes,
        }

    def around(self, means: FloatArray) -> NormalGammaParameters:
        """Return the prior moved to each of these means."""
        return NormalGammaParameters(
            np.where(np.isnan(means), self.mean, means),
            np.full(means.shape, self.mean_precision),
            np.full(means.shape, self.shape),
            np.broadcast_to(self.rates, means.shape).copy(),
        )

    def n_parameters(self, n_components: int) -> int:
        """Return the number of free parameters."""
        return 2 * n_components * len(self.centre)
