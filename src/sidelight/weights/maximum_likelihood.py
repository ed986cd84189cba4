"""Mixing weights by maximum likelihood."""

from dataclasses import dataclass

import numpy as np

from sidelight._typing import FloatArray, IntArray

# A component that owns nothing keeps this weight: its logarithm stays finite, its rows do not come back.
_SMALLEST = np.finfo(float).tiny


@dataclass(frozen=True, eq=False)
class MaximumLikelihoodWeights:
    """Weight of a component = weight of its class × its share within the class.

    The two are counted differently. A block of rows that share a class is one draw of that class (Shental et al. 2004)
    but as many draws of a component as it has rows. Where no rows are tied together this is the usual N_k / n.

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
        """Return the prior's part of the objective: maximum likelihood has none."""
        return 0.0
