"""Where rows are on the map: the plane that shows the clusters best, turned so that it resembles the one before."""

from typing import Any

import numpy as np

from sidelight._typing import FloatArray, IntArray
from sidelight.describe.table import fitted_table
from sidelight.plots.projection import numeric_rows, plane_of

# Rows beyond these quantiles are drawn at the border.
_WITHIN = (0.002, 0.998)
_ROWS_TO_LEARN = 20_000
_BORDER = 0.98


def place_rows(estimator: Any, features: Any, places: IntArray, before: FloatArray | None) -> FloatArray:
    """Return the points (n, 2) of all rows, within −1 and 1.

    A plane may be turned and mirrored without showing anything else; so it is, by the orthogonal Procrustes solution,
    until it is nearest to the points of the fit before.
    """
    table = fitted_table(estimator, features)
    rows = numeric_rows(table, np.arange(table.n_rows))
    sample = np.linspace(0, table.n_rows - 1, min(table.n_rows, _ROWS_TO_LEARN)).astype(np.int64)
    plane = plane_of(rows.values[sample], places[sample], rows.names)
    points = np.asarray(plane.points(rows.values), dtype=float)
    if points.shape[1] == 2 and not plane.axes[:, 1].any():
        # One column alone: its clusters stand above each other.
        points[:, 1] = places + np.random.default_rng(0).uniform(-0.3, 0.3, len(points))
    scaled = _scaled(points, sample)
    if before is not None:
        u, _, vt = np.linalg.svd(scaled[sample].T @ before[sample].astype(float))
        scaled = _scaled(scaled @ (u @ vt), sample)
    return scaled.astype(np.float32)


def _scaled(points: FloatArray, sample: IntArray) -> FloatArray:
    low, high = np.quantile(points[sample], _WITHIN, axis=0)
    half = np.where(high > low, (high - low) / 2, 1.0)
    return np.clip((points - (low + high) / 2) / half * _BORDER, -1, 1)
