"""Mixing weights: by maximum likelihood, with the normalisers of link models, and with Bayesian priors."""

from sidelight.weights.bayesian import (
    DirichletWeights,
    Gamma,
    GivenConcentration,
    LearnedConcentration,
    StickBreakingWeights,
)
from sidelight.weights.link_normalisers import ConditionalWeights, PairWeights
from sidelight.weights.maximum_likelihood import MaximumLikelihoodWeights

__all__ = [
    "ConditionalWeights",
    "DirichletWeights",
    "Gamma",
    "GivenConcentration",
    "LearnedConcentration",
    "MaximumLikelihoodWeights",
    "PairWeights",
    "StickBreakingWeights",
]
