"""From starts to the best fit: one ascent per start, watched by callbacks and a progress bar."""

import warnings
from collections.abc import Callable, Iterable
from contextlib import nullcontext
from typing import TypeVar

from sklearn.exceptions import ConvergenceWarning

from sidelight.inference.loop import Callback, Trace, ascend
from sidelight.inference.progress import progress_bar

State = TypeVar("State")


def climb_from(
    starts: Iterable[Callable[[], State]],
    step: Callable[[State], tuple[State, float]],
    *,
    max_iter: int,
    tol: float,
    total_weight: float,
    callbacks: Iterable[Callback],
    verbose: bool,
) -> Trace[State]:
    """Ascend from every start and return the trace that ends highest; warn if that one did not converge.

    Parameters
    ----------
    starts : iterable of callable
        Each makes a state to start from.
    step : callable
        See :func:`~sidelight.inference.loop.ascend`.
    max_iter : int
    tol : float
        Smallest change of the objective worth going on for, per row.
    total_weight : float
        How many rows there are.
    callbacks : iterable of callable
    verbose : bool
        Whether to show a progress bar.
    """
    traces, watchers = [], list(callbacks)
    for number, start in enumerate(starts, 1):
        bar = progress_bar(f"start {number}", max_iter, scale=1 / total_weight) if verbose else nullcontext(None)
        with bar as move:
            heard_by = watchers if move is None else [*watchers, move]
            traces.append(ascend(step, start(), max_iter=max_iter, tol=tol * total_weight, callbacks=heard_by))
    best = max(traces, key=lambda trace: trace.objectives[-1])
    if not best.converged:
        warnings.warn(
            f"The bound was still rising after max_iter={max_iter} steps; raise max_iter or tol.",
            ConvergenceWarning,
            stacklevel=2,
        )
    return best
