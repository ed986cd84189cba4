"""The Dirichlet's parameter α, by Newton's method with the inverse Hessian in O(K)."""

import numpy as np
from scipy.special import digamma, polygamma

from sidelight._typing import FloatArray
from sidelight.admixture.model import ALPHA_RANGE, log_normaliser

_MAX_STEPS = 100
_MAX_HALVINGS = 40
_SLOPE_WORTH_FOLLOWING = 1e-10


def maximise_alpha(alpha: FloatArray, mean_log: FloatArray) -> FloatArray:
    """Return the α that maximises ln Γ(Σα) − Σ ln Γ(α_k) + Σ α_k E_k, found from where it stands.

    Newton's method as in the appendix of Li, Ying and Campbell (after Blei et al. 2003), made safe: the objective is
    concave, steps are halved until they stay in the range of α and do not lower it, and an α_k that presses against an
    end of the range is left there.

    Parameters
    ----------
    alpha : (K,)
    mean_log : (K,)
        The mean over blocks of E ln θ_ck.
    """
    low, high = ALPHA_RANGE

    def objective(candidate: FloatArray) -> float:
        return float(log_normaliser(candidate) + candidate @ mean_log)

    height = objective(alpha)
    for _ in range(_MAX_STEPS):
        gradient = digamma(alpha.sum()) - digamma(alpha) + mean_log
        free = ~((alpha <= low) & (gradient < 0)) & ~((alpha >= high) & (gradient > 0))
        if np.abs(gradient * alpha)[free].max(initial=0.0) < _SLOPE_WORTH_FOLLOWING:
            break
        step = _newton_step(alpha, gradient, free)
        for _ in range(_MAX_HALVINGS):
            candidate = np.clip(alpha + step, low, high)
            reached = objective(candidate)
            if reached >= height:
                break
            step = step / 2
        else:
            break
        if np.array_equal(candidate, alpha):
            break
        alpha, height = candidate, reached
    return alpha


def _newton_step(alpha: FloatArray, gradient: FloatArray, free: FloatArray) -> FloatArray:
    """Return −H⁻¹g, of the free ones; H = ψ'(Σα) 11ᵀ − diag ψ'(α) is inverted by the Sherman-Morrison formula."""
    curvature = np.where(free, 1.0 / polygamma(1, alpha), 0.0)
    shared = polygamma(1, alpha.sum())
    common = shared * (curvature @ gradient) / (1.0 - shared * curvature.sum())
    return curvature * (gradient + common)
