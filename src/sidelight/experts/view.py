"""The table as experts see it: every column on a scale of its own, and the table in few coordinates.

Numbers are taken as asinh((x − median) / spread): near the middle as they are, far out by their logarithm, so that long
tails and outliers neither dominate distances nor need a choice of scale. Every feature then has variance one;
categories are indicators, and missing cells lie at the mean.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.linalg import eigh

from sidelight._storable import storable
from sidelight._typing import AnyArray, FloatArray, IntArray
from sidelight.tables.kinds import kind_named
from sidelight.tables.schema import Schema

# Coordinates of a table with more features than this: distances in very many features say little.
_MOST_COORDINATES = 30
_QUARTILES_OF_NORMAL = 1.349
# What rounding leaves of an eigenvalue, as a fraction of the largest.
_ROUNDING = 1e-12
_LEAST_EIGENVALUE = 1e-300


class View(NamedTuple):
    """Rows as features (n, f) and as coordinates (n, q), which are the features themselves where these are few."""

    features: FloatArray
    coordinates: FloatArray

    def take(self, rows: IntArray | slice) -> "View":
        """Return some rows."""
        return View(self.features[rows], self.coordinates[rows])


@storable("TableView")
@dataclass(frozen=True, eq=False)
class TableView:
    """How the encoded cells of a table become features and coordinates.

    Parameters
    ----------
    numbers, categories : (p,), (c,)
        Columns of numbers and columns of categories; others take no part.
    sizes : (c,)
        Number of categories of each.
    centres, spreads : (p,)
        Median and spread of each column of numbers.
    means, deviations : (f,)
        Of the features before they are standardised.
    axes : (f, q), optional
        Principal axes; absent where coordinates are features.
    """

    numbers: IntArray
    categories: IntArray
    sizes: IntArray
    centres: FloatArray
    spreads: FloatArray
    means: FloatArray
    deviations: FloatArray
    axes: FloatArray | None

    def __call__(self, cells: AnyArray) -> View:
        """Return encoded rows (n, d) as experts see them."""
        features = (self._raw(cells) - self.means) / self.deviations
        features[np.isnan(features)] = 0.0
        return View(features, features if self.axes is None else features @ self.axes)

    def _raw(self, cells: AnyArray) -> FloatArray:
        """Return features (n, f) before they are standardised, NaN where a cell is missing."""
        bent = np.arcsinh((cells[:, self.numbers].astype(float) - self.centres) / self.spreads)
        parts = [bent]
        for column, size in zip(self.categories, self.sizes, strict=True):
            codes = cells[:, column]
            indicators = (codes[:, None] == np.arange(size)).astype(float)
            indicators[np.isnan(codes)] = np.nan
            parts.append(indicators)
        return np.concatenate(parts, axis=1)


def learn_view(cells: AnyArray, schema: Schema) -> TableView:
    """Return how to look at a table, learned from some of its rows, encoded (m, d)."""
    named = [kind_named(name) for name in schema.kinds]
    codes = np.array([kind.encodes and not kind.ordered for kind in named])
    used = np.array([not kind.ignores for kind in named])
    numbers, categories = np.flatnonzero(used & ~codes), np.flatnonzero(used & codes)
    sizes = np.array([len(schema.categories[c] or ()) for c in categories], dtype=np.int64)
    centres, spreads = _centres_and_spreads(cells[:, numbers].astype(float))
    n_features = len(numbers) + int(sizes.sum())
    plain = TableView(
        numbers, categories, sizes, centres, spreads, np.zeros(n_features), np.ones(n_features), axes=None
    )
    raw = plain._raw(cells)
    present = ~np.isnan(raw)
    counts = np.maximum(present.sum(axis=0), 1)
    means = np.where(present, raw, 0.0).sum(axis=0) / counts
    deviations = np.sqrt(np.where(present, (raw - means) ** 2, 0.0).sum(axis=0) / counts)
    # A constant feature stays at zero.
    deviations = np.where(deviations > _ROUNDING * (1 + np.abs(means)), deviations, 1.0)
    features = np.where(present, (raw - means) / deviations, 0.0)
    axes = principal_axes(features, _MOST_COORDINATES) if n_features > _MOST_COORDINATES else None
    return TableView(numbers, categories, sizes, centres, spreads, means, deviations, axes)


def principal_axes(features: FloatArray, most: int) -> FloatArray:
    """Return the principal axes (f, q) of centred features, at most ``most``, from the smaller of XᵀX and XXᵀ.

    Axes along which rows do not differ are left out, but for one where rows do not differ at all.
    """
    n, f = features.shape
    few_rows = n < f
    values, vectors = eigh(features @ features.T if few_rows else features.T @ features)
    kept = np.flatnonzero(values > max(_ROUNDING * values[-1], _LEAST_EIGENVALUE))[::-1][:most]
    if not len(kept):
        return np.eye(f, 1)
    if few_rows:
        return np.asarray(features.T @ (vectors[:, kept] / np.sqrt(values[kept])))
    return np.asarray(vectors[:, kept])


def _centres_and_spreads(cells: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return median and spread of each column; the spread is that of the middle half, as of a normal distribution."""
    n_columns = cells.shape[1]
    centres, spreads = np.zeros(n_columns), np.ones(n_columns)
    for column in range(n_columns):
        present = cells[:, column][~np.isnan(cells[:, column])]
        if len(present):
            low, centres[column], high = np.quantile(present, [0.25, 0.5, 0.75])
            spread = (high - low) / _QUARTILES_OF_NORMAL
            # More than half of the cells may be equal.
            spread = spread if spread > 0 else float(present.std())
            spreads[column] = spread if spread > 0 else 1.0
    return centres, spreads
