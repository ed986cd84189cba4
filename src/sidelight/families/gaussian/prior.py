"""The prior on covariances: what keeps a component from collapsing onto a few rows."""

from dataclasses import dataclass

import numpy as np

from sidelight._storable import storable
from sidelight._typing import FloatArray


@storable("CovariancePrior")
@dataclass(frozen=True, eq=False)
class CovariancePrior:
    """A penalty -½ [ν ln|Σ| + tr(Ψ Σ⁻¹)] with diagonal Ψ; the covariance that maximises is (S + Ψ) / (N + ν).

    It is part of the objective, so that every step still raises it; a ridge added after the step does not.

    Parameters
    ----------
    scatter : (d,)
        The diagonal of Ψ.
    rows : float
        ν, the number of rows the prior counts for.
    spread : (d,)
        Variances of the whole table: the covariance of a component that owns no row when there is no prior.
    """

    scatter: FloatArray
    rows: float
    spread: FloatArray

    @classmethod
    def scaled(cls, variances: FloatArray, *, rows: float, fraction: float) -> "CovariancePrior":
        """Return the prior worth ``rows`` rows whose variances are a ``fraction`` of the table's.

        A column that never changes has no variance to scale by; it takes the mean variance of the others.
        """
        positive = variances[variances > 0]
        spread = np.where(variances > 0, variances, positive.mean() if positive.size else 1.0)
        return cls(scatter=rows * fraction * spread, rows=rows, spread=spread)

    def log_density(self, log_determinant: FloatArray, precision_diagonal: FloatArray) -> float:
        """Return the penalty summed over covariances.

        Parameters
        ----------
        log_determinant : (m,)
            ln|Σ| of each covariance.
        precision_diagonal : (m, d)
            Diagonals of the inverses.
        """
        return float(-0.5 * (self.rows * log_determinant.sum() + (precision_diagonal @ self.scatter).sum()))
