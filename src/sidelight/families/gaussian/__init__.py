"""Gaussian emissions by maximum likelihood with an optional covariance prior (MAP)."""

from sidelight.families.gaussian.axis_parallel import EEIGaussian, EIIGaussian, EVIGaussian, VEIGaussian
from sidelight.families.gaussian.bounded import BoundedGaussian
from sidelight.families.gaussian.common_orientation import EVEGaussian, VVEGaussian
from sidelight.families.gaussian.date import Date
from sidelight.families.gaussian.diagonal import DiagonalGaussian
from sidelight.families.gaussian.full import CovariancePrior, FullGaussian, Gaussian
from sidelight.families.gaussian.own_orientation import EEVGaussian, EVVGaussian, VEEGaussian, VEVGaussian
from sidelight.families.gaussian.spherical import SphericalGaussian
from sidelight.families.gaussian.tied import TiedGaussian

__all__ = [
    "BoundedGaussian",
    "CovariancePrior",
    "Date",
    "DiagonalGaussian",
    "EEIGaussian",
    "EEVGaussian",
    "EIIGaussian",
    "EVEGaussian",
    "EVIGaussian",
    "EVVGaussian",
    "FullGaussian",
    "Gaussian",
    "SphericalGaussian",
    "TiedGaussian",
    "VEEGaussian",
    "VEIGaussian",
    "VEVGaussian",
    "VVEGaussian",
]
