"""Mixing weights by maximum likelihood."""

from dataclasses import dataclass

import numpy as np

from sidelight._typing import FloatArray, IntArray

# The weight of an empty component: its logarithm stays finite, and it stays empty.
_SMALLEST = np.finfo(float).tiny


@dataclass(frozen=True, eq=False)
class MaximumLikelihoodWeights:
    """Weight of a component = weight of its class × its share within the class.

    The two are counted differently. A block of rows that share a class is one draw of that class (Shental et al. 2004)
    but one draw of a component for each of its rows. Without blocks the weight is the usual N_k / n.

    Parameters
    ----------
    classes : (components,)
        The class of each component.
    """

    classes: IntArray

    def update(self, component_mass: FloatArray, class_mass: FloatArray, previous: FloatArray | None) -> FloatArray:
        """Return the log weights (components,) that maximise the expected log probability of the assignments."""
        within = np.bincount(self.classes, weights=component_mass, minlength=len(class_mass))
        share = component_mass / np.maximum(within, _SMALLEST)[self.classes]
        weights = share * (class_mass / class_mass.sum())[self.classes]
        return np.log(np.maximum(weights, _SMALLEST))

    def log(self, parameters: FloatArray) -> FloatArray:
        """Return the log weights, which are the parameters themselves."""
        return parameters

    def mean(self, parameters: FloatArray) -> FloatArray:
        """Return the weights."""
        weights = np.exp(parameters)
        return weights / weights.sum()

    def log_prior(self, parameters: FloatArray) -> float:
        """Return 0: maximum likelihood has no prior."""
        return 0.0
