"""Gaussian components along the axes that share volume, shape or both: EII, EEI, VEI and EVI (VII and VVI are free)."""

from dataclasses import dataclass

import numpy as np

from sidelight._storable import storable
from sidelight.families.exponential import GaussianStatistics
from sidelight.families.gaussian.diagonal import DiagonalGaussian, DiagonalParameters
from sidelight.families.gaussian.spherical import SphericalGaussian, SphericalParameters
from sidelight.families.gaussian.volumes import equal_shapes, equal_volumes, scatter_squares


@storable("EIIGaussian")
@dataclass(frozen=True, eq=False)
class EIIGaussian(SphericalGaussian):
    """Round components of equal volume: one variance for all. There is one covariance, and it has the prior once."""

    def update(self, statistics: GaussianStatistics) -> SphericalParameters:
        """Return the parameters that maximise the expected log density plus the prior: tr(Σ_k S_k + Ψ) / d(N + ν)."""
        offsets = statistics.offsets()
        squares = statistics.second.sum() - statistics.mass @ np.square(offsets).sum(axis=1)
        cells = (statistics.mass.sum() + self.prior.rows) * len(self.centre)
        variance = (squares + self.prior.scatter.sum()) / cells
        return self.parameters(statistics.origin + offsets, np.full(len(offsets), variance))

    def log_prior(self, parameters: SphericalParameters) -> float:
        """Return the prior's part of the objective."""
        return super().log_prior(self.select(parameters, np.zeros(1, dtype=np.int64)))

    def n_parameters(self, n_components: int) -> int:
        """Return the number of free parameters."""
        return n_components * len(self.centre) + 1


@storable("EEIGaussian")
@dataclass(frozen=True, eq=False)
class EEIGaussian(DiagonalGaussian):
    """Components of equal volume and shape along the axes. There is one covariance, and it has the prior once."""

    def update(self, statistics: GaussianStatistics) -> DiagonalParameters:
        """Return the parameters that maximise the expected log density plus the prior: (Σ_k s_k + ψ) / (N + ν)."""
        offsets = statistics.offsets()
        squares = statistics.second.sum(axis=0) - statistics.mass @ np.square(offsets)
        variances = (squares + self.prior.scatter) / (statistics.mass.sum() + self.prior.rows)
        return self.parameters(statistics.origin + offsets, np.repeat(variances[None], len(offsets), axis=0))

    def log_prior(self, parameters: DiagonalParameters) -> float:
        """Return the prior's part of the objective."""
        return super().log_prior(self.select(parameters, np.zeros(1, dtype=np.int64)))

    def n_parameters(self, n_components: int) -> int:
        """Return the number of free parameters."""
        return (n_components + 1) * len(self.centre)


@storable("VEIGaussian")
@dataclass(frozen=True, eq=False)
class VEIGaussian(DiagonalGaussian):
    """Components of equal shape along the axes, each with a volume of its own."""

    def update(self, statistics: GaussianStatistics) -> DiagonalParameters:
        """Return the parameters that maximise the expected log density plus the prior."""
        return self.parameters(statistics.means(), equal_shapes(scatter_squares(statistics, self.prior)))

    def n_parameters(self, n_components: int) -> int:
        """Return the number of free parameters."""
        d = len(self.centre)
        return n_components * (d + 1) + d - 1


@storable("EVIGaussian")
@dataclass(frozen=True, eq=False)
class EVIGaussian(DiagonalGaussian):
    """Components of equal volume along the axes, each with a shape of its own."""

    def update(self, statistics: GaussianStatistics) -> DiagonalParameters:
        """Return the parameters that maximise the expected log density plus the prior."""
        return self.parameters(statistics.means(), equal_volumes(scatter_squares(statistics, self.prior)))

    def n_parameters(self, n_components: int) -> int:
        """Return the number of free parameters."""
        d = len(self.centre)
        return n_components * (2 * d - 1) + 1
