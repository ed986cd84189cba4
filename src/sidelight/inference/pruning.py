"""Pruning, which an ascent cannot do by itself: drop a component, or merge two, where that raises the objective."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any, NamedTuple, Protocol

import numpy as np

from sidelight._typing import BoolArray, FloatArray, IntArray
from sidelight.inference.loop import Step, Trace, go_on
from sidelight.inference.mixture import Expectation, Mixture, MixtureState, class_sums
from sidelight.inference.progress import Callback
from sidelight.inference.protocols import Evaluator
from sidelight.tables.table import row_ranges

# A move that is lower on some of the rows by so many standard errors is not tried on all. Errors are found from parts.
_CLEARLY = 3.0
_PARTS = 32
# Steps that a move gets to show that it leads higher, and that a move that did gets before the next one is tried.
_TRIAL_STEPS = 20
_SETTLING_STEPS = 10


class Fit(NamedTuple):
    """A mixture and how it got where it is."""

    mixture: Mixture
    trace: Trace[MixtureState]


Divergence = Callable[[Any], FloatArray]


class Shrink(Protocol):
    """Makes a mixture of fewer components."""

    def __call__(self, mixture: Mixture, components: IntArray) -> Mixture:
        """Return the mixture with as many components as these, and their priors."""


# How much of each label every component has (labels, components).
LabelSums = Callable[[Expectation], FloatArray]


class Watch(Protocol):
    """Makes the step of a mixture that is to be recorded."""

    def __call__(self, mixture: Mixture) -> Step[MixtureState]:
        """Return the mixture's step."""


def prune(
    fit: Fit,
    shrink: Shrink,
    divergence: Divergence,
    watch: Watch,
    label_sums: LabelSums,
    *,
    max_iter: int,
    tol: float,
    callbacks: Iterable[Callback] = (),
    n_fixed: int = 0,
    rehearsal: Mixture | None = None,
) -> Fit:
    """Drop components, and merge neighbours, for as long as one such move raises the objective.

    The smallest components are dropped first; those that are left, merged with the nearest. A move is followed by steps
    of the smaller mixture and kept once they lead higher than the larger one had come, so that the objectives of the
    trace keep rising. Trials that lead nowhere leave no trace. A move after which two labels have most of their rows in
    one component is not kept, however high it leads, unless they had before.

    Parameters
    ----------
    fit : Fit
        Where the ascent ended.
    shrink : Shrink
    divergence : callable
        How far components are from each other (components, components) at the family's parameters.
    watch : Watch
        Makes the steps that are recorded, those that follow a move that was kept.
    label_sums : callable
        Says how much of each label every component has.
    max_iter : int
        Most steps after the last move.
    tol : float
        Smallest change of the objective worth going on for.
    callbacks : iterable of callable
        Each is told of the steps that are recorded.
    n_fixed : int
        How many components, the last ones, are neither dropped nor merged.
    rehearsal : Mixture, optional
        The model on some rows of a large table, weighted so that they count for all. A move that leads clearly lower
        there is not tried on the table: each trial takes two passes at least, and nearly all of them lead nowhere.
    """
    start = fit
    follow = _follower(watch, tol, callbacks)
    while (found := _first_that_rises(fit, shrink, divergence, label_sums, n_fixed, rehearsal)) is not None:
        fit = follow(found, _SETTLING_STEPS)
    return fit if fit is start else follow(fit, max_iter)


def drop_small(
    fit: Fit,
    shrink: Shrink,
    droppable: Callable[[Expectation], BoolArray],
    watch: Watch,
    *,
    max_iter: int,
    tol: float,
    callbacks: Iterable[Callback] = (),
) -> Fit:
    """Drop components that are too small, the smallest first, whatever that does to the objective.

    The arguments are those of `prune`, except for ``droppable``, which says of each component (components,) whether it
    is too small, given an expectation. One component that is not fixed is left in any case.
    """
    start = fit
    follow = _follower(watch, tol, callbacks)
    while True:
        expectation = fit.mixture.expect(fit.trace.state)
        mass = expectation.statistics.mass
        small = np.flatnonzero(droppable(expectation))
        if not len(small):
            return fit if fit is start else follow(fit, max_iter)
        groups = _without(int(small[mass[small].argmin()]), len(mass))
        smaller = shrink(fit.mixture, np.flatnonzero(groups >= 0))
        state = regrouped(smaller, fit.mixture, expectation, groups)
        fit = follow(Fit(smaller, fit.trace._replace(state=state)), _SETTLING_STEPS)


def _follower(watch: Watch, tol: float, callbacks: Iterable[Callback]) -> Callable[[Fit, int], Fit]:
    """Return what takes the steps after a move, at most as many as it is told, and records them."""
    watchers = list(callbacks)

    def follow(moved: Fit, steps: int) -> Fit:
        step = watch(moved.mixture)
        return moved._replace(trace=go_on(moved.trace, step, "pruning", max_iter=steps, tol=tol, callbacks=watchers))

    return follow


