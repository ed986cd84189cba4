"""Mixing weights with a Dirichlet prior."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import digamma, gammaln

from sidelight._storable import storable
from sidelight._typing import FloatArray, IntArray
from sidelight.weights.concentration import Gamma

# Where a learned concentration is looked for, as logarithms.
_LOG_BOUNDS = (-12.0, 12.0)


@storable("DirichletBelief")
class DirichletBelief(NamedTuple):
    """Parameters ε (components,) of q(π) = Dir(ε), and the prior's α of every component."""

    counts: FloatArray
    prior: float


@dataclass(frozen=True, eq=False)
class DirichletWeights:
    """π ~ Dir(α, …, α), so that ε_k = α + N_k and E ln π_k = ψ(ε_k) − ψ(Σ ε).

    Parameters
    ----------
    n_components : int
    concentration : float or Gamma
        α of every component; or the prior of the sum of all of them, which then takes its most probable value
        together with q(π).
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
        """Return what the counts are worth with q(π) at its best, as a function of Σ α, and its prior."""
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
        """Return −KL(q(π) ‖ p(π)), and the log density of a learned α."""
        counts, prior = parameters
        total = self.n_components * prior
        normalisers = (
            gammaln(total) - self.n_components * gammaln(prior) - gammaln(counts.sum()) + gammaln(counts).sum()
        )
        return float(normalisers - (counts - prior) @ self.log(parameters)) + self._log_density(total)
