"""Weighted quantiles of columns with missing cells, and moments without outliers that follow from them."""

import numpy as np

from sidelight._typing import AnyArray, FloatArray

# Tukey's fences: cells farther than this many interquartile ranges beyond the quartiles are outside.
_BEYOND_QUARTILES = 1.5


def weighted_quantiles(cells: AnyArray, weights: FloatArray, shares: tuple[float, ...]) -> FloatArray:
    """Return quantiles (shares, columns) of the observed cells of a table (m, columns); NaN where there are none.

    A quantile is the first cell, in order of size, at which the weight so far reaches its share of the whole.
    """
    found = np.full((len(shares), cells.shape[1]), np.nan)
    for number, column in enumerate(np.asarray(cells, dtype=float).T):
        counted = ~np.isnan(column) & (weights > 0)
        order = np.argsort(column[counted], kind="stable")
        values, reached = column[counted][order], np.cumsum(weights[counted][order])
        if len(values):
            places = np.searchsorted(reached, np.array(shares) * reached[-1] * (1 - 1e-12))
            found[:, number] = values[np.minimum(places, len(values) - 1)]
    return found


def trimmed_moments(cells: AnyArray, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return means and variances (columns,) of the cells within Tukey's fences, so that outliers do not widen them.

    NaN for a column without a range between its quartiles, which has no fences.
    """
    low, high = weighted_quantiles(cells, weights, (0.25, 0.75))
    reach = _BEYOND_QUARTILES * (high - low)
    values = np.asarray(cells, dtype=float)
    with np.errstate(invalid="ignore"):
        inside = (values >= low - reach) & (values <= high + reach)
    counts = weights @ inside
    counts = np.where((high > low) & (counts > 0), counts, np.nan)
    means = weights @ np.where(inside, values, 0.0) / counts
    away = np.where(inside, values - means, 0.0)
    return means, weights @ np.square(away) / counts
