"""Rows as examples: their cells in words, the most typical row of each cluster, and histograms by cluster."""

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from sidelight._typing import AnyArray, FloatArray, IntArray
from sidelight._wording import calendar_date, measured
from sidelight.describe.profiles import Profiles
from sidelight.describe.table import FittedTable

_MOST_ROWS = 20_000
_MOST_BINS = 16
_MOST_CATEGORIES = 10
_MISSING = "–"
# The quantiles between which the bins of numbers lie; cells beyond are in the first and the last bin.
_WITHIN = (0.005, 0.995)


class Histogram(NamedTuple):
    """How the cells of a column are distributed in each cluster.

    ``bins`` says what each bin holds; ``counts`` (clusters, bins) has numbers of rows, missing cells left out.
    """

    column: str
    bins: list[str]
    counts: IntArray


class Sample(NamedTuple):
    """Some rows of a table, evenly drawn, all of a small one: their numbers (m,), clusters (m,) and cells (m, c)."""

    rows: IntArray
    clusters: IntArray
    cells: FloatArray
    columns: list[int]


def telling_columns(table: FittedTable, profiles: Profiles | None, most: int) -> list[int]:
    """Return the numbers of the columns that tell clusters apart best; the first ones where there are no profiles."""
    if table.is_compositional:
        return []
    taking_part = [number for number, kind in enumerate(table.kinds) if not kind.ignores]
    if profiles is None:
        return taking_part[:most]
    told = dict.fromkeys(feature.column for feature in profiles.features)
    return [*told, *(number for number in taking_part if number not in told)][:most]


def draw_sample(table: FittedTable, clusters: IntArray, columns: Sequence[int]) -> Sample:
    """Return the cells of some columns in rows that are evenly drawn."""
    rows = np.unique(np.linspace(0, table.n_rows - 1, min(table.n_rows, _MOST_ROWS)).astype(np.int64))
    return Sample(rows, clusters[rows], np.asarray(table.rows(rows))[:, list(columns)], list(columns))


def written_cells(table: FittedTable, rows: Sequence[int], columns: Sequence[int]) -> list[list[str]]:
    """Return cells of rows in words, a list for each row."""
    if not len(rows) or not len(columns):
        return [[] for _ in rows]
    cells = np.asarray(table.rows(np.asarray(rows)))[:, list(columns)]
    return [
        [_written(table, column, value) for column, value in zip(columns, row, strict=True)] for row in cells.tolist()
    ]


def typical_rows(table: FittedTable, sample: Sample, n_clusters: int) -> list[int | None]:
    """Return for each cluster the row that is nearest to its usual values, None for a cluster without a row.

    Numbers are compared with the median of the cluster, in standard deviations, categories with its most frequent one;
    a missing cell counts as one standard deviation.
    """
    typical: list[int | None] = []
    encoded = np.array([table.columns.categories[column] is not None for column in sample.columns])
    scale = _spread(sample.cells)
    for cluster in range(n_clusters):
        inside = sample.clusters == cluster
        cells = sample.cells[inside]
        if not len(cells):
            typical.append(None)
            continue
        usual = np.array([_usual(cells[:, place], coded=coded) for place, coded in enumerate(encoded)])
        apart = np.abs(cells - usual) / scale
        apart[:, encoded] = (cells != usual)[:, encoded]
        far = np.where(np.isnan(apart), 1.0, np.minimum(apart, 10.0)).sum(axis=1)
        typical.append(int(sample.rows[inside][far.argmin()]))
    return typical


def cluster_histograms(table: FittedTable, sample: Sample, n_clusters: int) -> list[Histogram]:
    """Return a histogram of each column of a sample, with the same bins for all clusters."""
    made = []
    for place, column in enumerate(sample.columns):
        cells = sample.cells[:, place]
        seen = ~np.isnan(cells)
        if not seen.any():
            continue
        bins, numbers = _binned(table, column, cells[seen])
        counts = np.zeros((n_clusters, len(bins)), dtype=np.int64)
        np.add.at(counts, (sample.clusters[seen], numbers), 1)
        made.append(Histogram(table.names[column], bins, counts))
    return made


def _spread(cells: FloatArray) -> FloatArray:
    centre = np.nanmean(np.where(np.isnan(cells).all(axis=0), 0.0, cells), axis=0)
    deviation = np.sqrt(np.nanmean(np.square(np.where(np.isnan(cells), centre, cells) - centre), axis=0))
    return np.where(deviation > 0, deviation, 1.0)


def _usual(cells: FloatArray, *, coded: bool) -> float:
    seen = cells[~np.isnan(cells)]
    if not len(seen):
        return np.nan
    return float(np.bincount(seen.astype(np.int64)).argmax()) if coded else float(np.median(seen))


def _binned(table: FittedTable, column: int, cells: FloatArray) -> tuple[list[str], IntArray]:
    """Return what the bins of a column hold, in words, and the bin of each cell."""
    categories = table.columns.categories[column]
    if categories is not None:
        return _category_bins([str(category) for category in categories], cells.astype(np.int64))
    values = np.unique(cells)
    if len(values) <= _MOST_BINS:
        return [_written(table, column, value) for value in values.tolist()], np.searchsorted(values, cells)
    low, high = np.quantile(cells, _WITHIN)
    if low == high:
        low, high = values[0], values[-1]
    edges = np.linspace(low, high, _MOST_BINS + 1)
    scale = float(np.abs(edges).max())
    written = [calendar_date(edge) if table.kinds[column].dates else measured(edge, scale) for edge in edges.tolist()]
    bins = [f"{first} to {last}" for first, last in pairwise(written)]
    return bins, np.clip(np.searchsorted(edges, cells, side="right") - 1, 0, _MOST_BINS - 1)


def _category_bins(names: list[str], codes: IntArray) -> tuple[list[str], IntArray]:
    """Return a bin for each category, in their order; of many for the most frequent ones, and one for the others."""
    if len(names) <= _MOST_CATEGORIES:
        return names, codes
    kept = np.sort(np.argsort(-np.bincount(codes, minlength=len(names)), kind="stable")[: _MOST_CATEGORIES - 1])
    places = np.full(len(names), len(kept))
    places[kept] = np.arange(len(kept))
    return [*(names[code] for code in kept), "others"], places[codes]


def _written(table: FittedTable, column: int, value: float) -> str:
    """Return a cell in words."""
    if np.isnan(value):
        return _MISSING
    categories: AnyArray | tuple[object, ...] | None = table.columns.categories[column]
    kind = table.kinds[column]
    if categories is not None:
        return str(categories[int(value)])
    if kind.dates:
        return calendar_date(value)
    if kind.name == "bernoulli":
        return "yes" if value else "no"
    return f"{value:.0f}" if value == round(value) and abs(value) < 1e9 else measured(value, value)
