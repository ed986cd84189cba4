"""Moves that an ascent cannot make by itself: drop a component, or merge two, where that raises the objective."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple, Protocol

import numpy as np

from sidelight._typing import FloatArray, IntArray
from sidelight.inference.loop import Callback, Trace, ascend
from sidelight.inference.mixture import Expectation, Mixture, MixtureState, class_sums

# Steps that a move gets to show that it leads higher, and that a move that did gets before the next one is tried.
_TRIAL_STEPS = 20
_SETTLING_STEPS = 10


class Reached(NamedTuple):
    """How far the ascent has come: a mixture and how it got there."""

    mixture: Mixture
    trace: Trace[MixtureState]


Divergence = Callable[[Any], FloatArray]


class Shrink(Protocol):
    """Makes a mixture of fewer components."""

    def __call__(self, mixture: Mixture, components: IntArray) -> Mixture:
        """Return the mixture with as many components as these, and their priors."""


def prune(
    reached: Reached,
    shrink: Shrink,
    divergence: Divergence,
    *,
    max_iter: int,
    tol: float,
    callbacks: Iterable[Callback] = (),
) -> Reached:
    """Drop components, and merge neighbours, for as long as one such move raises the objective.

    The smallest components are dropped first; those that are left, merged with the nearest. A move is followed by steps
    of the smaller mixture and kept once they lead higher than the larger one had come, so that the objectives of the
    trace keep rising.

    Parameters
    ----------
    reached : Reached
        Where the ascent ended.
    shrink : Shrink
    divergence : callable
        How far components are from each other (components, components) at the family's parameters.
    max_iter : int
        Most steps after the last move.
    tol : float
        Smallest change of the objective worth going on for.
    callbacks : iterable of callable
        Each is told of the steps that follow a move that was kept, not of trials.
    """
    start, watchers = reached, list(callbacks)
    while (found := _first_that_rises(reached, shrink, divergence, tol, watchers)) is not None:
        reached = found
    if reached is start:
        return start
    return _go_on(reached, max_iter, tol, watchers)


def _first_that_rises(
    reached: Reached, shrink: Shrink, divergence: Divergence, tol: float, watchers: list[Callback]
) -> Reached | None:
    mixture, trace = reached
    if len(mixture.weights.classes) == 1:
        return None
    expectation = mixture.expect(trace.state)
    objective = mixture.objective(trace.state, expectation)
    for groups in _candidates(divergence, trace.state, expectation.statistics.mass):
        kept = np.unique(groups[groups >= 0], return_index=True)[1]
        smaller = shrink(mixture, np.flatnonzero(groups >= 0)[kept])
        found = _try(smaller, _regrouped(smaller, mixture, expectation, groups), objective)
        if found is not None:
            state, reached_objective = found
            rising = Trace(state, (*trace.objectives, objective, reached_objective), converged=False)
            return _go_on(Reached(smaller, rising), _SETTLING_STEPS, tol, watchers)
    return None


def _candidates(divergence: Divergence, state: MixtureState, mass: FloatArray) -> Iterator[IntArray]:
    """Yield the new number of each component, -1 where it is dropped."""
    k = len(mass)
    for component in np.argsort(mass, kind="stable"):
        groups = np.arange(k) - (np.arange(k) > component)
        groups[component] = -1
        yield groups
    distances = divergence(state.parameters)
    np.fill_diagonal(distances, np.inf)
    nearest = distances.argmin(axis=1)
    pairs = {(min(a, b), max(a, b)) for a, b in enumerate(nearest.tolist())}
    for first, second in sorted(pairs, key=lambda pair: distances[pair]):
        groups = np.arange(k) - (np.arange(k) > second)
        groups[second] = first
        yield groups


def _regrouped(smaller: Mixture, mixture: Mixture, expectation: Expectation, groups: IntArray) -> MixtureState:
    """Return where the smaller mixture starts: with what each group of components had."""
    statistics = expectation.statistics.regrouped(groups)
    coupled = None if mixture.joint is None else mixture.joint.regrouped(expectation.coupled, groups)
    weights = smaller.weights.update(statistics.mass, class_sums(statistics.mass, smaller.weights.classes), None)
    return MixtureState(smaller.family.update(statistics), weights, coupled)


def _try(mixture: Mixture, state: MixtureState, target: float) -> tuple[MixtureState, float] | None:
    """Step until the objective is above the target; None once it is plain that it will not be."""
    last = -np.inf
    for left in reversed(range(_TRIAL_STEPS)):
        following, objective = mixture.step(state)
        if objective > target:
            return state, objective
        # Steps become smaller: at the last one's pace it would not get there.
        if objective + left * (objective - last) < target:
            return None
        state, last = following, objective
    return None


def _go_on(reached: Reached, max_iter: int, tol: float, watchers: list[Callback]) -> Reached:
    mixture, before = reached
    after = ascend(mixture.step, before.state, max_iter=max_iter, tol=tol, callbacks=watchers)
    return Reached(mixture, Trace(after.state, before.objectives + after.objectives, after.converged))
