"""Several components per class: pairs pull rows into one class, or push them into two, at a price."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from sidelight._typing import FloatArray, IntArray
from sidelight.couplings.class_penalty.mean_field import JointPosterior, MeanField
from sidelight.couplings.class_penalty.pair_sums import PairSums
from sidelight.graphs.correlation_clustering import correlation_clusters
from sidelight.inference.coupled_rows import Assignment, CoupledExpectation, CoupledRows, CouplingState
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


class MeanFieldMemory(NamedTuple):
    """Where the mean field of an E-step stands: ln r (m, components, classes), and the last step of each group."""

    log_joint: FloatArray
    steps: FloatArray


class ClassEStep(NamedTuple):
    """The joint posterior of the rows in pairs, and the ln β (components, classes) and steps it was found with."""

    joint: JointPosterior
    log_allocation: FloatArray
    steps: FloatArray


@dataclass(frozen=True, eq=False)
class ClassPenalty:
    """Components of several classes, and a penalty for pairs of rows that are not where they should be.

    Zhao and Miller ("Semisupervised learning of mixture models with class constraints"): component k belongs to class l
    with probability β_kl, and a pair of rows pays D C_ij where it shares a component or a class. The E-step is a mean
    field for the joint posteriors r_ikl of the rows in pairs; its free energy is this coupling's part of the objective.
    β, as ln β (components, classes), is the coupling's own parameter, with an update and a prior of its own. It is
    found from these rows alone, as any β fits the others.

    Departures: steps are damped so that the energy falls, group by group of connected rows (the print takes full
    parallel steps, which oscillate); β starts from correlation clustering of the components, which also says how many
    classes there are, and has a prior worth 0.01 rows per class so that it never reaches zero.

    Parameters
    ----------
    rows, pairs : (m,), PairSums
        Numbers of the rows in pairs, and the pairs among them.
    strength : float
        D, in nats.
    max_classes : int
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

    takes_rows = True

    def expect(
        self, rows: CoupledRows, log_weights: FloatArray, state: CouplingState[FloatArray, MeanFieldMemory]
    ) -> CoupledExpectation[Any, FloatArray, MeanFieldMemory]:
        """Take the rows in pairs through E-step and statistics."""
        joint, log_allocation, steps = self.e_step(rows.log_likelihood(), log_weights, state)
        responsibilities = joint.values.sum(axis=2) * self.pairs.weights[:, None]
        return CoupledExpectation(
            rows.statistics(responsibilities),
            responsibilities.sum(axis=0),
            -float(joint.energy.sum()),
            CouplingState(log_allocation, MeanFieldMemory(joint.log, steps)),
            np.tensordot(self.pairs.weights, joint.values, axes=1),
        )

    def assign(
        self, rows: CoupledRows, log_weights: FloatArray, state: CouplingState[FloatArray, MeanFieldMemory]
    ) -> Iterator[Assignment]:
        """Yield how the rows in pairs are assigned."""
        joint = self.e_step(rows.log_likelihood(), log_weights, state).joint
        yield Assignment(self.rows, self._by_component(joint), -float(joint.energy.sum()))

    def e_step(
        self, log_likelihood: FloatArray, log_weights: FloatArray, state: CouplingState[FloatArray, MeanFieldMemory]
    ) -> ClassEStep:
        """Find the joint posterior of the rows in pairs from their log densities (rows, components)."""
        scores = log_likelihood + log_weights
        log_allocation = self._first_allocation(scores) if state.parameters is None else state.parameters
        joint, steps = self._descend(scores[:, :, None] + log_allocation, state.memory)
        return ClassEStep(joint, log_allocation, steps)

    def update(self, counts: FloatArray) -> FloatArray:
        """Return the ln β that maximises the objective given how often each class was drawn in each component."""
        drawn = counts + _PSEUDO_DRAWS
        return np.asarray(np.log(drawn / drawn.sum(axis=1, keepdims=True)))

    def log_prior(self, parameters: FloatArray | None) -> float:
        """Return the log density of the prior on β: Dirichlet, but for its constant."""
        return 0.0 if parameters is None else float(_PSEUDO_DRAWS * parameters.sum())

    def regrouped(
        self, state: CouplingState[FloatArray, MeanFieldMemory], groups: IntArray
    ) -> CouplingState[FloatArray, MeanFieldMemory]:
        """Return an empty state: the next E-step starts anew."""
        return CouplingState()

    def _by_component(self, joint: JointPosterior) -> FloatArray:
        """Return the posterior (m, components) that is shown."""
        return joint.values.sum(axis=2)

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

    def _descend(self, scores: FloatArray, memory: MeanFieldMemory | None) -> tuple[JointPosterior, FloatArray]:
        """Lower the energy, from where the last E-step stopped, until little changes."""
        joint = self.field.at(scores, scores if memory is None else memory.log_joint)
        steps = np.ones(len(joint.energy)) if memory is None else memory.steps
        for _ in range(_MOST_STEPS):
            before = joint.energy.sum()
            if self.sequential:
                joint = self.field.sweep(scores, joint)
            else:
                joint, steps = self.field.damped_step(scores, joint, np.minimum(2 * steps, 1.0))
            if before - joint.energy.sum() < _ENOUGH * len(scores):
                break
        return joint, steps

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

    def _by_component(self, joint: JointPosterior) -> FloatArray:
        assert self.carriers is not None
        carried = (self.carriers.ravel()[:, None] == np.arange(joint.values.shape[1])).astype(float)
        # From logarithms, as a further E-step would see it.
        return np.exp(joint.log).reshape(len(self.rows), -1) @ carried


def overlap(posterior: FloatArray, weights: FloatArray) -> FloatArray:
    """Return how far components share rows: the part of the smaller one's mass that lies in the other, (k, k)."""
    weighted = weights[:, None] * posterior
    mass = np.maximum(weighted.sum(axis=0), np.finfo(float).tiny)
    return np.asarray(weighted.T @ posterior / np.minimum(mass[:, None], mass))
