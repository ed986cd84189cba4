"""Sums over the rows of a table by cluster and feature, a chunk of the table at a time."""

from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array, issparse

from sidelight._typing import FloatArray, IntArray
from sidelight.describe.table import FittedTable
from sidelight.tables.comparison import Comparison, Contrast, ratio


class Feature(NamedTuple):
    """A column, or one category of a column.

    Parameters
    ----------
    name : str
        The name of the column, or "column = category".
    column : int
    comparison : Comparison
        How clusters are compared on it.
    """

    name: str
    column: int
    comparison: Comparison


class ClusterSums(NamedTuple):
    """Weighted sums over rows.

    Parameters
    ----------
    weights : (k, f)
        Of the rows of each cluster whose cell is observed.
    values : (k, f)
        Of the features, measured from their centre.
    squares : (f,)
        Of their squares, in all clusters together.
    centre : (f,)
    """

    weights: FloatArray
    values: FloatArray
    squares: FloatArray
    centre: FloatArray

    def contrast(self) -> Contrast:
        """Return the sums of each cluster beside those of the rest."""
        mass, values = self.weights.sum(axis=0), self.values.sum(axis=0)
        overall = ratio(values, mass, np.zeros_like(values))
        variance = ratio(self.squares, mass, np.zeros_like(mass)) - np.square(overall)
        # Rounding leaves a constant feature a trace of variance.
        deviation = np.sqrt(np.where(variance > 1e-12 * (1 + np.square(self.centre)), variance, 0.0))
        return Contrast(self.weights, self.values, mass - self.weights, values - self.values, overall, deviation)


def features_of(table: FittedTable) -> list[Feature]:
    """Return the features of a table: each category of a column that has categories, every other column whole."""
    features = []
    for column, (name, kind) in enumerate(zip(table.names, table.kinds, strict=True)):
        for category in table.columns.categories[column] or (None,):
            shown = name if category is None else f"{name} = {category}"
            features.append(Feature(shown, column, kind.comparison))
    return features


def sum_over_rows(
    table: FittedTable, features: list[Feature], labels: IntArray, posterior: FloatArray | None, clusters: IntArray
) -> ClusterSums:
    """Return the sums that means and variances are made of.

    Parameters
    ----------
    table : FittedTable
    features : list of Feature
    labels : (n,)
        Cluster of each row.
    posterior : (n, n_clusters), optional
        The weight of each row in each cluster; without it, a row has weight one in its own cluster.
    clusters : (k,)
        The clusters to sum for.
    """
    k, f = len(clusters), len(features)
    total = ClusterSums(np.zeros((k, f)), np.zeros((k, f)), np.zeros(f), _centre(table, features))
    for chunk in table.chunks():
        if posterior is None:
            weights = (labels[chunk, None] == clusters).astype(float)
        else:
            weights = posterior[chunk][:, clusters]
        cells = table.rows(chunk)
        if table.is_compositional:
            cells = _row_shares(cells)
        if table.is_sparse:
            _add_sparse(total, cells, weights)
        else:
            _add_dense(total, cells, weights, table)
    return total


def _centre(table: FittedTable, features: list[Feature]) -> FloatArray:
    """Return the means of the first chunk: sums of squares about zero lose digits where values are far from it."""
    centre = np.zeros(len(features))
    if table.is_sparse:
        return centre
    cells = table.rows(next(table.chunks()))
    for place, feature in enumerate(features):
        if feature.comparison.centred:
            column = cells[:, feature.column]
            observed = column[~np.isnan(column)]
            centre[place] = observed.mean() if len(observed) else 0.0
    return centre


def _add_sparse(total: ClusterSums, cells: Any, weights: FloatArray) -> None:
    total.weights[:] += weights.sum(axis=0)[:, None]
    total.values[:] += (cells.T @ weights).T
    total.squares[:] += weights.sum(axis=1) @ cells.power(2)


def _add_dense(total: ClusterSums, cells: FloatArray, weights: FloatArray, table: FittedTable) -> None:
    """Add the rows of a chunk, columns with categories one category at a time."""
    row_weights = weights.sum(axis=1)
    place = 0
    for column, categories in zip(cells.T, table.columns.categories, strict=True):
        observed = ~np.isnan(column)
        values, mass = column[observed], weights[observed]
        width = 1 if categories is None else len(categories)
        here = slice(place, place + max(width, 1))
        total.weights[:, here] += mass.sum(axis=0)[:, None]
        if categories is None:
            values = values - total.centre[place]
            total.values[:, place] += values @ mass
            total.squares[place] += row_weights[observed] @ np.square(values)
        elif width:
            n = len(values)
            one_hot = csr_array((np.ones(n), values.astype(np.int64), np.arange(n + 1)), (n, width))
            sums = (one_hot.T @ mass).T
            total.values[:, here] += sums
            total.squares[here] += sums.sum(axis=0)
        place += max(width, 1)


def _row_shares(counts: Any) -> Any:
    """Return each row of counts as shares of its sum; a row of zeros stays zero."""
    sums = np.asarray(counts.sum(axis=1), dtype=float).ravel()
    scale = (1.0 / np.where(sums > 0, sums, 1.0))[:, None]
    return counts.multiply(scale).tocsr() if issparse(counts) else counts * scale
