"""Mixing weights: by maximum likelihood, with the normalisers of link models, with Bayesian priors, and with noise."""

from sidelight.weights.bayesian import (
    DirichletWeights,
    Gamma,
    GivenConcentration,
    LearnedConcentration,
    StickBreakingWeights,
)
from sidelight.weights.maximum_likelihood import ConditionalWeights, MaximumLikelihoodWeights, PairWeights
from sidelight.weights.noise import Beta, ClusterWeights, GivenShare, LearnedShare, NoiseWeights

__all__ = [
    "Beta",
    "ClusterWeights",
    "ConditionalWeights",
    "DirichletWeights",
    "Gamma",
    "GivenConcentration",
    "GivenShare",
    "LearnedConcentration",
    "LearnedShare",
    "MaximumLikelihoodWeights",
    "NoiseWeights",
    "PairWeights",
    "StickBreakingWeights",
]
