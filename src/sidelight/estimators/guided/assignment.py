"""What experts who have learned say of the rows of a table, part by part, wherever the table is."""

from collections.abc import Iterator
from functools import partial

import numpy as np

from sidelight._typing import AnyArray, FloatArray, IntArray
from sidelight.estimators.base.cluster_results import ClusterResults, dask_columns
from sidelight.estimators.base.results import Results, RowResults, Wanted, row_array
from sidelight.estimators.guided.core import CORE_ROWS, Core, core_of, statements_among
from sidelight.estimators.guided.guidance import Guidance
from sidelight.inference.executors.threads import one_blas_thread
from sidelight.inference.protocols import Assignment
from sidelight.side import SideInformation
from sidelight.tables.dask import DaskTable
from sidelight.tables.table import CHUNK_ROWS, Rows, Table, row_ranges

# Tables with more rows are not permuted whole, which would take several times the room of a column.
_MOST_PERMUTED = 1_000_000
# Rows that the core is drawn from then.
_CANDIDATES = 4 * CORE_ROWS


def core_of_table(side: SideInformation, weights: FloatArray | None, random: np.random.RandomState) -> Core:
    """Return the rows that experts learn from, drawn from all over the table: see :func:`core_of`."""
    if side.n_rows <= _MOST_PERMUTED:
        return core_of(side, weights, random)
    mentioned = np.flatnonzero(side.mentioned if weights is None else side.mentioned & (weights > 0))
    if len(mentioned) > _CANDIDATES:
        mentioned = mentioned[random.randint(len(mentioned), size=_CANDIDATES)]
    drawn = random.randint(side.n_rows, size=_CANDIDATES)
    candidates = np.union1d(mentioned, drawn if weights is None else drawn[weights[drawn] > 0])
    few = core_of(statements_among(side, candidates), None if weights is None else weights[candidates], random)
    return Core(candidates[few.rows], few.side)


def log_shares_at(table: Table, rows: IntArray, guidance: Guidance) -> FloatArray:
    """Return the log probability (m, classes) of each class for scattered rows, which are brought here."""
    found = np.empty((len(rows), guidance.n_classes))
    for part in row_ranges(len(rows), CHUNK_ROWS):
        found[part] = guidance.log_shares(table.gather(rows[part]))
    return found


def among_all(table: Table, rows: IntArray, values: FloatArray) -> FloatArray:
    """Return values (m, classes) of some rows at their places among all (n, classes); those of others mean nothing.

    Of a table that is elsewhere, the array is in a file, of which only these rows are written.
    """
    found: FloatArray = row_array(table, (table.shape[0], values.shape[1]), float)
    found[rows] = values
    return found


def assigned(rows: Rows, guidance: Guidance, wanted: Wanted) -> RowResults:
    """Return how experts assign the rows that take part, where these are."""
    if isinstance(rows.table, DaskTable):
        return ClusterResults.of(rows, partial(_part_results, guidance=guidance, wanted=wanted), wanted)
    return _part_results(rows, guidance, wanted)


def expert_columns(table: Table, guidance: Guidance) -> list[AnyArray]:
    """Return the probabilities (n, classes) of each class by every expert; on a cluster they are Dask arrays."""
    if isinstance(table, DaskTable):
        parts = table.keep_parts(Rows(table), partial(_part_opinions, guidance=guidance))
        return [
            dask_columns(table, table.client.map(_nth, parts, n=n, pure=False), (guidance.n_classes,), float)
            for n in range(len(guidance.experts))
        ]
    return _part_opinions(Rows(table), guidance)


def _part_results(rows: Rows, guidance: Guidance, wanted: Wanted) -> Results:
    with one_blas_thread():
        return Results.of(rows.table, _assignments(rows, guidance), wanted)


def _assignments(rows: Rows, guidance: Guidance) -> Iterator[Assignment]:
    for chunk in rows.chunks():
        numbers = rows.numbers(chunk)
        if isinstance(numbers, slice) or len(numbers):
            yield Assignment(numbers, np.exp(guidance.log_shares(rows.table.take(numbers))), 0.0)
            rows.table.release(chunk)


def _part_opinions(rows: Rows, guidance: Guidance) -> list[AnyArray]:
    table = rows.table
    found = [row_array(table, (table.shape[0], guidance.n_classes), float) for _ in guidance.experts]
    with one_blas_thread():
        for chunk in table.chunks():
            for column, opinion in zip(found, guidance.opinions(table.take(chunk)), strict=True):
                column[chunk] = opinion
            table.release(chunk)
    return found


def _nth(columns: list[AnyArray], n: int) -> AnyArray:
    return columns[n]
