"""Gaussians with free covariances that have an upper bound."""

from dataclasses import dataclass

import numpy as np

from sidelight._storable import storable
from sidelight._typing import FloatArray
from sidelight.families.exponential import GaussianStatistics
from sidelight.families.gaussian.full import FullGaussian, FullParameters, precision_factors


@storable("BoundedGaussian")
@dataclass(frozen=True, eq=False)
class BoundedGaussian(FullGaussian):
    """Gaussians with free covariances Σ, none wider than W in any direction: W − Σ has no negative eigenvalue.

    Rows far out make a component of their own where nothing stops its covariance from growing (García-Escudero et al.
    2008 bound the ratio of eigenvalues, which depends on units). With W that of a table without such rows, it cannot.

    Without the bound −½ [N ln|Σ| + tr(S Σ⁻¹)], prior included, is largest at S / N. In coordinates in which W is the
    identity let S / N = U diag(s) Uᵀ. Under the bound the largest value is at U diag(min(s, 1)) Uᵀ, because precisions
    with the eigenvectors of S have the smallest trace with it (von Neumann), and each eigenvalue then has its own
    maximum.
    """

    widest: FloatArray

    def update(self, statistics: GaussianStatistics) -> FullParameters:
        """Return the parameters that maximise the expected log density plus the prior under the bound."""
        free = super().update(statistics)
        covariances = bounded(free.covariances, self.widest)
        return free if covariances is free.covariances else self.parameters(free.means, covariances)


def bounded(covariances: FloatArray, widest: FloatArray) -> FloatArray:
    """Return covariances (k, d, d) with what exceeds the widest one (d, d) taken off; themselves if nothing does."""
    factor, root = precision_factors(widest), np.linalg.cholesky(widest)
    values, vectors = np.linalg.eigh(factor @ covariances @ factor.T)
    if values.max() <= 1:
        return covariances
    directions = root @ vectors
    excess = (directions * np.maximum(values - 1, 0.0)[:, None, :]) @ directions.swapaxes(1, 2)
    return np.asarray(covariances - 0.5 * (excess + excess.swapaxes(1, 2)))
