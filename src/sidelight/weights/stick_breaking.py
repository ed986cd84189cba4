"""Mixing weights of a Dirichlet process, by breaking a stick."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.special import betaln, digamma

from sidelight._storable import storable
from sidelight._typing import FloatArray, IntArray
from sidelight.weights.concentration import Concentration, Gamma

# Sticks and concentration are updated in turn until E η moves by less than this, relatively.
_SETTLED = 1e-6
_MOST_ROUNDS = 50


@storable("Sticks")
class Sticks(NamedTuple):
    """What is believed about the sticks.

    Parameters
    ----------
    order : (T,)
        The component that breaks off first, second, and so on.
    first, second : (T − 1,)
        Parameters of q(β) = Beta(first, second) of every stick but the last, which takes what is left.
    concentration : Gamma, optional
        q(η), None where it is given.
    """

    order: IntArray
    first: FloatArray
    second: FloatArray
    concentration: Gamma | None


@dataclass(frozen=True, eq=False)
class StickBreakingWeights:
    """Truncated stick-breaking: β_k ~ Beta(1, η), π_k = β_k Π_{l<k} (1 − β_l) (Blei and Jordan 2006).

    q(β_k) = Beta(1 + N_k, η + Σ_{l>k} N_l) as in Echraibi et al. 2019, appendix A, but the last stick is fixed,
    q(β_T = 1) = 1, without which the weights of a truncated process do not sum to one. Which component breaks off
    first is part of what is optimised: the largest, unless another order raises the bound (Kurihara et al. 2007).

    Parameters
    ----------
    n_components : int
        T, where the process is truncated.
    concentration : Concentration
    """

    n_components: int
    concentration: Concentration

    @property
    def classes(self) -> IntArray:
        """Every component is a class of its own."""
        return np.arange(self.n_components)

    def update(self, component_mass: FloatArray, class_mass: FloatArray, previous: Sticks | None) -> Sticks:
        """Return the sticks that maximise the bound given the counts of the components."""
        belief = None if previous is None else previous.concentration
        largest_first = self._settle(class_mass, np.argsort(-class_mass, kind="stable"), belief)
        if previous is None or np.array_equal(previous.order, largest_first.order):
            return largest_first
        as_before = self._settle(class_mass, previous.order, belief)
        return max(largest_first, as_before, key=lambda sticks: self._value(sticks, class_mass))

    def _settle(self, class_mass: FloatArray, order: IntArray, belief: Gamma | None) -> Sticks:
        """Update sticks and concentration in turn until they no longer move."""
        counts = class_mass[order]
        beyond = counts[::-1].cumsum()[::-1][1:]
        first = 1 + counts[:-1]
        mean = self.concentration.mean(belief)
        for _ in range(_MOST_ROUNDS):
            second = mean + beyond
            log_rest = digamma(second) - digamma(first + second)
            belief = self.concentration.belief(len(first), float(log_rest.sum()))
            before, mean = mean, self.concentration.mean(belief)
            if abs(mean - before) <= _SETTLED * before:
                break
        return Sticks(order, first, second, belief)

    def _value(self, sticks: Sticks, class_mass: FloatArray) -> float:
        return float(class_mass @ self.log(sticks)) + self.log_prior(sticks)

    def log(self, parameters: Sticks) -> FloatArray:
        """Return E ln π (components,)."""
        total = digamma(parameters.first + parameters.second)
        log_broken = np.append(digamma(parameters.first) - total, 0.0)
        log_rest = np.concatenate([[0.0], np.cumsum(digamma(parameters.second) - total)])
        log_weights = np.empty(self.n_components)
        log_weights[parameters.order] = log_broken + log_rest
        return log_weights

    def mean(self, parameters: Sticks) -> FloatArray:
        """Return E π (components,)."""
        total = parameters.first + parameters.second
        broken = np.append(parameters.first / total, 1.0)
        rest = np.concatenate([[1.0], np.cumprod(parameters.second / total)])
        weights = np.empty(self.n_components)
        weights[parameters.order] = broken * rest
        return weights

    def log_prior(self, parameters: Sticks) -> float:
        """Return −Σ KL(q(β_k) ‖ p(β_k)) − KL(q(η) ‖ p(η))."""
        first, second, belief = parameters.first, parameters.second, parameters.concentration
        total = digamma(first + second)
        log_broken, log_rest = digamma(first) - total, digamma(second) - total
        expected = self.concentration.log_mean(belief) + (self.concentration.mean(belief) - 1) * log_rest
        negative_entropy = (first - 1) * log_broken + (second - 1) * log_rest - betaln(first, second)
        return float((expected - negative_entropy).sum()) + self.concentration.log_prior(belief)
