"""From starts to the best fit: one ascent per start, watched by callbacks and a progress bar."""

import warnings
from collections.abc import Callable, Iterable
from contextlib import nullcontext

from sklearn.exceptions import ConvergenceWarning

from sidelight.inference.loop import Callback, Trace, ascend
from sidelight.inference.mixture import Mixture, MixtureState
from sidelight.inference.progress import progress_bar


def climb_from(
    starts: Iterable[Callable[[], MixtureState]],
    mixture: Mixture,
    *,
    max_iter: int,
    tol: float,
    total_weight: float,
    callbacks: Iterable[Callback],
    verbose: bool,
) -> Trace[MixtureState]:
    """Ascend from every start and return the trace that ends highest; warn if that one did not converge.

    ``tol`` is per row, of which there are ``total_weight``.
    """
    best: Trace[MixtureState] | None = None
    for number, start in enumerate(starts, 1):
        bar = progress_bar(f"start {number}", max_iter, scale=1 / total_weight) if verbose else nullcontext(None)
        with bar as move:
            watchers = [*callbacks, move] if move is not None else list(callbacks)
            trace = ascend(mixture.step, start(), max_iter=max_iter, tol=tol * total_weight, callbacks=watchers)
        if best is None or trace.objectives[-1] > best.objectives[-1]:
            best = trace
    if best is None:
        raise ValueError("no start to climb from")
    if not best.converged:
        warnings.warn(
            f"The bound was still rising after max_iter={max_iter} steps; raise max_iter or tol.",
            ConvergenceWarning,
            stacklevel=2,
        )
    return best
