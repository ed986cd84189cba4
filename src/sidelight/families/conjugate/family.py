"""The contract of conjugate families, and the divergences between their posteriors, all in one place.

One-sided divergences are KL(q ‖ p) = E_q ln q/p of a posterior and its prior. Symmetric ones,
KL(q_k ‖ q_l) + KL(q_l ‖ q_k), are ⟨η_k − η_l, E_k T − E_l T⟩ in any exponential family with natural parameters η and
statistics T.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import Any, Generic, Self, TypeVar

import numpy as np
from numpy.random import RandomState
from scipy.special import digamma, gammaln, multigammaln

from sidelight._typing import FloatArray, IntArray
from sidelight.families.evaluators.evaluator import Evaluator, Scorer, Statistics
from sidelight.kernels.loops import Backend

Parameters = TypeVar("Parameters", bound=tuple[Any, ...])


class ConjugateFamily(ABC, Generic[Parameters, Statistics]):
    """An emission whose components have posteriors in the family of their prior; parameters are those posteriors'.

    With q(θ_k) the posterior of component k and p(θ) the prior, the variational bound of a mixture is made of
    E_q ln p(x | θ_k), which the evaluator gives, and −Σ_k KL(q(θ_k) ‖ p(θ_k)), which is :meth:`log_prior`.
    """

    @abstractmethod
    def evaluator(self, parameters: Parameters, backend: Backend) -> Evaluator[Statistics]:
        """Return an evaluator of E_q ln p(x | θ_k) and of the sufficient statistics."""

    @abstractmethod
    def predictive(self, parameters: Parameters, backend: Backend) -> Scorer:
        """Return a scorer of new rows: their log posterior predictive densities."""

    @abstractmethod
    def update(self, statistics: Statistics) -> Parameters:
        """Return the posteriors that maximise the bound given these statistics."""

    @abstractmethod
    def log_prior(self, parameters: Parameters) -> float:
        """Return −Σ_k KL(q(θ_k) ‖ p(θ_k))."""

    @abstractmethod
    def log_evidence(self, statistics: Statistics) -> FloatArray:
        """Return ln ∫ p(rows of k | θ) p(θ) dθ (components,) of the rows that the statistics sum up.

        Factors of the density that depend on the row alone, such as 1 / x!, are left out. With responsibilities r the
        bound is Σ_k of this, plus the entropy of r and what the weights add; so it tells what a merge would change.
        """

    def relearned(self, statistics: Statistics) -> Self:
        """Return the family with a prior that raises the bound at these statistics: itself where its prior is given."""
        return self

    @abstractmethod
    def divergence(self, parameters: Parameters) -> FloatArray:
        """Return the symmetric divergences KL(q_k ‖ q_l) + KL(q_l ‖ q_k) (components, components)."""

    @abstractmethod
    def sample(self, parameters: Parameters, component: int, n: int, random: RandomState) -> FloatArray:
        """Draw n rows from one component's posterior predictive distribution, each with parameters of its own."""

    @abstractmethod
    def attributes(self, parameters: Parameters) -> dict[str, Any]:
        """Return the parameters under the names of a fitted estimator's attributes."""

    @abstractmethod
    def around(self, means: FloatArray) -> Parameters:
        """Return the prior once for each of these means (components, d), moved there where it has a mean.

        Where a mean is NaN the prior's own is kept.
        """

    @abstractmethod
    def n_parameters(self, n_components: int) -> int:
        """Return the number of free parameters of the emissions."""

    def select(self, parameters: Parameters, components: IntArray) -> Parameters:
        """Return the parameters of these components, in this order."""
        return type(parameters)(*(values[components] for values in parameters))

    def narrowed(self, components: IntArray) -> Self:
        """Return the family whose priors are those of these components, in this order.

        Where all components share one prior, that is the family itself.
        """
        return self


@dataclass(frozen=True, eq=False)
class ConjugateGaussian(ConjugateFamily[Parameters, Statistics]):
    """Gaussians whose means have a normal prior.

    ``centre`` (d,), the mean of the table, is where rows are measured from in the linear form. ``mean`` is m0, the
    prior mean of all components (d,) or of each (components, d), and ``mean_precision`` κ0, the number of rows that it
    counts for.
    """

    centre: FloatArray
    mean: FloatArray
    mean_precision: float

    def narrowed(self, components: IntArray) -> Self:
        """Return the family whose prior means are those of these components."""
        return self if self.mean.ndim == 1 else replace(self, mean=self.mean[components])


