"""Batches of a large table, which a fit steps on before it passes over all rows."""

from collections.abc import Callable

import numpy as np

from sidelight._typing import AnyArray, FloatArray, IntArray
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
    together = np.concatenate(numbers)
    values = problem.table.gather(together)
    ends = np.cumsum([len(rows) for rows in numbers])
    free = [
        assemble(_part(problem, rows, values[end - len(rows) : end])) for rows, end in zip(numbers, ends, strict=True)
    ]
    # A coupling of rows without statements needs all of them at once.
    if any(mixture.couplings for mixture in free):
        return None
    known = assemble(_part(problem, stated, problem.table.gather(stated))) if len(stated) else None
    return Batches(free, _free_weight(weights, problem.n_rows, stated), known)


def _part(problem: Problem, rows: IntArray, values: AnyArray) -> Problem:
    """Return some rows as a problem of their own."""
    weights = None if problem.weights is None else problem.weights[rows]
    return Problem(ArrayTable(values), problem.side.restrict(rows), weights)


def _free_weight(weights: FloatArray | None, n_rows: int, stated: IntArray) -> float:
    """Return how many rows those without statements count for."""
    return float(n_rows - len(stated) if weights is None else weights.sum() - weights[stated].sum())
