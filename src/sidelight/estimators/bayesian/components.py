"""Components and labels: how many components there may be, fewer of them, and the label that each belongs to."""

from dataclasses import replace

import numpy as np

from sidelight._typing import BoolArray, FloatArray, IntArray
from sidelight.couplings.independent import Independent
from sidelight.couplings.potts import FieldMemory
from sidelight.estimators.base.clusters import LEAST_OWNED, classes_by_labels
from sidelight.estimators.bayesian.weights import among_clusters
from sidelight.estimators.starts.sample import StartRows
from sidelight.families.conjugate import ConjugateFamily
from sidelight.families.noise import NoiseFamily
from sidelight.inference.executors.threads import ONE_THREAD
from sidelight.inference.mixture import Expectation, Mixture, MixtureState
from sidelight.inference.pruning import Fit
from sidelight.side import SideInformation
from sidelight.tables.table import ArrayTable, Rows
from sidelight.weights import NoiseWeights

# Components beyond those of the labels, for classes without a label.
_SPARE_COMPONENTS = 10
# With more rows than this there are enough different ones.
_ROWS_LOOKED_THROUGH = 200
# Where all components belong to labels and yet so few labelled rows would go to their own by themselves, the mixture
# fits badly, and rows without a label, counted in full, pull the classes away from their labels.
_LEAST_AGREEMENT = 0.9


def most_components(few: StartRows, n_labels: int) -> int:
    """Return ten more than there are labels, and no more than there are different rows."""
    wanted = n_labels + _SPARE_COMPONENTS
    if few.problem.n_rows > _ROWS_LOOKED_THROUGH or few.problem.table.is_sparse:
        return wanted
    return max(min(wanted, len(np.unique(few.values, axis=0))), n_labels)


def shrunk(mixture: Mixture, components: IntArray) -> Mixture:
    """Return the mixture with as many components as these, and their priors; noise is one of them and stays."""
    family, weights = mixture.family, mixture.weights
    assert isinstance(family, ConjugateFamily | NoiseFamily)
    n_fixed = int(isinstance(weights, NoiseWeights))
    clusters = replace(among_clusters(mixture), n_components=len(components) - n_fixed)
    fewer = replace(weights, clusters=clusters) if isinstance(weights, NoiseWeights) else clusters
    coupling = Independent(fewer.classes, mixture.backend)
    return replace(mixture, family=family.narrowed(components), weights=fewer, coupling=coupling)


def label_sums(expectation: Expectation) -> FloatArray:
    """Return how much of each label every component has (labels, components)."""
    if not expectation.coupled:
        return np.zeros((0, len(expectation.statistics.mass)))
    memory = expectation.coupled[0].state.memory
    assert isinstance(memory, FieldMemory)
    return memory.sums


def freely_drawn(mixture: Mixture, state: MixtureState, side: SideInformation) -> FloatArray:
    """Return how many rows of each label every component would have, had labels no say (labels, components)."""
    labelled = np.flatnonzero(side.labels >= 0)
    drawn = np.zeros((len(side.label_names), len(mixture.weights.classes)))
    if len(labelled):
        rows = Rows(ArrayTable(mixture.rows.table.take(labelled)))
        alone = replace(mixture, rows=rows, couplings=(), executor=ONE_THREAD)
        for part in alone.assign(state.afresh()):
            np.add.at(drawn, side.labels[labelled][part.numbers], part.posterior)
    return drawn


def smaller_than(least: float, n_fixed: int, side: SideInformation, expectation: Expectation) -> BoolArray:
    """Say of each component whether it has fewer rows than ``least`` and may be dropped.

    The last ``n_fixed`` components may not, nor may those that own labelled rows, nor the largest.
    """
    mass = expectation.statistics.mass
    small = mass < least
    small[len(mass) - n_fixed :] = False
    small[mass[: len(mass) - n_fixed].argmax()] = False
    if len(side.label_names):
        small &= label_sums(expectation).max(axis=0) < LEAST_OWNED
    return small


def classes_of(fit: Fit, side: SideInformation) -> IntArray:
    """Return the class of each component: a label's, or one of its own."""
    mixture, state = fit.mixture, fit.trace.state
    n_labels, n_components = len(side.label_names), among_clusters(mixture).n_components
    if not n_labels:
        return np.arange(n_components)
    expectation = mixture.expect(state)
    owned, drawn = label_sums(expectation), freely_drawn(mixture, state, side)
    # Annotators may agree on no row of the last labels.
    owned = np.pad(owned, ((0, n_labels - len(owned)), (0, 0)))
    mass = expectation.statistics.mass[:n_components]
    return classes_by_labels(owned[:, :n_components], drawn[:, :n_components], mass)


def pulls_away(fit: Fit, side: SideInformation, classes: IntArray) -> bool:
    """Say whether all components belong to labels, but too few labelled rows would go there by themselves."""
    n_labels = len(side.label_names)
    if not n_labels or int(classes.max()) >= n_labels:
        return False
    drawn = freely_drawn(fit.mixture, fit.trace.state, side)[:, : len(classes)]
    right = drawn[classes, np.arange(len(classes))].sum()
    return bool(right < _LEAST_AGREEMENT * drawn.sum())
