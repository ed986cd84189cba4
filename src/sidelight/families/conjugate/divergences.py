"""Kullback–Leibler divergences between conjugate posteriors, all in one place.

One-sided ones are KL(q ‖ p) = E_q ln q/p of a posterior and its prior. Symmetric ones, KL(q_k ‖ q_l) + KL(q_l ‖ q_k),
are ⟨η_k − η_l, E_k T − E_l T⟩ in any exponential family with natural parameters η and statistics T.
"""

import numpy as np
from scipy.special import digamma, gammaln, multigammaln

from sidelight._typing import FloatArray


def dirichlet(concentrations: FloatArray, prior: FloatArray) -> FloatArray:
    """Return KL(Dir(α) ‖ Dir(α0)) along the last axis."""
    total, prior_total = concentrations.sum(axis=-1), prior.sum(axis=-1)
    normalisers = gammaln(total) - gammaln(prior_total) + (gammaln(prior) - gammaln(concentrations)).sum(axis=-1)
    expected = digamma(concentrations) - digamma(total)[..., None]
    return normalisers + ((concentrations - prior) * expected).sum(axis=-1)


def gamma(shapes: FloatArray, rates: FloatArray, prior_shapes: FloatArray, prior_rates: FloatArray) -> FloatArray:
    """Return KL(Gamma(a, b) ‖ Gamma(a0, b0)), element by element; b are rates."""
    normalisers = gammaln(prior_shapes) - gammaln(shapes) + prior_shapes * np.log(rates / prior_rates)
    return normalisers + (shapes - prior_shapes) * digamma(shapes) + shapes * (prior_rates - rates) / rates


def normal(precision: FloatArray, prior_precision: FloatArray, distance: FloatArray, d: int = 1) -> FloatArray:
    """Return the expected KL(N(m, (κΛ)⁻¹) ‖ N(m0, (κ0Λ)⁻¹)) over Λ.

    ``precision`` is κ, ``prior_precision`` κ0 and ``distance`` (m − m0)ᵀ E[Λ] (m − m0).
    """
    ratio = prior_precision / precision
    return 0.5 * (d * (ratio - 1.0 - np.log(ratio)) + prior_precision * distance)


def wishart(
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


def symmetric(natural: FloatArray, expected: FloatArray) -> FloatArray:
    """Return ⟨η_k − η_l, E_k T − E_l T⟩ of all pairs, from η and E T, both (components, statistics)."""
    # Differences first: the products alone are far larger than what is left of them.
    return np.stack(
        [((natural - eta) * (expected - mean)).sum(axis=1) for eta, mean in zip(natural, expected, strict=True)]
    )


def symmetric_gamma(shapes: FloatArray, rates: FloatArray) -> FloatArray:
    """Return the symmetric divergences of products of Gamma distributions, both arguments (components, columns)."""
    natural = np.concatenate([shapes, -rates], axis=1)
    return symmetric(natural, np.concatenate([digamma(shapes) - np.log(rates), shapes / rates], axis=1))
