"""From k-means starts to the best fit."""

from collections.abc import Iterable
from functools import partial

import numpy as np

from sidelight._typing import IntArray
from sidelight.admixture.ascent import ProcessesOnData
from sidelight.admixture.model import State
from sidelight.admixture.starts import fill_missing, kmeans_centres, state_at
from sidelight.inference.loop import Trace, ascend_from, warn_unless_converged
from sidelight.inference.progress import Callback
from sidelight.inference.starts import choose_rows


def climb(
    on_data: ProcessesOnData,
    codes: IntArray,
    n_processes: int,
    *,
    n_init: int,
    max_iter: int,
    tol: float,
    random: np.random.RandomState,
    callbacks: Iterable[Callback],
    verbose: bool,
) -> Trace[State]:
    """Ascend from every start and return the trace that ends highest; warn if that one did not converge.

    Parameters
    ----------
    on_data : ProcessesOnData
    codes : (n,)
        Label codes, -1 unknown; label c starts in process c.
    n_processes, n_init, max_iter : int
    tol : float
        Smallest change of the bound worth going on for, per row.
    random : RandomState
    callbacks : iterable of callable
    verbose : bool
        Whether to show a progress bar.
    """
    chosen = choose_rows(len(codes), None, codes, random)
    sample = fill_missing(on_data.rows.table.gather(chosen), on_data.scaling.centre, on_data.scaling.scale)

    def start(*, guided: bool) -> State:
        centres = kmeans_centres(sample, codes[chosen], n_processes, random, guided=guided)
        return state_at(centres, codes, on_data)

    trace = ascend_from(
        {number + 1: partial(start, guided=number == 0) for number in range(n_init)},
        on_data.step,
        max_iter=max_iter,
        tol=tol,
        total_weight=len(codes),
        callbacks=callbacks,
        verbose=verbose,
    )
    warn_unless_converged(trace, max_iter)
    return trace
