"""Mixing weights with a prior: Dirichlet, or the stick-breaking of a Dirichlet process.

The concentration of the prior is given, or learned under a gamma prior.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import betaln, digamma, gammaln

from sidelight._storable import storable
from sidelight._typing import FloatArray, IntArray

# Where the concentration of a Dirichlet prior is searched, as logarithms.
_LOG_BOUNDS = (-12.0, 12.0)
# Sticks and concentration are updated in turn until E η changes by less than this, relatively.
_TOLERANCE = 1e-6
_MAX_ROUNDS = 50


@storable("Gamma")
class Gamma(NamedTuple):
    """A gamma distribution by its shape and rate."""

    shape: float
    rate: float


@dataclass(frozen=True)
class GivenConcentration:
    """A fixed concentration η of a stick-breaking prior, β ~ Beta(1, η), with the methods of a learned one."""

    value: float

    def belief(self, n_sticks: int, log_rest: float) -> Gamma | None:
        """Return None: a fixed value has no posterior."""
        return None

    def mean(self, belief: Gamma | None) -> float:
        """Return the value."""
        return self.value

    def log_mean(self, belief: Gamma | None) -> float:
        """Return the logarithm of the value."""
        return float(np.log(self.value))

    def log_prior(self, belief: Gamma | None) -> float:
        """Return 0: a fixed value has no divergence."""
        return 0.0


@dataclass(frozen=True)
class LearnedConcentration:
    """A concentration with a gamma prior (Escobar and West 1995; Blei and Jordan 2006, appendix).

    q(η) = Gamma(shape + T − 1, rate − Σ E ln(1 − β_k)), the sum over the T − 1 sticks that are free.
    """

    prior: Gamma

    def belief(self, n_sticks: int, log_rest: float) -> Gamma | None:
        """Return q(η) given Σ E ln(1 − β) over the sticks."""
        return Gamma(self.prior.shape + n_sticks, self.prior.rate - log_rest)

    def mean(self, belief: Gamma | None) -> float:
        """Return E η; for None its value before the first update."""
        shape, rate = self.prior if belief is None else belief
        return shape / rate

    def log_mean(self, belief: Gamma | None) -> float:
        """Return E ln η."""
        shape, rate = self.prior if belief is None else belief
        return float(digamma(shape) - np.log(rate))

    def log_prior(self, belief: Gamma | None) -> float:
        """Return −KL(q(η) ‖ p(η)) of two gamma distributions."""
        if belief is None:
            return 0.0
        (a, b), (a0, b0) = belief, self.prior
        divergence = (a - a0) * digamma(a) - gammaln(a) + gammaln(a0) + a0 * np.log(b / b0) + a * (b0 - b) / b
        return -float(divergence)


@storable("Sticks")
class Sticks(NamedTuple):
    """The posterior of the sticks.

    ``order`` (T,) has the component of the first stick, of the second, and so on; q(β) = Beta(first, second), both
    (T − 1,), of every stick but the last, which is the remainder; ``concentration`` is q(η), None where η is given.
    """

    order: IntArray
    first: FloatArray
    second: FloatArray
    concentration: Gamma | None


@dataclass(frozen=True, eq=False)
class StickBreakingWeights:
    """Truncated stick-breaking: β_k ~ Beta(1, η), π_k = β_k Π_{l<k} (1 − β_l) (Blei and Jordan 2006).

    q(β_k) = Beta(1 + N_k, η + Σ_{l>k} N_l) as in Echraibi et al. 2019, appendix A, but the last stick is fixed,
    q(β_T = 1) = 1, without which the weights of a truncated process do not sum to one. The order of the sticks is
    optimised too: the largest component first, unless the previous order gives a higher bound (Kurihara et al. 2007).
    ``n_components`` is T, where the process is truncated.
    """

    n_components: int
    concentration: GivenConcentration | LearnedConcentration

    @property
    def classes(self) -> IntArray:
        """Every component is a class of its own."""
        return np.arange(self.n_components)

    def update(self, component_mass: FloatArray, class_mass: FloatArray, previous: Sticks | None) -> Sticks:
        """Return the sticks that maximise the bound given the counts of the components."""
        belief = None if previous is None else previous.concentration
        largest_first = self.sticks_in_order(class_mass, np.argsort(-class_mass, kind="stable"), belief)
        if previous is None or np.array_equal(previous.order, largest_first.order):
            return largest_first
        as_before = self.sticks_in_order(class_mass, previous.order, belief)
        return max(largest_first, as_before, key=lambda sticks: self._value(sticks, class_mass))

    def sticks_in_order(self, class_mass: FloatArray, order: IntArray, belief: Gamma | None) -> Sticks:
        """Return the best sticks in a given order: sticks and concentration are updated in turn until they settle."""
        counts = class_mass[order]
        beyond = counts[::-1].cumsum()[::-1][1:]
        first = 1 + counts[:-1]
        mean = self.concentration.mean(belief)
        for _ in range(_MAX_ROUNDS):
            second = mean + beyond
            log_rest = digamma(second) - digamma(first + second)
            belief = self.concentration.belief(len(first), float(log_rest.sum()))
            before, mean = mean, self.concentration.mean(belief)
            if abs(mean - before) <= _TOLERANCE * before:
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


@storable("DirichletBelief")
class DirichletBelief(NamedTuple):
    """Parameters ε (components,) of q(π) = Dir(ε), and the α of the prior, the same for every component."""

    counts: FloatArray
    prior: float


@dataclass(frozen=True, eq=False)
class DirichletWeights:
    """π ~ Dir(α, …, α), so that ε_k = α + N_k and E ln π_k = ψ(ε_k) − ψ(Σ ε).

    ``concentration`` is α; or the prior of the sum Σ α, which is then estimated by its mode, jointly with q(π).
    """

    n_components: int
    concentration: float | Gamma

    @property
    def classes(self) -> IntArray:
        """Every component is a class of its own."""
        return np.arange(self.n_components)

    def update(
        self, component_mass: FloatArray, class_mass: FloatArray, previous: DirichletBelief | None
    ) -> DirichletBelief:
        """Return q(π) that maximises the bound given the counts of the components."""
        if not isinstance(self.concentration, Gamma):
            return DirichletBelief(self.concentration + class_mass, self.concentration)

        def loss(log_total: float) -> float:
            return -self._evidence(np.exp(log_total), class_mass)

        best = float(np.exp(minimize_scalar(loss, bounds=_LOG_BOUNDS, method="bounded").x))
        if previous is not None:
            before = self.n_components * previous.prior
            best = max(best, before, key=lambda total: self._evidence(total, class_mass))
        return DirichletBelief(best / self.n_components + class_mass, best / self.n_components)

    def _evidence(self, total: float, class_mass: FloatArray) -> float:
        """Return the log evidence of the counts plus the log prior density, as a function of Σ α."""
        alpha = total / self.n_components
        sequence = gammaln(total) - gammaln(total + class_mass.sum())
        components = (gammaln(alpha + class_mass) - gammaln(alpha)).sum()
        return float(sequence + components) + self._log_density(total)

    def _log_density(self, total: float) -> float:
        if not isinstance(self.concentration, Gamma):
            return 0.0
        shape, rate = self.concentration
        return float((shape - 1) * np.log(total) - rate * total + shape * np.log(rate) - gammaln(shape))

    def log(self, parameters: DirichletBelief) -> FloatArray:
        """Return E ln π (components,)."""
        return digamma(parameters.counts) - digamma(parameters.counts.sum())

    def mean(self, parameters: DirichletBelief) -> FloatArray:
        """Return E π (components,)."""
        return parameters.counts / parameters.counts.sum()

    def log_prior(self, parameters: DirichletBelief) -> float:
        """Return −KL(q(π) ‖ p(π)), plus the log density of a learned α."""
        counts, prior = parameters
        total = self.n_components * prior
        normalisers = (
            gammaln(total) - self.n_components * gammaln(prior) - gammaln(counts.sum()) + gammaln(counts).sum()
        )
        return float(normalisers - (counts - prior) @ self.log(parameters)) + self._log_density(total)
