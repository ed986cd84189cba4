"""The loop: repeat a step that raises an objective until it no longer does."""

from collections.abc import Callable, Iterable
from typing import Generic, NamedTuple, TypeVar

State = TypeVar("State")


class Progress(NamedTuple):
    """What a callback is told after each step: steps taken, the objective before the last, its rise (inf at first)."""

    iteration: int
    objective: float
    change: float


Callback = Callable[[Progress], object]


class Trace(NamedTuple, Generic[State]):
    """How an ascent went.

    Parameters
    ----------
    state : State
        After the last step.
    objectives : tuple of float
        The objective of every state that a step was taken from; the last state's is not among them.
    converged : bool
        Whether the objective stopped rising before the steps ran out.
    """

    state: State
    objectives: tuple[float, ...]
    converged: bool


def ascend(
    step: Callable[[State], tuple[State, float]],
    state: State,
    *,
    max_iter: int,
    tol: float,
    callbacks: Iterable[Callback] = (),
) -> Trace[State]:
    """Repeat ``step`` until the objective changes by less than ``tol``, at most ``max_iter`` times.

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
    """
    objectives: list[float] = []
    for iteration in range(1, max_iter + 1):
        state, objective = step(state)
        change = objective - objectives[-1] if objectives else float("inf")
        objectives.append(objective)
        for callback in callbacks:
            callback(Progress(iteration, objective, change))
        if abs(change) < tol:
            return Trace(state, tuple(objectives), converged=True)
    return Trace(state, tuple(objectives), converged=False)
