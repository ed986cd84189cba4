"""What the columns of a table hold, in a few words each."""

from typing import NamedTuple

import numpy as np
from scipy.sparse import issparse

from sidelight._typing import BoolArray, FloatArray
from sidelight.describe.table import FittedTable
from sidelight.tables.column_summary import ColumnFigures
from sidelight.tables.usual_values import is_usual

MOST_COLUMNS = 60


class ColumnSummary(NamedTuple):
    """A column in words: its name, noun of its kind and scale, what it holds, and the share of missing cells."""

    name: str
    kind: str
    holds: str
    missing: float


class _Moments(NamedTuple):
    """For each column: number of observed cells, their sums and sums of squares from a centre, and their range.

    Of a column with a usual value, cells that hold it are counted, and the rest is about the other cells.
    """

    centre: FloatArray
    observed: FloatArray
    usual: FloatArray
    sums: FloatArray
    squares: FloatArray
    least: FloatArray
    greatest: FloatArray


def column_summaries(table: FittedTable, *, most: int = MOST_COLUMNS) -> list[ColumnSummary]:
    """Return what the first ``most`` columns of a table hold."""
    shown = min(len(table.names), most)
    moments, counts = _pass_over(table, shown)
    summaries = []
    for column, (name, kind) in enumerate(zip(table.names[:shown], table.kinds, strict=False)):
        observed = float(moments.observed[column] + moments.usual[column])
        holds = kind.summary(_figures(moments, column, table, counts.get(column))) if observed else "nothing"
        power = None if table.columns.powers is None else table.columns.powers[column]
        noun = kind.noun if power is None else f"{kind.noun}, {power.words}"
        summaries.append(ColumnSummary(name, noun, holds, 1.0 - observed / max(table.n_rows, 1)))
    return summaries


def _pass_over(table: FittedTable, shown: int) -> tuple[_Moments, dict[int, FloatArray]]:
    """Read the table once; return the moments of its columns, and counts for those with categories."""
    counts = {
        column: np.zeros(len(categories))
        for column, categories in enumerate(table.columns.categories[:shown])
        if categories is not None
    }
    moments = None
    for chunk in table.chunks():
        cells = table.rows(chunk)[:, :shown]
        cells = cells.toarray() if issparse(cells) else cells
        missing = np.isnan(cells)
        usual = np.zeros_like(missing) if table.usual is None else is_usual(cells, table.usual[:shown])
        missing |= usual
        if moments is None:
            moments = _empty_moments(table, cells, missing)
        moments.usual[:] += usual.sum(axis=0)
        above = np.where(missing, 0.0, cells - moments.centre)
        moments.observed[:] += (~missing).sum(axis=0)
        moments.sums[:] += above.sum(axis=0)
        moments.squares[:] += np.square(above).sum(axis=0)
        np.minimum(moments.least, np.where(missing, np.inf, cells).min(axis=0), out=moments.least)
        np.maximum(moments.greatest, np.where(missing, -np.inf, cells).max(axis=0), out=moments.greatest)
        for column, found in counts.items():
            codes = cells[~missing[:, column], column].astype(np.int64)
            found += np.bincount(codes, minlength=len(found))
    assert moments is not None
    return moments, counts


def _empty_moments(table: FittedTable, cells: FloatArray, missing: BoolArray) -> _Moments:
    """Return moments of no rows yet, about the means of the first chunk."""
    width = cells.shape[1]
    centre = np.where(missing, 0.0, cells).sum(axis=0) / np.maximum((~missing).sum(axis=0), 1)
    centre[[not kind.comparison.centred for kind in table.kinds[:width]]] = 0.0
    observed, usual, sums, squares = np.zeros((4, width))
    return _Moments(centre, observed, usual, sums, squares, np.full(width, np.inf), np.full(width, -np.inf))


def _figures(moments: _Moments, column: int, table: FittedTable, counts: FloatArray | None) -> ColumnFigures:
    n, n_usual = moments.observed[column], moments.usual[column]
    above = moments.sums[column] / max(n, 1)
    return ColumnFigures(
        mean=float(above + moments.centre[column]),
        deviation=float(np.sqrt(max(moments.squares[column] / max(n, 1) - above**2, 0.0))),
        least=float(moments.least[column]),
        greatest=float(moments.greatest[column]),
        categories=tuple(str(category) for category in table.columns.categories[column] or ()),
        counts=np.empty(0) if counts is None else counts,
        usual=np.nan if table.usual is None else float(table.usual[column]),
        usual_share=float(n_usual / (n + n_usual)),
    )
