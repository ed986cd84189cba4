"""Gaussian components whose covariances have a common prior that is learned from the table: empirical Bayes.

A prior with a given centre decides what clusters look like before any row is seen: round ones where it is the diagonal
of the table's covariance, ones shaped like the whole table where it is all of it. Neither holds for all tables. Here
the centre C0 of the prior and the number of rows ν that it counts for are learned with the components: they are those
that raise the bound. Where C0 counts for few rows, components are free of each other; where it counts for many, they
share one covariance. So one family covers what is else a choice between full, tied and everything in between.

C0 has a prior of its own, which keeps it proper: a Wishart distribution whose mean is the covariance that was expected
before the fit, with d + 2 degrees of freedom; for single columns a Gamma distribution. Its density is taken in units of
that expected covariance, so that it does not depend on the units of the table.

Cells that were rounded to steps of h are not points: a component all of whose cells in a column are alike would become
infinitely narrow there, and such components would win whatever else they have in common. Let e be what rounding took
away, of variance h² / 12 in each cell (Sheppard 1898). By Jensen's inequality the log of the mean density over a step
is at least E ln p(x + e), which adds h² / 12 to the square of each cell, and nothing else. Cells that are missing are
treated in the same way where they are latent variables of their row.
"""

import math
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from scipy.linalg import solve_triangular
from scipy.special import gammaln, multigammaln

from sidelight._storable import storable
from sidelight._typing import FloatArray
from sidelight.families.conjugate.family import ConjugateFamily, Parameters
from sidelight.families.conjugate.normal_gamma import NormalGamma, NormalGammaParameters
from sidelight.families.conjugate.normal_wishart import NormalWishart, NormalWishartParameters
from sidelight.families.evaluators.evaluator import Statistics
from sidelight.families.exponential import GaussianStatistics, SquareStatistics
from sidelight.families.gaussian.full import inverse_covariance

# How many rows the learned centre may count for, and the factor by which that changes from one time to the next.
_LEAST_ROWS, _MOST_ROWS = 1.0, 1000.0
_ROWS_FACTOR = 3.0
# The least that the centre may be, as a fraction of what was expected: a column that never changes within a component
# would draw it to nothing.
_LEAST_FRACTION = 1e-6
# Degrees of freedom of the centre's own prior beyond the least that it may have.
_FURTHER_DEGREES = 2.0
# Shape of the centre's own prior in a single column: a Gamma distribution with mean one.
_CENTRE_SHAPE = 2.0


class LearnsCentre(ConjugateFamily[Parameters, Statistics]):
    """A family whose prior has a centre that is learned, and a number of rows that the centre counts for."""

    @property
    @abstractmethod
    def rows(self) -> float:
        """How many rows the prior's centre counts for."""

    @abstractmethod
    def counting_for(self, rows: float) -> Self:
        """Return the family with the same centre, which counts for so many rows."""

    @abstractmethod
    def recentred(self, posterior: Parameters) -> Self:
        """Return the family with the centre that raises the objective most given the posteriors."""

    @abstractmethod
    def _log_density_of_centre(self) -> float:
        """Return the log density of the centre in units of what was expected."""

    def relearned(self, statistics: Statistics) -> Self:
        """Return the family whose centre and rows raise the objective; several calls lead to a maximum."""
        return self.learned_from(
            lambda family: family.update(statistics), lambda family: family.log_evidence(statistics)
        )

    def learned_from(
        self, posterior_of: Callable[[Self], Parameters], evidence_of: Callable[[Self], FloatArray]
    ) -> Self:
        """Return the family that is best by its evidence among steps of the centre, for several numbers of rows.

        Parameters
        ----------
        posterior_of, evidence_of : callable
            Posteriors of the components, and their log evidence (components,), under a family such as this one.
        """

        def objective(family: Self) -> float:
            return float(evidence_of(family).sum()) + family._log_density_of_centre()

        wider = (self.counting_for(rows) for rows in _rows_to_try(self.rows))
        return max([self, *(family.recentred(posterior_of(family)) for family in wider)], key=objective)


