"""Several components per class: pairs pull rows into one class, or push them into two, at a price."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from sidelight._typing import FloatArray, IntArray
from sidelight.couplings.class_penalty.mean_field import JointPosterior, MeanField
from sidelight.couplings.class_penalty.pair_sums import PairSums
from sidelight.graphs.correlation_clustering import correlation_clusters
from sidelight.inference.coupled_rows import EStep, JointCoupling, TiedRows, Write
from sidelight.kernels.loops import softly

# Steps of the mean field per E-step: the next E-step goes on where this one stopped.
_MOST_STEPS = 5
_ENOUGH = 1e-5  # nats per row
# A component starts with this much doubt about its class, shared by the other classes.
_DOUBT = 0.1
# Draws of each class that every component is taken to have had: β never reaches zero, from where it could not return.
_PSEUDO_DRAWS = 0.01
# One statement is enough for a class of its own, half of one is not; without statements, components that share rows
# belong together.
_PRICE_OF_A_CLASS = 0.5
_WEIGHT_OF_OVERLAP = 0.1


class ClassMemory(NamedTuple):
    """What one E-step leaves to the next.

    Parameters
    ----------
    log_allocation : (components, classes)
        ln β: the probability of each class within each component.
    log_joint : (m, components, classes), optional
        ln r, where the mean field stands; None before the first E-step.
    steps : (groups,), optional
        How far each group of rows went at the last step.
    """

    log_allocation: FloatArray
    log_joint: FloatArray | None = None
    steps: FloatArray | None = None


@dataclass(frozen=True, eq=False)
class ClassPenalty(JointCoupling):
    """Components of several classes, and a penalty for pairs of rows that are not where they should be.

    Zhao and Miller ("Semisupervised learning of mixture models with class constraints"): component k belongs to class l
    with probability β_kl, and a pair of rows pays D C_ij where it shares a component or a class. The E-step is a mean
    field for the joint posteriors r_ikl of the rows in pairs; its free energy, with a prior on β, is this coupling's
    part of the objective. β is found from these rows alone, as any β fits the others.

    Departures: steps are damped so that the energy falls, group by group of connected rows (the print takes full
    parallel steps, which oscillate); β starts from correlation clustering of the components, which also says how many
    classes there are, and has a prior worth 0.01 rows per class so that it never reaches zero.

    Parameters
    ----------
    rows : (m,)
        Numbers of the rows in pairs.
    pairs : PairSums
        The pairs among them.
    strength : float
        D, in nats.
    max_classes : int
        Number of classes there may be.
    sequential : bool
        Whether rows move one after the other instead of all at once.
    """

    rows: IntArray
    pairs: PairSums
    strength: float
    max_classes: int
    sequential: bool = False
    monotone = True

    @cached_property
    def field(self) -> MeanField:
        """The mean field of the pairs."""
        return MeanField(self.pairs, self.strength)

    def __call__(self, log_likelihood: FloatArray, log_weights: FloatArray, previous: Any) -> EStep:
        """Return the E-step of the rows in pairs from their log densities (rows, components)."""
        scores = log_likelihood + log_weights
        memory: ClassMemory = ClassMemory(self._first_allocation(scores)) if previous is None else previous
        joint, steps = self._descend(scores[:, :, None] + memory.log_allocation, memory)
        posterior = joint.values.sum(axis=2)
        responsibilities = posterior * self.pairs.weights[:, None]
        return EStep(
            responsibilities=responsibilities,
            class_counts=responsibilities.sum(axis=0),
            evidence=float(_PSEUDO_DRAWS * memory.log_allocation.sum() - joint.energy.sum()),
            posterior=posterior,
            memory=ClassMemory(self._allocation(joint.values), joint.log, steps),
        )

    def component_weights(self, posterior: FloatArray) -> FloatArray:
        """Return MᵀCM of posteriors M (m, components): what the pairs between two components add up to."""
        weighted = self.pairs.weights[:, None] * posterior
        return np.asarray(weighted.T @ self.pairs(posterior))

    def reach(self, posterior: FloatArray) -> FloatArray:
        """Return the weight of the statements about the rows of each component, (components,)."""
        return np.asarray((self.pairs.weights * self.pairs.degrees) @ posterior)

    def settled(self, carriers: IntArray) -> "SettledPenalty":
        """Return this coupling for when every component has its class."""
        return SettledPenalty(self.rows, self.pairs, self.strength, self.max_classes, self.sequential, carriers)

    def _descend(self, scores: FloatArray, memory: ClassMemory) -> tuple[JointPosterior, FloatArray]:
        """Lower the energy, from where the last E-step stopped, until little changes."""
        joint = self.field.at(scores, scores if memory.log_joint is None else memory.log_joint)
        steps = np.ones(len(joint.energy)) if memory.steps is None else memory.steps
        for _ in range(_MOST_STEPS):
            before = joint.energy.sum()
            if self.sequential:
                joint = self.field.sweep(scores, joint)
            else:
                joint, steps = self.field.damped_step(scores, joint, np.minimum(2 * steps, 1.0))
            if before - joint.energy.sum() < _ENOUGH * len(scores):
                break
        return joint, steps

    def _allocation(self, joint: FloatArray) -> FloatArray:
        """Return the ln β that maximises the objective given joint posteriors."""
        counts = np.tensordot(self.pairs.weights, joint, axes=1) + _PSEUDO_DRAWS
        return np.asarray(np.log(counts / counts.sum(axis=1, keepdims=True)))

    def _first_allocation(self, scores: FloatArray) -> FloatArray:
        """Return ln β from correlation clustering of the components, by the posterior without pairs."""
        posterior = softly(scores).shares
        weights = self.component_weights(posterior) - _WEIGHT_OF_OVERLAP * overlap(posterior, self.pairs.weights)
        classes = correlation_clusters(weights, max_clusters=self.max_classes, price=_PRICE_OF_A_CLASS)
        n_components, n_classes = len(classes), self.max_classes
        allocation = np.full((n_components, n_classes), _DOUBT / n_classes)
        allocation[np.arange(n_components), classes] += 1 - _DOUBT
        return np.log(allocation)


@dataclass(frozen=True, eq=False)
class SettledPenalty(ClassPenalty):
    """The same once every component has its class: the posterior shows the rows' own classes.

    Parameters
    ----------
    carriers : (components, max_classes)
        The component that a choice of component and class is written under: one of that class.
    """

    carriers: IntArray | None = None

    def assign(self, tied: TiedRows, log_weights: FloatArray, memory: Any, write: Write) -> float:
        """Write the posterior of the rows in pairs; return their evidence."""
        assert self.carriers is not None
        found = self(tied.log_likelihood(), log_weights, memory)
        joint = np.exp(found.memory.log_joint).reshape(len(self.rows), -1)
        n_components = len(log_weights)
        carried = (self.carriers.ravel()[:, None] == np.arange(n_components)).astype(float)
        write(self.rows, joint @ carried, None)
        return found.evidence


def overlap(posterior: FloatArray, weights: FloatArray) -> FloatArray:
    """Return how far components share rows: the part of the smaller one's mass that lies in the other, (k, k)."""
    weighted = weights[:, None] * posterior
    mass = np.maximum(weighted.sum(axis=0), np.finfo(float).tiny)
    return np.asarray(weighted.T @ posterior / np.minimum(mass[:, None], mass))
