"""Gaussian components with free orientations that share volume or shape (EEV, VEV, EVV), or with one for all (VEE)."""

from dataclasses import dataclass

import numpy as np

from sidelight._storable import storable
from sidelight._typing import FloatArray
from sidelight.exceptions import SingularCovarianceError
from sidelight.families.exponential import GaussianStatistics
from sidelight.families.gaussian.full import FullGaussian, FullParameters
from sidelight.families.gaussian.volumes import (
    Scatter,
    equal_shapes,
    geometric_means,
    in_common_units,
    proportional,
    scatter_matrices,
)


@storable("EEVGaussian")
@dataclass(frozen=True, eq=False)
class EEVGaussian(FullGaussian):
    """Components of equal volume and shape, each with an orientation of its own."""

    def update(self, statistics: GaussianStatistics) -> FullParameters:
        """Return the parameters that maximise the expected log density plus the prior.

        With S_k = L_k Ω_k L_kᵀ, the eigenvalues of all in the same order, λA = Σ_k Ω_k / n and D_k = L_k (Celeux and
        Govaert 1995, section 2.3).
        """
        scatter = scatter_matrices(statistics, self.prior)
        values, vectors = _principal(scatter.sums)
        variances = np.broadcast_to(values.sum(axis=0) / scatter.rows.sum(), values.shape)
        return self.parameters(statistics.means(), _along(vectors, variances))

    def n_parameters(self, n_components: int) -> int:
        """Return the number of free parameters."""
        d = len(self.centre)
        return n_components * (d + d * (d - 1) // 2) + d


@storable("VEVGaussian")
@dataclass(frozen=True, eq=False)
class VEVGaussian(FullGaussian):
    """Components of equal shape, each with a volume and an orientation of its own."""

    def update(self, statistics: GaussianStatistics) -> FullParameters:
        """Return the parameters that maximise the expected log density plus the prior.

        D_k are the eigenvectors of S_k, and volumes and shape follow from the eigenvalues (Celeux and Govaert 1995,
        section 2.3).
        """
        scatter = scatter_matrices(statistics, self.prior)
        values, vectors = _principal(scatter.sums)
        variances = equal_shapes(Scatter(scatter.rows, values))
        return self.parameters(statistics.means(), _along(vectors, variances))

    def n_parameters(self, n_components: int) -> int:
        """Return the number of free parameters."""
        d = len(self.centre)
        return n_components * (d + 1 + d * (d - 1) // 2) + d - 1


@storable("EVVGaussian")
@dataclass(frozen=True, eq=False)
class EVVGaussian(FullGaussian):
    """Components of equal volume, each with a shape and an orientation of its own."""

    def update(self, statistics: GaussianStatistics) -> FullParameters:
        """Return the parameters that maximise the expected log density plus the prior.

        λ = Σ_k |S_k|^(1/d) / n, and Σ_k is S_k scaled to that volume (Celeux and Govaert 1995, section 2.3). Only the
        ratios of the volumes matter, which do not depend on units.
        """
        scatter = scatter_matrices(statistics, self.prior)
        volumes = geometric_means(np.asarray(np.linalg.eigvalsh(in_common_units(scatter).sums), dtype=np.float64))
        scales = volumes.sum() / scatter.rows.sum() / volumes
        return self.parameters(statistics.means(), scales[:, None, None] * scatter.sums)

    def n_parameters(self, n_components: int) -> int:
        """Return the number of free parameters."""
        d = len(self.centre)
        return n_components * (d + d * (d + 1) // 2 - 1) + 1


@storable("VEEGaussian")
@dataclass(frozen=True, eq=False)
class VEEGaussian(FullGaussian):
    """Components with proportional covariances: equal shape and orientation, each with a volume of its own."""

    def update(self, statistics: GaussianStatistics) -> FullParameters:
        """Return the parameters that maximise the expected log density plus the prior."""
        return self.parameters(statistics.means(), proportional(scatter_matrices(statistics, self.prior)))

    def n_parameters(self, n_components: int) -> int:
        """Return the number of free parameters."""
        d = len(self.centre)
        return n_components * (d + 1) + d * (d + 1) // 2 - 1


def _principal(sums: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the eigenvalues (components, d) and eigenvectors (components, d, d) of scatter matrices.

    A shape that components share along axes of their own compares columns, so that their units matter. Eigenvalues that
    rounding has lost are refused.
    """
    values, vectors = np.linalg.eigh(sums)
    lost = values[:, 0] <= np.finfo(float).eps * values[:, -1]
    if lost.any():
        squares = np.diagonal(sums[np.argmax(lost)])
        if 0 < squares.min() <= np.finfo(float).eps * squares.max():
            raise SingularCovarianceError(
                f"One column varies {np.sqrt(squares.max()) / np.sqrt(squares.min()):.1g} times as much as another, "
                "too much to compare their directions. Standardise the columns, or use a covariance_type that does not "
                "depend on units, such as 'full', 'tied', 'diag', 'VEE' or 'EVV'."
            )
    return np.maximum(values, 0.0), vectors


def _along(vectors: FloatArray, variances: FloatArray) -> FloatArray:
    """Return the covariances (components, d, d) with these variances (components, d) along these directions."""
    return np.einsum("kij,kj,klj->kil", vectors, variances, vectors)
