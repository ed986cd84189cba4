"""Mixing weights where some pairs of rows are known to differ."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from sidelight._typing import FloatArray, IntArray
from sidelight.kernels.logspace import log_sum_of_others
from sidelight.weights.maximum_likelihood import MaximumLikelihoodWeights

_MOST_STEPS = 50
_MOST_HALVINGS = 30
# Half the squared Newton decrement is the rise still to be had; below this it is rounding, per draw.
_PRECISION = 1e-14
# A class nobody draws keeps this weight, which is as good as none and leaves its logarithm finite.
_SMALLEST = np.finfo(float).tiny


@dataclass(frozen=True, eq=False)
class PairWeights(MaximumLikelihoodWeights):
    """Class weights α when the two classes of some pairs are drawn until they differ (Yu et al.).

    Such a pair has the classes m ≠ m' with probability α_m α_m' / (1 − Σα²), so the weights maximise
    Σ_m n_m ln α_m − q ln(1 − Σα²) for q pairs and n_m draws of class m. In θ = ln α this is concave, and Newton's
    method takes a few steps; in α, where Yu et al. (eq. 19) call it convex, it is not. With two classes α ∝ n − q.

    Parameters
    ----------
    classes : (components,)
        The class of each component.
    n_apart : float
        q, the number of pairs known to differ.
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
            # Pairs alone tell nothing: every pair has one row of each class.
            known = draws.sum() > _PRECISION * class_mass.sum()
            return super().update(component_mass, draws if known else np.exp(log_weights), previous)
        return super().update(component_mass, np.exp(_climb(class_mass, self.n_apart, log_weights)), previous)

    def log_prior(self, parameters: FloatArray) -> float:
        """Return −q ln(1 − Σα²), what the pairs' classes being different costs."""
        if self.n_apart == 0:
            return 0.0
        return -self.n_apart * _log_chance_to_differ(class_log_weights(parameters, self.classes))


def class_log_weights(log_weights: FloatArray, classes: IntArray) -> FloatArray:
    """Return the log weights (classes,) of classes from those of their components."""
    top = log_weights.max()
    weights = np.bincount(classes, weights=np.exp(log_weights - top))
    return np.log(np.maximum(weights / weights.sum(), _SMALLEST))


def _log_chance_to_differ(log_weights: FloatArray) -> float:
    """Return ln(1 − Σα²) = ln Σ_m α_m (1 − α_m)."""
    return float(np.logaddexp.reduce(log_weights + log_sum_of_others(log_weights)))


def _objective(draws: FloatArray, n_apart: float, log_weights: FloatArray) -> float:
    return float(draws @ log_weights) - n_apart * _log_chance_to_differ(log_weights)


class _Slope(NamedTuple):
    gradient: FloatArray
    curvature: FloatArray


def _slope(draws: FloatArray, n_apart: float, log_weights: FloatArray) -> _Slope:
    """Return gradient and negative Hessian in θ: draws minus their expectation, and their covariance."""
    weights = np.exp(log_weights)
    to_differ = _log_chance_to_differ(log_weights)
    in_pair = 2 * np.exp(log_weights + log_sum_of_others(log_weights) - to_differ)
    both = 2 * np.exp(log_weights[:, None] + log_weights - to_differ)
    np.fill_diagonal(both, in_pair)
    alone = draws.sum() - 2 * n_apart
    return _Slope(
        draws - alone * weights - n_apart * in_pair,
        alone * (np.diag(weights) - np.outer(weights, weights)) + n_apart * (both - np.outer(in_pair, in_pair)),
    )


def _climb(draws: FloatArray, n_apart: float, log_weights: FloatArray) -> FloatArray:
    """Return the log weights that maximise the objective, by Newton's method from a first guess."""
    enough = _PRECISION * draws.sum()
    value = _objective(draws, n_apart, log_weights)
    for _ in range(_MOST_STEPS):
        slope = _slope(draws, n_apart, log_weights)
        # Adding a constant to θ changes nothing, so the curvature is singular along it.
        shift = max(slope.curvature.trace(), enough) / len(draws)
        direction = np.linalg.lstsq(slope.curvature + shift / len(draws), slope.gradient, rcond=None)[0]
        if slope.gradient @ direction < enough:
            break
        for _ in range(_MOST_HALVINGS):
            moved = _normalised(log_weights + direction)
            higher = _objective(draws, n_apart, moved)
            if higher >= value:
                break
            direction = direction / 2
        else:
            break
        log_weights, value = moved, higher
    return log_weights


def _normalised(log_weights: FloatArray) -> FloatArray:
    weights = np.exp(log_weights - log_weights.max())
    return np.log(np.maximum(weights / weights.sum(), _SMALLEST))
