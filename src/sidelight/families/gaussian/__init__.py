"""Gaussian emissions by maximum likelihood with an optional covariance prior (MAP)."""

from sidelight.families.gaussian.date import Date
from sidelight.families.gaussian.diagonal import DiagonalGaussian
from sidelight.families.gaussian.full import CovariancePrior, FullGaussian, Gaussian
from sidelight.families.gaussian.spherical import SphericalGaussian
from sidelight.families.gaussian.tied import TiedGaussian

__all__ = [
    "CovariancePrior",
    "Date",
    "DiagonalGaussian",
    "FullGaussian",
    "Gaussian",
    "SphericalGaussian",
    "TiedGaussian",
]
