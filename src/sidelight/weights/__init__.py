"""Sizes of the components: by maximum likelihood, with pairs that differ, with priors, and as broken sticks."""

from sidelight.weights.concentration import Gamma, GivenConcentration, LearnedConcentration
from sidelight.weights.conditional import ConditionalWeights
from sidelight.weights.dirichlet import DirichletWeights
from sidelight.weights.maximum_likelihood import MaximumLikelihoodWeights
from sidelight.weights.pair_weights import PairWeights
from sidelight.weights.stick_breaking import StickBreakingWeights

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
