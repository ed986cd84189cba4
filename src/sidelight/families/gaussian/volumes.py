"""Scatter with its prior, and the volumes and shapes that covariances may share.

A covariance is λ D A Dᵀ: volume λ = |Σ|^(1/d), shape A (diagonal, |A| = 1) and orientation D (Banfield and Raftery
1993; Celeux and Govaert 1995). mclust's names have a letter for each of the three: E where all components share it, V
where each has its own, I where the shape is round or the orientation that of the axes.
"""

from typing import NamedTuple

import numpy as np

from sidelight._typing import FloatArray
from sidelight.families.exponential import GaussianStatistics
from sidelight.families.gaussian.full import CovariancePrior, positive_variances, powers_of_two

# A component that owns nothing, without a prior, counts as this share of a row, spread like the table: it gets a
# covariance of its own and adds nothing to what the components share.
_VANISHING = 1e-200
# Volumes and shapes are found in turns until no volume changes by more, relatively.
_TOLERANCE = 1e-12
_MOST_TURNS = 10_000


class Scatter(NamedTuple):
    """What the covariances are made of: Σ r (components,), and Σ r (x − m)(x − m)ᵀ or its diagonals, with the prior."""

    rows: FloatArray
    sums: FloatArray


def scatter_matrices(statistics: GaussianStatistics, prior: CovariancePrior) -> Scatter:
    """Return the scatter matrices (components, d, d) about the means; every component has the prior."""
    offsets = statistics.offsets()
    sums = statistics.second - np.einsum("k,ki,kj->kij", statistics.mass, offsets, offsets)
    return _owned(statistics.mass, sums, prior, np.diag(prior.scatter), np.diag(prior.spread))


def scatter_squares(statistics: GaussianStatistics, prior: CovariancePrior) -> Scatter:
    """Return the diagonals (components, d) of the scatter matrices, from the diagonals of the second moments."""
    offsets = statistics.offsets()
    # Rounding may leave a little less than nothing.
    sums = np.maximum(statistics.second - statistics.mass[:, None] * np.square(offsets), 0.0)
    return _owned(statistics.mass, sums, prior, prior.scatter, prior.spread)


def _owned(
    mass: FloatArray, sums: FloatArray, prior: CovariancePrior, prior_sums: FloatArray, spread: FloatArray
) -> Scatter:
    """Add the prior to each component, and a vanishing share of a row to those that own nothing then."""
    rows = mass + prior.rows
    owned = rows > np.finfo(float).tiny
    shaped = owned.reshape(-1, *[1] * (sums.ndim - 1))
    return Scatter(np.where(owned, rows, _VANISHING), np.where(shaped, sums + prior_sums, _VANISHING * spread))


class ScaledScatter(NamedTuple):
    """Scatter matrices of columns divided by their units (d,)."""

    rows: FloatArray
    sums: FloatArray
    units: FloatArray


def in_common_units(scatter: Scatter) -> ScaledScatter:
    """Return scatter matrices of columns brought to one scale, for structures that do not depend on units.

    Eigenvalues of matrices whose columns differ by 1e8 in scale are lost to rounding.
    """
    units = powers_of_two(np.sqrt(np.diagonal(scatter.sums.sum(axis=0))))
    return ScaledScatter(scatter.rows, scatter.sums / units[:, None] / units, units)


def geometric_means(values: FloatArray) -> FloatArray:
    """Return the geometric means over the last axis; zero where one of the values is."""
    return np.exp(np.log(positive_variances(values)).mean(axis=-1))


def equal_volumes(scatter: Scatter) -> FloatArray:
    """Return the variances (components, d) of equal volume: EVI, and EVE along its axes.

    Each shape is that of the sums s_k, and λ = Σ_k |s_k|^(1/d) / Σ_k n_k (Celeux and Govaert 1995, section 2.1).
    """
    volumes = geometric_means(scatter.sums)
    return (volumes.sum() / scatter.rows.sum() / volumes)[:, None] * scatter.sums


def equal_shapes(scatter: Scatter) -> FloatArray:
    """Return the variances (components, d) of equal shape and different volumes: VEI, and VEV along its axes.

    λ_k = Σ_j s_kj / (d n_k a_j) and a_j ∝ Σ_k s_kj / λ_k in turns (Celeux and Govaert 1995, section 2.1), until nothing
    changes: in logarithms the problem is convex, so that there is one solution wherever the turns start.
    """
    rows, sums = scatter
    cells = rows * sums.shape[1]
    units = powers_of_two(sums.sum(axis=0))
    sums = sums / units
    volumes = positive_variances(sums.sum(axis=1) / cells)
    for _ in range(_MOST_TURNS):
        shape = (sums / volumes[:, None]).sum(axis=0)
        shape /= geometric_means(shape)
        before, volumes = volumes, (sums / shape).sum(axis=1) / cells
        if np.all(np.abs(volumes - before) <= _TOLERANCE * volumes):
            break
    return volumes[:, None] * (shape * units)


def proportional(scatter: Scatter) -> FloatArray:
    """Return proportional covariances λ_k C (components, d, d): VEE.

    λ_k = tr(S_k C⁻¹) / (d n_k) and C ∝ Σ_k S_k / λ_k in turns (Celeux and Govaert 1995, section 2.2), until nothing
    changes; along the geodesics of covariance matrices the problem is convex.
    """
    rows, sums, units = in_common_units(scatter)
    d = sums.shape[1]
    volumes = positive_variances(np.trace(sums, axis1=1, axis2=2) / (d * rows))
    for _ in range(_MOST_TURNS):
        common = (sums / volumes[:, None, None]).sum(axis=0)
        values, vectors = np.linalg.eigh(common)
        volume = geometric_means(values)
        precision = (vectors * (volume / values)) @ vectors.T
        before, volumes = volumes, np.einsum("kij,ij->k", sums, precision) / (d * rows)
        if np.all(np.abs(volumes - before) <= _TOLERANCE * volumes):
            break
    return volumes[:, None, None] * (common / volume * units[:, None] * units)