@storable("LearnedWishart")
@dataclass(frozen=True, eq=False)
class LearnedWishart(LearnsCentre[NormalWishartParameters, GaussianStatistics], NormalWishart):
    """Gaussians with free covariances under a Normal-Wishart prior whose centre and weight are learned.

    ``expected`` (d, d) is the covariance expected before the fit. The prior's centre is C0 = Ψ0 / ν with
    ν = ν0 − d − 1, the number of rows it counts for. ``rounding`` (d,) are the variances of what rounding took from the
    cells, None where they are exact.
    """

    expected: FloatArray
    rounding: FloatArray | None = None

    @classmethod
    def centred(cls, prior: NormalWishart, rounding: FloatArray | None = None) -> Self:
        """Return the family that starts from a given prior and expects what it expects."""
        expected = prior.scatter / (prior.degrees - len(prior.centre) - 1)
        given = prior.centre, prior.mean, prior.mean_precision, prior.degrees, prior.scatter
        return cls(*given, expected=expected, rounding=rounding)

    def update(self, statistics: GaussianStatistics) -> NormalWishartParameters:
        """Return the posteriors, in which every row adds the variances of its rounding to the scatter."""
        if self.rounding is not None:
            spread = statistics.mass[:, None, None] * np.diag(self.rounding)
            statistics = replace(statistics, second=statistics.second + spread)
        return NormalWishart.update(self, statistics)

    def _cost_of_rounding(self, parameters: NormalWishartParameters) -> FloatArray:
        """Return E eᵀ Λ e = ν Σ_j L_jj h_j² / 12 of each component."""
        if self.rounding is None:
            return NormalWishart._cost_of_rounding(self, parameters)
        return parameters.degrees * np.einsum("kij,kij,j->k", parameters.factors, parameters.factors, self.rounding)

    @property
    def rows(self) -> float:
        """How many rows the prior's centre counts for."""
        return self.degrees - len(self.centre) - 1

    def log_prior(self, parameters: NormalWishartParameters) -> float:
        """Return −Σ_k KL(q(μ_k, Λ_k) ‖ p(μ_k, Λ_k)) + ln p(C0)."""
        return NormalWishart.log_prior(self, parameters) + self._log_density_of_centre()

    def counting_for(self, rows: float) -> Self:
        """Return the family with the same centre, which counts for so many rows."""
        return replace(self, degrees=rows + len(self.centre) + 1, scatter=rows * (self.scatter / self.rows))

    def recentred(self, posterior: NormalWishartParameters) -> Self:
        """Return the family with the C0 that raises the objective most given the posteriors.

        Σ_k E ln p(Λ_k | C0) + ln p(C0) is highest at C0 = (K ν0 + f − d − 1) (ν Σ_k E Λ_k + f C⁻¹)⁻¹, with C the
        expected covariance and f its degrees of freedom.
        """
        d = len(self.centre)
        roots = np.sqrt(posterior.degrees)[:, None, None] * posterior.factors
        precision = np.einsum("kij,kil->jl", roots, roots)
        freedom = d + _FURTHER_DEGREES
        inverse = self.rows * precision + freedom * inverse_covariance(self.expected)
        centre = (len(roots) * self.degrees + freedom - d - 1) * inverse_covariance(inverse)
        return replace(self, scatter=self.rows * self._not_too_small(centre))

    def _not_too_small(self, centre: FloatArray) -> FloatArray:
        """Return the centre with a least variance in every direction, in units of the expected covariance."""
        lower = np.linalg.cholesky(self.expected)
        values, vectors = np.linalg.eigh(_relative(centre, self.expected))
        roots = lower @ vectors * np.sqrt(np.maximum(values, _LEAST_FRACTION))
        return np.asarray(roots @ roots.T)

    def _log_density_of_centre(self) -> float:
        """Return the log density of C0 in units of the expected covariance."""
        d, freedom = len(self.centre), len(self.centre) + _FURTHER_DEGREES
        relative = _relative(self.scatter / self.rows, self.expected)
        return float(
            0.5 * (freedom - d - 1) * np.linalg.slogdet(relative)[1]
            - 0.5 * freedom * np.trace(relative)
            + 0.5 * freedom * d * math.log(0.5 * freedom)
            - multigammaln(0.5 * freedom, d)
        )


