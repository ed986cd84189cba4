"""Weights of mixtures with noise: a share of the rows belongs nowhere, the rest is divided among the components."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.special import betaln, digamma

from sidelight._storable import storable
from sidelight._typing import FloatArray, IntArray
from sidelight.weights.bayesian import DirichletWeights, StickBreakingWeights
from sidelight.weights.maximum_likelihood import MaximumLikelihoodWeights

ClusterWeights = MaximumLikelihoodWeights | StickBreakingWeights | DirichletWeights

# Without rows, a component's weight is this instead of zero.
_SMALLEST = np.finfo(float).tiny


@storable("Beta")
class Beta(NamedTuple):
    """A beta distribution of the share of noise: rows that are noise and rows that are not, as counts."""

    noise: float
    others: float


@dataclass(frozen=True)
class GivenShare:
    """A share of noise that is fixed, with the methods of a learned one."""

    value: float

    def belief(self, noise: float, others: float) -> Beta | None:
        """Return None: a fixed share has no posterior."""
        return None

    def logs(self, belief: Beta | None) -> tuple[float, float]:
        """Return the logarithms of the share of noise and of the rest."""
        return float(np.log(self.value)), float(np.log1p(-self.value))

    def mean(self, belief: Beta | None) -> float:
        """Return the share."""
        return self.value

    def log_prior(self, belief: Beta | None) -> float:
        """Return 0: a fixed share has no divergence."""
        return 0.0


@dataclass(frozen=True)
class LearnedShare:
    """A share of noise with a beta prior; q(ρ) = Beta(a0 + rows that are noise, b0 + rows that are not)."""

    prior: Beta

    def belief(self, noise: float, others: float) -> Beta | None:
        """Return q(ρ) given how many rows are noise and how many are not."""
        return Beta(self.prior.noise + noise, self.prior.others + others)

    def logs(self, belief: Beta | None) -> tuple[float, float]:
        """Return E ln ρ and E ln(1 − ρ)."""
        a, b = self.prior if belief is None else belief
        return float(digamma(a) - digamma(a + b)), float(digamma(b) - digamma(a + b))

    def mean(self, belief: Beta | None) -> float:
        """Return E ρ."""
        a, b = self.prior if belief is None else belief
        return a / (a + b)

    def log_prior(self, belief: Beta | None) -> float:
        """Return −KL(q(ρ) ‖ p(ρ))."""
        a, b = self.prior if belief is None else belief
        of_noise, of_others = self.logs(belief)
        normalisers = betaln(a, b) - betaln(*self.prior)
        return float(normalisers - (a - self.prior.noise) * of_noise - (b - self.prior.others) * of_others)


@storable("NoiseBelief")
class NoiseBelief(NamedTuple):
    """Parameters of the weights among clusters, and q(ρ), None where the share is given."""

    clusters: Any
    share: Beta | None


@dataclass(frozen=True, eq=False)
class NoiseWeights:
    """A row is noise with probability ρ, of component k with probability (1 − ρ) π_k; noise is the last component.

    ``clusters`` are the weights π of the others; the noise is a class of its own.
    """

    clusters: ClusterWeights
    share: GivenShare | LearnedShare

    @property
    def classes(self) -> IntArray:
        """The class of each component; that of the noise is the last."""
        classes = self.clusters.classes
        return np.append(classes, classes.max() + 1)

    def update(self, component_mass: FloatArray, class_mass: FloatArray, previous: NoiseBelief | None) -> NoiseBelief:
        """Return the parameters that maximise the objective given the counts of components and classes."""
        before = None if previous is None else previous.clusters
        components, classes = (np.maximum(mass[:-1], _SMALLEST) for mass in (component_mass, class_mass))
        belief = self.share.belief(float(class_mass[-1]), float(class_mass[:-1].sum()))
        return NoiseBelief(self.clusters.update(components, classes, before), belief)

    def log(self, parameters: NoiseBelief) -> FloatArray:
        """Return the log weights (components,), the noise's last."""
        of_noise, of_others = self.share.logs(parameters.share)
        return np.append(self.clusters.log(parameters.clusters) + of_others, of_noise)

    def mean(self, parameters: NoiseBelief) -> FloatArray:
        """Return the weights of the clusters' components; what they lack to one is the share of noise."""
        return (1.0 - self.share.mean(parameters.share)) * self.clusters.mean(parameters.clusters)

    def log_prior(self, parameters: NoiseBelief) -> float:
        """Return what the parameters add to the objective by themselves."""
        return self.clusters.log_prior(parameters.clusters) + self.share.log_prior(parameters.share)
