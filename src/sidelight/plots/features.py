"""Rows of any table as points of a space in which a plane can be found: for pictures only."""

from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import issparse
from sklearn.decomposition import TruncatedSVD

from sidelight._typing import FloatArray, IntArray
from sidelight.describe.table import Table

_MOST_CATEGORIES = 20
_SPARSE_DIRECTIONS = 20


class Features(NamedTuple):
    """Rows as numbers.

    Parameters
    ----------
    values : (m, f)
    names : list of str
    are_columns : bool
        Whether they are the table's own columns, so that components can be drawn among them.
    """

    values: FloatArray
    names: list[str]
    are_columns: bool


def picture_features(table: Table, rows: IntArray) -> Features:
    """Return rows as numbers: missing cells at their column's mean, categories one by one, sparse counts condensed.

    Parameters
    ----------
    table : Table
    rows : (m,)
    """
    cells = table.rows(rows)
    if issparse(cells):
        return _condensed(cells)
    if "categorical" not in table.columns.kinds:
        return Features(_filled(cells), table.names, are_columns=True)
    values: list[FloatArray] = []
    names: list[list[str]] = []
    for column, categories in zip(cells.T, table.columns.categories, strict=True):
        name = table.names[len(values)]
        if categories is None:
            values.append(_filled(column[:, None]))
            names.append([name])
        else:
            shown = _most_frequent(column, len(categories))
            values.append(_one_by_one(column, shown))
            names.append([f"{name} = {categories[code]}" for code in shown])
    return Features(np.hstack(values), [name for group in names for name in group], are_columns=False)


def _filled(cells: FloatArray) -> FloatArray:
    """Return cells with the mean of their column where they are missing; zero where all are."""
    missing = np.isnan(cells)
    if not missing.any():
        return cells
    observed = np.maximum((~missing).sum(axis=0), 1)
    means = np.where(missing, 0.0, cells).sum(axis=0) / observed
    return np.where(missing, means, cells)


def _most_frequent(codes: FloatArray, n_categories: int) -> IntArray:
    """Return the codes to show, in order; of two categories one says it all."""
    counts = np.bincount(codes[~np.isnan(codes)].astype(np.int64), minlength=n_categories)
    if n_categories == 2:
        return np.array([1])
    return np.sort(np.argsort(-counts, kind="stable")[:_MOST_CATEGORIES])


def _one_by_one(codes: FloatArray, shown: IntArray) -> FloatArray:
    """Return a column of ones and zeros for each category shown, its mean where the cell is missing."""
    told = (codes[:, None] == shown).astype(float)
    told[np.isnan(codes)] = np.nan
    return _filled(told)


def _condensed(counts: Any) -> Features:
    """Return the leading directions of sparse rows, each row scaled to length one after the square root.

    So long rows and short ones of the same composition are seen in the same place.
    """
    rooted = counts.astype(float)
    rooted.data = np.sqrt(np.abs(rooted.data))
    lengths = np.sqrt(np.asarray(rooted.power(2).sum(axis=1))).ravel()
    rooted = rooted.multiply(1.0 / np.where(lengths > 0, lengths, 1.0)[:, None]).tocsr()
    n_directions = min(_SPARSE_DIRECTIONS, counts.shape[1] - 1, counts.shape[0] - 1)
    if n_directions < 2:
        names = [f"count {number}" for number in range(counts.shape[1])]
        return Features(np.asarray(counts.toarray(), dtype=float), names, are_columns=False)
    values = TruncatedSVD(n_directions, random_state=0).fit_transform(rooted)
    return Features(values, [f"direction {number}" for number in range(1, n_directions + 1)], are_columns=False)
