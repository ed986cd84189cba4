"""Mixing weights where classes are drawn given links."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize

from sidelight._typing import FloatArray
from sidelight.weights.maximum_likelihood import MaximumLikelihoodWeights
from sidelight.weights.pair_weights import class_log_weights

_PRECISION = 1e-12
_MOST_STEPS = 100


@dataclass(frozen=True, eq=False)
class ConditionalWeights(MaximumLikelihoodWeights):
    """Class weights α when the classes of linked rows are drawn until they respect the links (Shental et al. 2004).

    The weights maximise Σ_m n_m ln α_m − ln Z(α), where Z is the chance that independent draws respect the links. ln Z
    is convex in ln α and its gradient is the number of draws of each class that links alone lead to expect, so that a
    quasi-Newton method (L-BFGS) finds the maximum; it never returns less than it started with. For pairs that share no
    row :class:`PairWeights` has the Hessian too.

    Parameters
    ----------
    classes : (components,)
        The class of each component.
    normaliser : callable
        Takes ln α (classes,), returns ln Z and its gradient (classes,).
    """

    normaliser: Callable[[FloatArray], tuple[float, FloatArray]]

    def update(self, component_mass: FloatArray, class_mass: FloatArray, previous: FloatArray | None) -> FloatArray:
        """Return log weights (components,) at which the objective is no lower than at the previous ones."""
        if previous is None:
            return super().update(component_mass, class_mass, None)
        start = class_log_weights(previous, self.classes)
        scale = 1.0 / class_mass.sum()

        def cost(scores: FloatArray) -> tuple[float, FloatArray]:
            log_weights = scores - np.logaddexp.reduce(scores)
            log_partition, expected = self.normaliser(log_weights)
            surplus = class_mass - expected
            gradient = surplus - surplus.sum() * np.exp(log_weights)
            return -scale * float(class_mass @ log_weights - log_partition), -scale * gradient

        before = cost(start)[0]
        found = minimize(
            cost,
            start,
            jac=True,
            method="L-BFGS-B",
            options={"maxiter": _MOST_STEPS, "ftol": _PRECISION, "gtol": _PRECISION},
        )
        best = found.x if found.fun < before else start
        return super().update(component_mass, np.exp(best - best.max()), previous)

    def log_prior(self, parameters: FloatArray) -> float:
        """Return −ln Z(α), what respecting the links costs the classes."""
        return -self.normaliser(class_log_weights(parameters, self.classes))[0]
