"""Mixing weights by maximum likelihood: of plain mixtures, and of link models.

The prior of the classes of a link model is normalised over the assignments that respect the links. The normaliser
depends on the weights, so their update is not a ratio of counts.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize

from sidelight._typing import AnyArray, FloatArray, IntArray
from sidelight.kernels.loops import log_sum_of_others

# The weight of an empty component or class: its logarithm stays finite, and it stays empty.
_SMALLEST = np.finfo(float).tiny
# Half the squared Newton decrement is the rise still possible; below this, per draw, it is rounding.
_PRECISION = 1e-14
_MAX_STEPS = 50
_MAX_HALVINGS = 30


@dataclass(frozen=True, eq=False)
class MaximumLikelihoodWeights:
    """Weight of a component = weight of its class × its share within the class.

    The two are counted differently. A block of rows that share a class is one draw of that class (Shental et al. 2004)
    but one draw of a component for each of its rows. Without blocks the weight is the usual N_k / n.

    ``classes`` has the class of each component.
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


def class_log_weights(log_weights: FloatArray, classes: IntArray) -> FloatArray:
    """Return the log weights (classes,) of classes from those of their components."""
    return _log_normalised(np.bincount(classes, weights=np.exp(log_weights - log_weights.max())))


def _log_normalised(weights: AnyArray) -> FloatArray:
    return np.log(np.maximum(weights / weights.sum(), _SMALLEST))


@dataclass(frozen=True, eq=False)
class ConditionalWeights(MaximumLikelihoodWeights):
    """Class weights α with the normaliser Z(α) of a graph of links (Shental et al. 2004).

    The weights maximise Σ_m n_m ln α_m − ln Z(α), where Z is the probability that independent draws of the classes
    respect the links. ln Z is convex in ln α, and its gradient is the expected number of draws of each class under the
    links alone, so a quasi-Newton method (L-BFGS) finds the maximum. The result is never lower than the start. For
    pairs that share no row, :class:`PairWeights` also uses the Hessian. ``normaliser`` takes ln α (classes,) and
    returns ln Z and its gradient (classes,).
    """

    normaliser: Callable[[FloatArray], tuple[float, FloatArray]]

    def update(self, component_mass: FloatArray, class_mass: FloatArray, previous: FloatArray | None) -> FloatArray:
        """Return log weights (components,) at which the objective is at least as high as at the previous ones."""
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
        options = {"maxiter": 100, "ftol": 1e-12, "gtol": 1e-12}
        found = minimize(cost, start, jac=True, method="L-BFGS-B", options=options)
        best = found.x if found.fun < before else start
        return super().update(component_mass, np.exp(best - best.max()), previous)

    def log_prior(self, parameters: FloatArray) -> float:
        """Return −ln Z(α), the part of the normaliser in the objective."""
        return -self.normaliser(class_log_weights(parameters, self.classes))[0]


@dataclass(frozen=True, eq=False)
class PairWeights(MaximumLikelihoodWeights):
    """Class weights α with the normaliser of cannot-linked pairs that share no row (Yu et al.).

    A pair has the classes m ≠ m' with probability α_m α_m' / (1 − Σα²), so the weights maximise
    Σ_m n_m ln α_m − q ln(1 − Σα²) for q pairs and n_m draws of class m. In θ = ln α this is concave, and Newton's
    method takes a few steps; in α, where Yu et al. (eq. 19) call it convex, it is not. With two classes α ∝ n − q.
    ``n_apart`` is q.
    """

    n_apart: float

    def update(self, component_mass: FloatArray, class_mass: FloatArray, previous: FloatArray | None) -> FloatArray:
        """Return the log weights (components,) that maximise the objective; classes start equal."""
        if previous is None:
            return super().update(component_mass, np.ones_like(class_mass), None)
        if self.n_apart == 0:
            return super().update(component_mass, class_mass, previous)
        log_weights = class_log_weights(previous, self.classes)
        if len(class_mass) == 2:
            draws = np.maximum(class_mass - self.n_apart, 0.0)
            # Pairs alone are not informative: every pair has one row of each class.
            informative = draws.sum() > _PRECISION * class_mass.sum()
            return super().update(component_mass, draws if informative else np.exp(log_weights), previous)
        best = newton(class_mass, self.n_apart, log_weights).log_weights
        return super().update(component_mass, np.exp(best), previous)

    def log_prior(self, parameters: FloatArray) -> float:
        """Return −q ln(1 − Σα²), the part of the normaliser in the objective."""
        if self.n_apart == 0:
            return 0.0
        return -self.n_apart * _log_chance_to_differ(class_log_weights(parameters, self.classes))


class NewtonResult(NamedTuple):
    """Log weights (classes,) at the maximum, and the number of gradients computed on the way."""

    log_weights: FloatArray
    n_steps: int


def newton(draws: FloatArray, n_apart: float, log_weights: FloatArray) -> NewtonResult:
    """Maximise Σ_m n_m ln α_m − q ln(1 − Σα²) by Newton's method with step halving.

    ``draws`` (classes,) are n, the expected numbers; ``n_apart`` is q; ``log_weights`` (classes,) are where to start.
    """
    tolerance = _PRECISION * draws.sum()
    value = _objective(draws, n_apart, log_weights)
    n_steps = 0
    while n_steps < _MAX_STEPS:
        n_steps += 1
        gradient, negative_hessian = _derivatives(draws, n_apart, log_weights)
        # Adding a constant to θ changes nothing, so the Hessian is singular along it.
        shift = max(negative_hessian.trace(), tolerance) / len(draws)
        direction = np.linalg.lstsq(negative_hessian + shift / len(draws), gradient, rcond=None)[0]
        if gradient @ direction < tolerance:
            break
        for _ in range(_MAX_HALVINGS):
            scores = log_weights + direction
            moved = _log_normalised(np.exp(scores - scores.max()))
            higher = _objective(draws, n_apart, moved)
            if higher >= value:
                break
            direction = direction / 2
        else:
            break
        log_weights, value = moved, higher
    return NewtonResult(log_weights, n_steps)


def _log_chance_to_differ(log_weights: FloatArray) -> float:
    """Return ln(1 − Σα²) = ln Σ_m α_m (1 − α_m)."""
    return float(np.logaddexp.reduce(log_weights + log_sum_of_others(log_weights)))


def _objective(draws: FloatArray, n_apart: float, log_weights: FloatArray) -> float:
    return float(draws @ log_weights) - n_apart * _log_chance_to_differ(log_weights)


def _derivatives(draws: FloatArray, n_apart: float, log_weights: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return gradient and negative Hessian in θ: draws minus their expectation, and their covariance."""
    weights = np.exp(log_weights)
    to_differ = _log_chance_to_differ(log_weights)
    in_pair = 2 * np.exp(log_weights + log_sum_of_others(log_weights) - to_differ)
    both = 2 * np.exp(log_weights[:, None] + log_weights - to_differ)
    np.fill_diagonal(both, in_pair)
    alone = draws.sum() - 2 * n_apart
    negative_hessian = alone * (np.diag(weights) - np.outer(weights, weights))
    negative_hessian += n_apart * (both - np.outer(in_pair, in_pair))
    return draws - alone * weights - n_apart * in_pair, negative_hessian
