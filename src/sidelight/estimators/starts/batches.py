"""Batches of a large table, which a fit steps on before it passes over all rows."""

from collections.abc import Callable

import numpy as np

from sidelight._typing import FloatArray, IntArray
from sidelight.estimators.starts.sample import Problem
from sidelight.inference.minibatches import Batches, draw_batches
from sidelight.inference.mixture import Mixture
from sidelight.tables.table import ArrayTable

# Rows with statements take part whole; with more of them, batches would cost as much as they save.
_MOST_STATED = 1 << 16


def batches_of(
    problem: Problem, assemble: Callable[[Problem], Mixture], size: int, random: np.random.RandomState
) -> Batches | None:
    """Draw batches from all over a table; None of a sparse one, and where too many rows have statements.

    Parameters
    ----------
    problem : Problem
    assemble : callable
        Puts the mixture together on some rows.
    size : int
        About how many rows all batches have together; without any there are no batches.
    random : RandomState
    """
    if not size or problem.table.is_sparse:
        return None
    stated = np.flatnonzero(problem.side.mentioned)
    if len(stated) > _MOST_STATED:
        return None
    weights = problem.weights
    if weights is not None:
        stated = stated[weights[stated] > 0]
    numbers = draw_batches(problem.n_rows, stated, size, random)
    if weights is not None:
        numbers = [rows[weights[rows] > 0] for rows in numbers]
    if min(map(len, numbers)) == 0:
        return None
    together = _gathered(problem, np.concatenate(numbers))
    ends = np.cumsum([len(rows) for rows in numbers])
    free = [
        assemble(_gathered(together, np.arange(end - len(rows), end))) for rows, end in zip(numbers, ends, strict=True)
    ]
    # A coupling of rows without statements needs all of them at once.
    if any(mixture.couplings for mixture in free):
        return None
    known = assemble(_gathered(problem, stated)) if len(stated) else None
    return Batches(free, _free_weight(weights, problem.n_rows, stated), known)


def _gathered(problem: Problem, rows: IntArray) -> Problem:
    """Return some rows, brought into memory, as a problem of their own."""
    weights = None if problem.weights is None else problem.weights[rows]
    return Problem(ArrayTable(problem.table.gather(rows)), problem.side.restrict(rows), weights)


def _free_weight(weights: FloatArray | None, n_rows: int, stated: IntArray) -> float:
    """Return how many rows those without statements count for."""
    return float(n_rows - len(stated) if weights is None else weights.sum() - weights[stated].sum())