def dirichlet_divergence(concentrations: FloatArray, prior: FloatArray) -> FloatArray:
    """Return KL(Dir(α) ‖ Dir(α0)) along the last axis."""
    total, prior_total = concentrations.sum(axis=-1), prior.sum(axis=-1)
    normalisers = gammaln(total) - gammaln(prior_total) + (gammaln(prior) - gammaln(concentrations)).sum(axis=-1)
    expected = digamma(concentrations) - digamma(total)[..., None]
    return normalisers + ((concentrations - prior) * expected).sum(axis=-1)


def dirichlet_evidence(concentrations: FloatArray, prior: FloatArray) -> FloatArray:
    """Return ln B(α) − ln B(α0) along the last axis: the log evidence of counts α − α0."""
    normalisers = gammaln(prior.sum(axis=-1)) - gammaln(concentrations.sum(axis=-1))
    return normalisers + (gammaln(concentrations) - gammaln(prior)).sum(axis=-1)


def gamma_divergence(
    shapes: FloatArray, rates: FloatArray, prior_shapes: FloatArray, prior_rates: FloatArray
) -> FloatArray:
    """Return KL(Gamma(a, b) ‖ Gamma(a0, b0)), element by element; b are rates."""
    normalisers = gammaln(prior_shapes) - gammaln(shapes) + prior_shapes * np.log(rates / prior_rates)
    return normalisers + (shapes - prior_shapes) * digamma(shapes) + shapes * (prior_rates - rates) / rates


def normal_divergence(
    precision: FloatArray, prior_precision: FloatArray, distance: FloatArray, d: int = 1
) -> FloatArray:
    """Return the expected KL(N(m, (κΛ)⁻¹) ‖ N(m0, (κ0Λ)⁻¹)) over Λ.

    ``precision`` is κ, ``prior_precision`` κ0 and ``distance`` (m − m0)ᵀ E[Λ] (m − m0).
    """
    ratio = prior_precision / precision
    return 0.5 * (d * (ratio - 1.0 - np.log(ratio)) + prior_precision * distance)


def wishart_divergence(
    degrees: FloatArray,
    log_determinants: FloatArray,
    prior_degrees: float,
    prior_log_determinant: float,
    traces: FloatArray,
    d: int,
) -> FloatArray:
    """Return KL(W(L, ν) ‖ W(L0, ν0)).

    The log determinants are those of L and L0, ``traces`` are tr(L0⁻¹ L).
    """
    expected = multidigamma(degrees, d) + log_determinants
    return (
        multigammaln(0.5 * prior_degrees, d)
        - multigammaln(0.5 * degrees, d)
        + 0.5 * prior_degrees * prior_log_determinant
        - 0.5 * degrees * log_determinants
        + 0.5 * (degrees - prior_degrees) * expected
        + 0.5 * degrees * (traces - d)
    )


def multidigamma(degrees: FloatArray, d: int) -> FloatArray:
    """Return Σ_i ψ((ν + 1 − i) / 2), i = 1 … d: E ln|Λ| of a Wishart is this + d ln 2 + ln|L|."""
    return digamma(0.5 * (degrees[..., None] - np.arange(d))).sum(axis=-1)


def symmetric_divergence(natural: FloatArray, expected: FloatArray) -> FloatArray:
    """Return ⟨η_k − η_l, E_k T − E_l T⟩ of all pairs, from η and E T, both (components, statistics)."""
    # Differences first: the products alone are far larger than their difference.
    return np.stack(
        [((natural - eta) * (expected - mean)).sum(axis=1) for eta, mean in zip(natural, expected, strict=True)]
    )


def symmetric_gamma_divergence(shapes: FloatArray, rates: FloatArray) -> FloatArray:
    """Return the symmetric divergences of products of Gamma distributions, both arguments (components, columns)."""
    natural = np.concatenate([shapes, -rates], axis=1)
    return symmetric_divergence(natural, np.concatenate([digamma(shapes) - np.log(rates), shapes / rates], axis=1))
