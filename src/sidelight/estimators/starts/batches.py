"""Batches of a large table, which a fit steps on before it passes over all rows."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from sidelight._typing import FloatArray, IntArray
from sidelight.estimators.starts.sample import Problem
from sidelight.inference.minibatches import Batches, draw_batches
from sidelight.inference.mixture import Mixture
from sidelight.tables.table import ArrayTable

# Rows with statements take part whole; with more of them, batches would cost as much as they save.
_MOST_STATED = 1 << 16


class LargeTable(NamedTuple):
    """Rows from all over a large table: as batches, and together as a problem whose weights are those of the table."""

    batches: Batches
    stand_in: Problem


def rows_of_large_table(
    problem: Problem, assemble: Callable[[Problem], Mixture], size: int, random: np.random.RandomState
) -> LargeTable | None:
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
    total = _free_weight(weights, problem.n_rows, stated)
    known = assemble(_gathered(problem, stated)) if len(stated) else None
    return LargeTable(Batches(free, total, known), _stand_in(problem, np.concatenate(numbers), stated, total))


def _stand_in(problem: Problem, free: IntArray, stated: IntArray, total: float) -> Problem:
    """Return rows with and without statements, the latter with weights that add up to those of all of them."""
    rows = np.union1d(free, stated)
    few = _gathered(problem, rows)
    weights = few.row_weights().copy()
    chosen = np.isin(rows, free)
    weights[chosen] *= total / weights[chosen].sum()
    return few._replace(weights=weights)


def _gathered(problem: Problem, rows: IntArray) -> Problem:
    """Return some rows, brought into memory, as a problem of their own."""
    weights = None if problem.weights is None else problem.weights[rows]
    return Problem(ArrayTable(problem.table.gather(rows)), problem.side.restrict(rows), weights)


def _free_weight(weights: FloatArray | None, n_rows: int, stated: IntArray) -> float:
    """Return how many rows those without statements count for."""
    return float(n_rows - len(stated) if weights is None else weights.sum() - weights[stated].sum())
