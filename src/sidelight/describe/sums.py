"""Sums over the rows of a table by cluster and feature, a part of the table at a time."""

from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array, issparse

from sidelight._typing import FloatArray, IntArray
from sidelight.describe.table import Table

_KINDS = {
    "gaussian": "number",
    "categorical": "share",
    "bernoulli": "share",
    "poisson": "count",
    "multinomial": "count",
}


class Feature(NamedTuple):
    """A column, or one category of a column.

    Parameters
    ----------
    name : str
        What it is called: the column, or "column = category".
    column : int
    kind : {"number", "share", "count"}
        How clusters are compared: by means, by shares of rows, or by rates.
    """

    name: str
    column: int
    kind: str


class Sums(NamedTuple):
    """Sums over rows.

    Parameters
    ----------
    weights : (k, f)
        Of the rows of each cluster whose cell is observed.
    values : (k, f)
        Of the features above their centre.
    squares : (f,)
        Of the same, in all clusters together.
    centre : (f,)
    """

    weights: FloatArray
    values: FloatArray
    squares: FloatArray
    centre: FloatArray


def features_of(table: Table) -> list[Feature]:
    """Return the features of a table: every category of a categorical column, every other column whole."""
    features = []
    for column, (name, kind) in enumerate(zip(table.names, table.columns.kinds, strict=True)):
        for category in table.columns.categories[column] or (None,):
            shown = name if category is None else f"{name} = {category}"
            features.append(Feature(shown, column, _KINDS[kind]))
    return features


def sum_over_rows(
    table: Table, features: list[Feature], labels: IntArray, posterior: FloatArray | None, clusters: IntArray
) -> Sums:
    """Return the sums that means and variances are made of.

    Parameters
    ----------
    table : Table
    features : list of Feature
    labels : (n,)
        Cluster of each row.
    posterior : (n, n_clusters), optional
        What rows count for each cluster; where absent, they count for their own.
    clusters : (k,)
        The clusters to sum for.
    """
    k, f = len(clusters), len(features)
    # Sums of squares lose their digits where values are far from zero, so they are taken about a centre.
    centre = _centre(table, features)
    total = Sums(np.zeros((k, f)), np.zeros((k, f)), np.zeros(f), centre)
    for part in table.parts():
        weights = (labels[part, None] == clusters).astype(float) if posterior is None else posterior[part][:, clusters]
        cells = table.rows(part)
        if issparse(cells):
            _add_sparse(total, _as_shares(cells), weights)
        else:
            _add_dense(total, cells, weights, table)
    return total


def _centre(table: Table, features: list[Feature]) -> FloatArray:
    centre = np.zeros(len(features))
    if table.is_sparse:
        return centre
    cells = table.rows(next(table.parts()))
    for place, feature in enumerate(features):
        if feature.kind == "number":
            column = cells[:, feature.column]
            seen = column[~np.isnan(column)]
            centre[place] = seen.mean() if len(seen) else 0.0
    return centre


def _add_sparse(total: Sums, cells: Any, weights: FloatArray) -> None:
    total.weights[:] += weights.sum(axis=0)[:, None]
    total.values[:] += (cells.T @ weights).T
    total.squares[:] += weights.sum(axis=1) @ cells.power(2)


def _add_dense(total: Sums, cells: FloatArray, weights: FloatArray, table: Table) -> None:
    """Add the rows of a part, categorical columns category by category."""
    if "multinomial" in table.columns.kinds:
        cells = _as_shares(cells)
    counted = weights.sum(axis=1)
    place = 0
    for column, categories in zip(cells.T, table.columns.categories, strict=True):
        observed = ~np.isnan(column)
        seen, mass = column[observed], weights[observed]
        width = 1 if categories is None else len(categories)
        here = slice(place, place + max(width, 1))
        total.weights[:, here] += mass.sum(axis=0)[:, None]
        if categories is None:
            values = seen - total.centre[place]
            total.values[:, place] += values @ mass
            total.squares[place] += counted[observed] @ np.square(values)
        elif width:
            chosen = csr_array(
                (np.ones(len(seen)), seen.astype(np.int64), np.arange(len(seen) + 1)), (len(seen), width)
            )
            shares = (chosen.T @ mass).T
            total.values[:, here] += shares
            total.squares[here] += shares.sum(axis=0)
        place += max(width, 1)


def _as_shares(counts: Any) -> Any:
    """Return each row of counts as shares of its sum; a row of zeros stays one."""
    sums = np.asarray(counts.sum(axis=1), dtype=float).ravel()
    scale = (1.0 / np.where(sums > 0, sums, 1.0))[:, None]
    return counts.multiply(scale).tocsr() if issparse(counts) else counts * scale
