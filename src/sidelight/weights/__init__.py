"""Mixing weights: how large the components are."""

from sidelight.weights.maximum_likelihood import MaximumLikelihoodWeights

__all__ = ["MaximumLikelihoodWeights"]
