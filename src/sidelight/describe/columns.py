"""What the columns of a table hold, in a few words each."""

from typing import NamedTuple

import numpy as np
from scipy.sparse import issparse

from sidelight._typing import BoolArray, FloatArray
from sidelight.describe.numbers import measured
from sidelight.describe.table import Table
from sidelight.describe.wording import percent

MOST_COLUMNS = 60
_CATEGORIES_NAMED = 4
_SPOKEN = {
    "gaussian": "number",
    "categorical": "category",
    "bernoulli": "yes or no",
    "poisson": "count",
    "multinomial": "count",
}


class ColumnSummary(NamedTuple):
    """A column in words: its name, kind, what its cells are, and the share of them that is missing."""

    name: str
    kind: str
    holds: str
    missing: float


class _Moments(NamedTuple):
    """Of the columns described: cells that are there, sums and sums of squares above a centre, least and greatest."""

    centre: FloatArray
    observed: FloatArray
    sums: FloatArray
    squares: FloatArray
    least: FloatArray
    greatest: FloatArray


def column_summaries(table: Table) -> list[ColumnSummary]:
    """Return what the first columns of a table hold, as many as a page can show."""
    shown = min(len(table.names), MOST_COLUMNS)
    moments, counts = _pass_over(table, shown)
    summaries = []
    for column in range(shown):
        kind = table.columns.kinds[column]
        categories = table.columns.categories[column]
        if not moments.observed[column]:
            holds = "nothing"
        elif categories is not None:
            holds = _shares([str(category) for category in categories], counts[column])
        elif kind == "bernoulli":
            holds = f"{percent(float(moments.sums[column] / moments.observed[column]))} yes"
        else:
            holds = _range(moments, column, whole=kind != "gaussian")
        missing = 1.0 - float(moments.observed[column]) / max(table.n_rows, 1)
        summaries.append(ColumnSummary(table.names[column], _SPOKEN[kind], holds, missing))
    return summaries


def _pass_over(table: Table, shown: int) -> tuple[_Moments, dict[int, FloatArray]]:
    """Go through the rows once; categories are counted, everything else is summed."""
    categorical = [column for column in range(shown) if table.columns.categories[column] is not None]
    counts = {column: np.zeros(len(table.columns.categories[column] or ())) for column in categorical}
    moments = None
    for part in table.parts():
        cells = table.rows(part)[:, :shown]
        cells = cells.toarray() if issparse(cells) else cells
        missing = np.isnan(cells)
        if moments is None:
            moments = _begin(table, cells, missing)
        above = np.where(missing, 0.0, cells - moments.centre)
        moments.observed[:] += (~missing).sum(axis=0)
        moments.sums[:] += above.sum(axis=0)
        moments.squares[:] += np.square(above).sum(axis=0)
        np.minimum(moments.least, np.where(missing, np.inf, cells).min(axis=0), out=moments.least)
        np.maximum(moments.greatest, np.where(missing, -np.inf, cells).max(axis=0), out=moments.greatest)
        for column in categorical:
            seen = cells[~missing[:, column], column].astype(np.int64)
            counts[column] += np.bincount(seen, minlength=len(counts[column]))
    assert moments is not None
    return moments, counts


def _begin(table: Table, cells: FloatArray, missing: BoolArray) -> _Moments:
    width = cells.shape[1]
    centre = np.where(missing, 0.0, cells).sum(axis=0) / np.maximum((~missing).sum(axis=0), 1)
    centre[[kind != "gaussian" for kind in table.columns.kinds[:width]]] = 0.0
    return _Moments(
        centre, np.zeros(width), np.zeros(width), np.zeros(width), np.full(width, np.inf), np.full(width, -np.inf)
    )


def _range(moments: _Moments, column: int, *, whole: bool) -> str:
    n = moments.observed[column]
    above = moments.sums[column] / n
    deviation = float(np.sqrt(max(moments.squares[column] / n - above**2, 0.0)))
    mean = float(above + moments.centre[column])
    least, greatest = float(moments.least[column]), float(moments.greatest[column])
    scale = max(abs(least), abs(greatest))
    ends = (f"{least:.0f}", f"{greatest:.0f}") if whole else (measured(least, scale), measured(greatest, scale))
    return f"{ends[0]} to {ends[1]}, mean {measured(mean, scale)}, sd {measured(deviation, deviation)}"


def _shares(names: list[str], counts: FloatArray) -> str:
    order = np.argsort(-counts, kind="stable")
    words = [f"{names[code]} {percent(float(counts[code] / counts.sum()))}" for code in order[:_CATEGORIES_NAMED]]
    left = len(names) - len(words)
    return ", ".join(words) + (f" and {left} more" if left else "")