@storable("LearnedGamma")
@dataclass(frozen=True, eq=False)
class LearnedGamma(LearnsCentre[NormalGammaParameters, SquareStatistics], NormalGamma):
    """Gaussians with one variance per feature under Normal-Gamma priors whose centre and weight are learned.

    ``expected`` (d,) are the variances expected before the fit. The prior's centre is c0 = 2 b0 / ν with ν = 2 a0 − 2,
    the number of rows it counts for. ``rounding`` (d,) are the variances of what rounding took from the cells, None
    where they are exact.
    """

    expected: FloatArray
    rounding: FloatArray | None = None

    @classmethod
    def centred(cls, prior: NormalGamma, rounding: FloatArray | None = None) -> Self:
        """Return the family that starts from a given prior and expects what it expects."""
        expected = 2 * prior.rates / (2 * prior.shape - 2)
        given = prior.centre, prior.mean, prior.mean_precision, prior.shape, prior.rates
        return cls(*given, expected=expected, rounding=rounding)

    def update(self, statistics: SquareStatistics) -> NormalGammaParameters:
        """Return the posteriors, in which every observed cell adds the variance of its rounding to the squares."""
        if self.rounding is not None:
            statistics = replace(statistics, second=statistics.second + statistics.cells * self.rounding)
        return NormalGamma.update(self, statistics)

    def _cost_of_rounding(self, parameters: NormalGammaParameters) -> FloatArray:
        """Return E λ e² = (a / b) h² / 12 (components, d)."""
        if self.rounding is None:
            return NormalGamma._cost_of_rounding(self, parameters)
        return parameters.shapes / parameters.rates * self.rounding

    @property
    def rows(self) -> float:
        """How many rows the prior's centre counts for."""
        return 2 * self.shape - 2

    def log_prior(self, parameters: NormalGammaParameters) -> float:
        """Return −Σ_k KL(q(μ_k, λ_k) ‖ p(μ_k, λ_k)) + ln p(c0)."""
        return NormalGamma.log_prior(self, parameters) + self._log_density_of_centre()

    def counting_for(self, rows: float) -> Self:
        """Return the family with the same centre, which counts for so many rows."""
        return replace(self, shape=0.5 * rows + 1, rates=0.5 * rows * (2 * self.rates / self.rows))

    def recentred(self, posterior: NormalGammaParameters) -> Self:
        """Return the family with the c0 that raises the objective most given the posteriors.

        Σ_k E ln p(λ_k | c0) + ln p(c0) is highest at c0 = (K a0 + s − 1) / (½ ν Σ_k E λ_k + s / c), with c the expected
        variances and s the shape of their prior.
        """
        precision = (posterior.shapes / posterior.rates).sum(axis=0)
        weight = len(posterior.means) * self.shape + _CENTRE_SHAPE - 1
        centre = weight / (0.5 * self.rows * precision + _CENTRE_SHAPE / self.expected)
        return replace(self, rates=0.5 * self.rows * np.maximum(centre, _LEAST_FRACTION * self.expected))

    def _log_density_of_centre(self) -> float:
        """Return the log density of c0 in units of the expected variances."""
        relative, shape = 2 * self.rates / (self.rows * self.expected), _CENTRE_SHAPE
        terms = shape * math.log(shape) - gammaln(shape) + (shape - 1) * np.log(relative) - shape * relative
        return float(terms.sum())


def _relative(centre: FloatArray, expected: FloatArray) -> FloatArray:
    """Return L⁻¹ C0 L⁻ᵀ with L Lᵀ the expected covariance, symmetric to the bit: the centre in its units."""
    lower = np.linalg.cholesky(expected)
    half = solve_triangular(lower, centre, lower=True)
    relative = solve_triangular(lower, half.T, lower=True)
    return np.asarray(0.5 * (relative + relative.T))


def _rows_to_try(rows: float) -> list[float]:
    """Return as many rows, a third and three times as many, as far as the centre may count for them."""
    wanted = (rows / _ROWS_FACTOR, rows, rows * _ROWS_FACTOR)
    return sorted({min(max(number, _LEAST_ROWS), _MOST_ROWS) for number in wanted})