class _Stage(NamedTuple):
    """Some rows under a mixture: its expectation, and the evidence (parts,) of those that stand alone."""

    mixture: Mixture
    expectation: Expectation
    objective: float
    evidence: FloatArray

    @classmethod
    def of(cls, rehearsal: Mixture, mixture: Mixture, state: MixtureState) -> "_Stage":
        """Put the rows of a rehearsal under the parameters of a mixture."""
        same = replace(
            mixture,
            rows=rehearsal.rows,
            couplings=rehearsal.couplings,
            executor=rehearsal.executor,
            log_jacobian=rehearsal.log_jacobian,
            journal=None,
        )
        state = state.afresh()
        expectation = same.expect(state)
        return cls(same, expectation, same.objective(state, expectation), _evidence_of_parts(same, state))

    def refuses(self, shrink: Shrink, components: IntArray, groups: IntArray) -> bool:
        """Say whether a move leads lower by more than what the choice of the rows can explain."""
        smaller = shrink(self.mixture, components)
        trial = _try(smaller, regrouped(smaller, self.mixture, self.expectation, groups), self.objective)
        if trial.rises:
            return False
        differences = _evidence_of_parts(smaller, trial.state) - self.evidence
        error = np.sqrt(len(differences)) * float(differences.std())
        return trial.objective < self.objective - _CLEARLY * error


def _evidence_of_parts(mixture: Mixture, state: MixtureState) -> FloatArray:
    """Return the evidence (parts,) of as many rows each, of those that stand alone."""
    visit, rows = mixture.visit(state), mixture.alone
    size = max(rows.shape[0] // _PARTS, 1)

    def evidence(evaluator: Evaluator[Any], part: slice) -> float:
        return visit.sums(evaluator, rows, part).evidence

    parts = row_ranges(size * (rows.shape[0] // size), size)
    return np.array(list(mixture.executor.run(evidence, parts, visit.evaluator)))


def _first_that_rises(
    fit: Fit,
    shrink: Shrink,
    divergence: Divergence,
    label_sums: LabelSums,
    n_fixed: int,
    rehearsal: Mixture | None,
) -> Fit | None:
    """Return the smaller mixture of the first move that leads higher, at the state that does."""
    mixture, trace = fit
    if len(mixture.weights.classes) == 1 + n_fixed:
        return None
    expectation = mixture.expect(trace.state)
    objective = mixture.objective(trace.state, expectation)
    sums = label_sums(expectation)
    n_owners = _owners(sums)
    stage = None if rehearsal is None else _Stage.of(rehearsal, mixture, trace.state)
    for groups in _candidates(divergence, trace.state, expectation.statistics.mass, n_fixed):
        if _owners(_regrouped_columns(sums, groups)) < n_owners:
            continue
        kept = np.unique(groups[groups >= 0], return_index=True)[1]
        components = np.flatnonzero(groups >= 0)[kept]
        if stage is not None and stage.refuses(shrink, components, groups):
            continue
        smaller = shrink(mixture, components)
        found = _try(smaller, regrouped(smaller, mixture, expectation, groups), objective)
        if found.rises and (not len(sums) or _owners(label_sums(smaller.expect(found.state))) >= n_owners):
            return Fit(smaller, trace._replace(state=found.state))
    return None


def _owners(sums: FloatArray) -> int:
    """Return the number of components that have most of some label, given the sums (labels, components)."""
    return len(np.unique(sums.argmax(axis=1))) if sums.size else 0


def _regrouped_columns(sums: FloatArray, groups: IntArray) -> FloatArray:
    """Return the sums of groups of components; those of group -1 are left out."""
    total = np.zeros((len(sums), int(groups.max()) + 1))
    for component, group in enumerate(groups):
        if group >= 0:
            total[:, group] += sums[:, component]
    return total


def _without(component: int, n_components: int) -> IntArray:
    """Return the new numbers of the components when one is dropped, which has -1."""
    groups = np.arange(n_components) - (np.arange(n_components) > component)
    groups[component] = -1
    return groups


def _candidates(divergence: Divergence, state: MixtureState, mass: FloatArray, n_fixed: int) -> Iterator[IntArray]:
    """Yield the new number of each component, -1 where it is dropped."""
    k = len(mass)
    for component in np.argsort(mass[: k - n_fixed], kind="stable"):
        yield _without(int(component), k)
    distances = divergence(state.parameters)
    np.fill_diagonal(distances, np.inf)
    nearest = distances.argmin(axis=1)
    pairs = {(min(a, b), max(a, b)) for a, b in enumerate(nearest.tolist())}
    for first, second in sorted(pairs, key=lambda pair: distances[pair]):
        groups = np.arange(k) - (np.arange(k) > second)
        groups[second] = first
        yield groups


def regrouped(smaller: Mixture, mixture: Mixture, expectation: Expectation, groups: IntArray) -> MixtureState:
    """Return where the smaller mixture starts: with what each group of components had."""
    statistics = expectation.statistics.regrouped(groups)
    couplings = tuple(
        coupling.regrouped(part.state, groups)
        for coupling, part in zip(mixture.couplings, expectation.coupled, strict=True)
    )
    weights = smaller.weights.update(statistics.mass, class_sums(statistics.mass, smaller.weights.classes), None)
    return MixtureState(smaller.family.update(statistics), weights, couplings)


class _Trial(NamedTuple):
    """Where a trial ended, the objective there, and whether it is above the target."""

    state: MixtureState
    objective: float
    rises: bool


def _try(mixture: Mixture, state: MixtureState, target: float) -> _Trial:
    """Step until the objective is above the target, or until it is plain that it will not be."""
    last = -np.inf
    for left in reversed(range(_TRIAL_STEPS)):
        following, objective = mixture.step(state)
        if objective > target:
            return _Trial(state, objective, rises=True)
        # Steps become smaller: at the last one's pace it would not get there.
        if left == 0 or objective + left * (objective - last) < target:
            break
        state, last = following, objective
    return _Trial(state, objective, rises=False)
