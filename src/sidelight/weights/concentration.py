"""How ready a Dirichlet process is to open further components: a number that is given, or learned under a prior."""

from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
from scipy.special import digamma, gammaln

from sidelight._storable import storable


@storable("Gamma")
class Gamma(NamedTuple):
    """A gamma distribution by its shape and rate."""

    shape: float
    rate: float


class Concentration(Protocol):
    """The concentration η of a stick-breaking prior, β ~ Beta(1, η); its belief is whatever it makes of the sticks."""

    def belief(self, n_sticks: int, log_rest: float) -> Gamma | None:
        """Return the belief given Σ E ln(1 − β) over the sticks; None where there is nothing to learn."""

    def mean(self, belief: Gamma | None) -> float:
        """Return E η; for None what it is before any stick was seen."""

    def log_mean(self, belief: Gamma | None) -> float:
        """Return E ln η."""

    def log_prior(self, belief: Gamma | None) -> float:
        """Return −KL(q(η) ‖ p(η))."""


@dataclass(frozen=True)
class GivenConcentration:
    """A concentration that is known."""

    value: float

    def belief(self, n_sticks: int, log_rest: float) -> Gamma | None:
        """Return None: there is nothing to learn."""
        return None

    def mean(self, belief: Gamma | None) -> float:
        """Return the value."""
        return self.value

    def log_mean(self, belief: Gamma | None) -> float:
        """Return the logarithm of the value."""
        return float(np.log(self.value))

    def log_prior(self, belief: Gamma | None) -> float:
        """Return 0: there is no distribution to charge for."""
        return 0.0


@dataclass(frozen=True)
class LearnedConcentration:
    """A concentration with a gamma prior (Escobar and West 1995; Blei and Jordan 2006, appendix).

    q(η) = Gamma(shape + T − 1, rate − Σ E ln(1 − β_k)), the sum over the T − 1 sticks that are free.
    """

    prior: Gamma

    def belief(self, n_sticks: int, log_rest: float) -> Gamma:
        """Return q(η)."""
        return Gamma(self.prior.shape + n_sticks, self.prior.rate - log_rest)

    def mean(self, belief: Gamma | None) -> float:
        """Return E η."""
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
