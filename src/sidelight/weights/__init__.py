"""Mixing weights: by maximum likelihood, with the normalisers of link models, and with Bayesian priors."""

from sidelight.weights.bayesian import (
    DirichletWeights,
    Gamma,
    GivenConcentration,
    LearnedConcentration,
    StickBreakingWeights,
)
from sidelight.weights.maximum_likelihood import ConditionalWeights, MaximumLikelihoodWeights, PairWeights

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
