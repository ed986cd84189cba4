"""From many components to few by merging: a way to start, and to find how many a table asks for."""

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

import numpy as np

from sidelight._typing import IntArray
from sidelight.inference.loop import ascend
from sidelight.inference.mixture import Expectation, Mixture, MixtureState
from sidelight.inference.protocols import AnyFamily

_MOST_STEPS = 60
# All pairs of ten components.
_MOST_PAIRS = 45
# Tight, because an ascent that stops on a plateau counts against its number of components.
_TOL = 1e-5


class Stage(NamedTuple):
    """A mixture of this number of components, where its ascent ended, and the expectation there."""

    n_components: int
    mixture: Mixture
    state: MixtureState
    expectation: Expectation


def merge_down(
    mixture_of: Callable[[int], Mixture], start: MixtureState, most: int, least: int, total: float
) -> Iterator[Stage]:
    """Ascend with ``most`` components, merge the two that lose least by it, ascend again, down to ``least``.

    From too many components, merging finds better fits than starting each number anew, and takes one ascent for each
    (Figueiredo and Jain 2002 go the same way).

    Parameters
    ----------
    mixture_of : callable
        Makes the mixture of a number of components on the rows, each row on its own.
    start : MixtureState
        Of ``most`` components.
    most, least : int
    total : float
        How many rows there are.
    """
    state = start
    for n_components in range(most, least - 1, -1):
        mixture = mixture_of(n_components)
        state = ascend(mixture.step, state, max_iter=_MOST_STEPS, tol=_TOL * total).state
        expectation = mixture.expect(state)
        yield Stage(n_components, mixture, state, expectation)
        if n_components > least:
            state = _with_two_merged(mixture_of(n_components - 1), expectation, n_components)


def lowest_bic(stages: Iterable[Stage], total: float) -> int:
    """Return the number of components of the stage with the lowest BIC; of equals, the first."""

    def criterion(stage: Stage) -> float:
        return bic(stage.expectation.evidence, stage.mixture.family, stage.n_components, total)

    return min(stages, key=criterion).n_components


def bic(log_likelihood: float, family: AnyFamily, n_components: int, total: float) -> float:
    """Return the Bayesian information criterion of a mixture on rows of this total weight."""
    n_parameters = family.n_parameters(n_components) + n_components - 1
    return float(-2 * log_likelihood + n_parameters * np.log(total))


def _with_two_merged(smaller: Mixture, expectation: Expectation, n_components: int) -> MixtureState:
    """Return the best of the states in which two components have become one."""
    states = [_regrouped(smaller, expectation, _merged(*pair, n_components)) for pair in _near_pairs(expectation)]
    return max(states, key=lambda state: smaller.expect(state).evidence)


def _near_pairs(expectation: Expectation) -> list[tuple[int, int]]:
    """Return the pairs of components worth merging: all of few components, of many those with the nearest means."""
    means = expectation.statistics.means()
    first, second = np.triu_indices(len(means), k=1)
    # In units of how far the means are spread, since features may differ in scale.
    spread = np.maximum(means.std(axis=0), np.finfo(float).tiny)
    distances = np.square((means[first] - means[second]) / spread).sum(axis=1)
    nearest = np.argsort(distances, kind="stable")[:_MOST_PAIRS]
    return list(zip(first[nearest].tolist(), second[nearest].tolist(), strict=True))


def _merged(first: int, second: int, n_components: int) -> IntArray:
    """Return the new numbers of the components when the second becomes part of the first."""
    groups = np.arange(n_components) - (np.arange(n_components) > second)
    groups[second] = first
    return groups


def _regrouped(smaller: Mixture, expectation: Expectation, groups: IntArray) -> MixtureState:
    statistics = expectation.statistics.regrouped(groups)
    weights = smaller.weights.update(statistics.mass, statistics.mass, None)
    return MixtureState(smaller.family.update(statistics), weights)
