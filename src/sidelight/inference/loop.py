"""The loop: repeat a step that raises an objective until it no longer does, from one start or the best of several.

Everything that happens to the whole table on the way is one :class:`Trace`. A fit may have several phases (the ascent,
pruning, a change of weights); each goes on where the last one ended, and their steps stand in the trace in order.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import nullcontext
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

from sklearn.exceptions import ConvergenceWarning

from sidelight._storable import storable
from sidelight._typing import FloatArray
from sidelight._warnings import warn
from sidelight.inference.progress import Callback, Progress, progress_bar

if TYPE_CHECKING:
    from sidelight.inference.mixture import Mixture, MixtureState

# What is kept of a fit by default (the posterior, the history): up to this many bytes.
LARGEST_KEPT = 64_000_000

State = TypeVar("State")
Step = Callable[[State], tuple[State, float]]
# Says, of the objectives of a phase and a tolerance, whether it has come to its end.
Stop = Callable[[Sequence[float], float], bool]


class Trace(NamedTuple, Generic[State]):
    """How a fit went.

    Parameters
    ----------
    state : State
        After the last step.
    objectives : tuple of float
        The objective of every state that a step was taken from; the last state's is not among them.
    converged : bool
        Whether the objective stopped rising before the steps ran out, in the last phase.
    phases : tuple of str
        The phase of every step.
    start : int
        The number of the start it began from.
    """

    state: State
    objectives: tuple[float, ...] = ()
    converged: bool = False
    phases: tuple[str, ...] = ()
    start: int = 1


def changes_little(objectives: Sequence[float], tol: float) -> bool:
    """Say whether the last step changed the objective by less than ``tol``."""
    return len(objectives) > 1 and abs(objectives[-1] - objectives[-2]) < tol


# Where the gain of a step is this fraction of the tolerance, it does not matter by how much gains shrink.
_NEGLIGIBLE = 0.01
# Gains whose ratios count: that of the first two says how quickly the start is left, and not how the ascent ends.
_GAINS = 3


def has_little_to_gain(objectives: Sequence[float], tol: float) -> bool:
    """Say whether further steps would raise the objective by less than ``tol`` in all.

    Gains that shrink by a factor ρ in each step add up to the last times ρ / (1 − ρ) (Aitken's extrapolation; Böhning
    et al. 1994). The larger of the last two ratios counts, for longer steps raise the objective unevenly. Of two gains
    there is one ratio, and gains may shrink more slowly from there: its square root counts.
    """
    gains = [after - before for before, after in pairwise(objectives[-_GAINS - 1 :])]
    if not gains or abs(gains[-1]) >= tol:
        return False
    if abs(gains[-1]) < _NEGLIGIBLE * tol:
        return True
    ratios = [after / before if before > 0 else 1.0 for before, after in pairwise(gains)]
    if not ratios or min(ratios) < 0:
        return False
    ratio = max(ratios) if len(gains) == _GAINS else math.sqrt(ratios[0])
    return ratio < 1 and gains[-1] * ratio / (1 - ratio) < tol


def ascend(
    step: Step[State],
    state: State,
    *,
    max_iter: int,
    tol: float,
    callbacks: Iterable[Callback] = (),
    stop: Stop = changes_little,
) -> Trace[State]:
    """Repeat ``step`` until ``stop`` says that it is enough, at most ``max_iter`` times.

    Parameters
    ----------
    step : callable
        Takes a state, returns the next and the objective of the one it was given.
    state : State
        Where to start.
    max_iter : int
    tol : float
        Smallest change of the objective worth going on for.
    callbacks : iterable of callable
        Each is called with a :class:`Progress` after every step.
    stop : callable
        Says when it is enough: by default, when the last step changed the objective by less than ``tol``.
    """
    return go_on(Trace(state), step, "ascent", max_iter=max_iter, tol=tol, callbacks=callbacks, stop=stop)


def go_on(
    trace: Trace[State],
    step: Step[State],
    phase: str,
    *,
    max_iter: int,
    tol: float,
    callbacks: Iterable[Callback] = (),
    stop: Stop = changes_little,
) -> Trace[State]:
    """Take a further phase, from where a trace ends; return both as one trace. The arguments are those of `ascend`."""
    state, objectives, n_before = trace.state, list[float](), len(trace.objectives)
    watchers, converged = list(callbacks), False
    for _ in range(max_iter):
        state, objective = step(state)
        change = objective - objectives[-1] if objectives else float("inf")
        objectives.append(objective)
        for callback in watchers:
            callback(Progress(n_before + len(objectives), objective, change, phase, trace.start))
        if stop(objectives, tol):
            converged = True
            break
    phases = trace.phases + (phase,) * len(objectives)
    return Trace(state, (*trace.objectives, *objectives), converged, phases, trace.start)


def ascend_from(
    starts: Mapping[int, Callable[[], State]],
    step: Step[State],
    *,
    max_iter: int,
    tol: float,
    total_weight: float,
    callbacks: Iterable[Callback],
    verbose: bool,
    stop: Stop = changes_little,
) -> Trace[State]:
    """Ascend from every start and return the trace that ends highest.

    Parameters
    ----------
    starts : mapping from int to callable
        By its number, what makes a state to start from.
    step : callable
        See :func:`ascend`.
    max_iter : int
    tol : float
        Smallest change of the objective worth going on for, per row.
    total_weight : float
        How many rows there are.
    callbacks : iterable of callable
    verbose : bool
        Whether to show a progress bar.
    stop : callable
        See :func:`ascend`.
    """
    traces, watchers = [], list(callbacks)
    for number, start in starts.items():
        bar = progress_bar(f"start {number}", max_iter, scale=1 / total_weight) if verbose else nullcontext(None)
        with bar as move:
            told = watchers if move is None else [*watchers, move]
            begin, limit = Trace(start(), start=number), tol * total_weight
            traces.append(go_on(begin, step, "ascent", max_iter=max_iter, tol=limit, callbacks=told, stop=stop))
    # A start that led out of what floats can hold is the last to take.
    return max(traces, key=lambda trace: (math.isfinite(trace.objectives[-1]), trace.objectives[-1]))


def refuse_unbounded(objective: float) -> None:
    """Refuse a fit whose objective is infinite or not a number."""
    if not math.isfinite(objective):
        raise ValueError(
            f"The bound of this fit is {objective}: numbers in it became too large or too small to hold. Bring the "
            "columns of X, and sample_weight, to ordinary scales (sklearn.preprocessing.StandardScaler), or use a "
            "simpler model: fewer components, or covariance_type='diag' where there is one."
        )


def warn_unless_converged(trace: Trace[State], max_iter: int) -> None:
    """Warn where the objective was still rising when the steps ran out."""
    if not trace.converged:
        warn(
            f"The bound was still rising after max_iter={max_iter} steps; raise max_iter or tol.",
            ConvergenceWarning,
        )


@storable("Snapshot")
class Snapshot(NamedTuple):
    """The model before a step.

    Parameters
    ----------
    bound : float
        The objective per row.
    weights : (components,)
        Their shares.
    parameters : dict
        Of the components, by the names that the fitted estimator shows them under, such as ``means_``.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sidelight import BayesianMixture
    >>> model = BayesianMixture(3, covariance_type="full", random_state=0).fit(load_iris().data)
    >>> first = model.history_[0]
    >>> first.weights.shape, first.parameters["means_"].shape
    ((3,), (3, 4))
    """

    bound: float
    weights: FloatArray
    parameters: dict[str, Any]


class Recorder:
    """Takes a snapshot at every recorded step, one list for each start, for as long as there is room."""

    def __init__(self, total_weight: float, keep: bool | None) -> None:
        self._total_weight = total_weight
        self._room = 0 if keep is False else float("inf") if keep else LARGEST_KEPT
        self._starts: dict[int, list[Snapshot]] = {}
        self._current: list[Snapshot] = []

    def follow(self, start: int) -> None:
        """Record the steps that come for the start of a number."""
        self._current = self._starts.setdefault(start, [])

    def watch(self, mixture: "Mixture") -> Step["MixtureState"]:
        """Return the mixture's step, which takes a snapshot of the state it is given."""
        if self._room <= 0:
            return mixture.step

        def step(state: "MixtureState") -> tuple["MixtureState", float]:
            following, objective = mixture.step(state)
            if self._room > 0:
                attributes = mixture.family.attributes(state.parameters)
                snapshot = Snapshot(objective / self._total_weight, mixture.weights.mean(state.weights), attributes)
                self._room -= sum(getattr(value, "nbytes", 0) for value in attributes.values())
                self._current.append(snapshot)
            return following, objective

        return step

    def of(self, start: int) -> list[Snapshot] | None:
        """Return the snapshots of a start; None where there was no room for all."""
        return self._starts[start] if self._room > 0 else None
