"""Rows bound together, taken as one heavy point each."""

from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array

from sidelight._typing import FloatArray, IntArray
from sidelight.side import Closure


class Points(NamedTuple):
    """The chunklets of a table.

    Parameters
    ----------
    of_row : (n,)
        Chunklet of each row.
    means : (chunklets, d)
    weights : (chunklets,)
        Number of rows.
    scatter : float
        Sum of squared distances of rows from the mean of their chunklet: what no clustering of chunklets can change.
    """

    of_row: IntArray
    means: FloatArray
    weights: FloatArray
    scatter: float


def contract(X: FloatArray, closure: Closure) -> Points:
    """Replace the rows of each chunklet by their mean, with their number as its weight."""
    weights = closure.sizes.astype(float)
    means = group_sums(X, closure.chunklets, len(weights)) / weights[:, None]
    scatter = float(np.square(X - means[closure.chunklets]).sum())
    return Points(closure.chunklets, means, weights, scatter)


def group_sums(values: FloatArray, groups: IntArray, n_groups: int) -> FloatArray:
    """Add up rows by group: (n, d) and (n,) give (groups, d)."""
    n = len(groups)
    indicator = csr_array((np.ones(n), groups, np.arange(n + 1)), shape=(n, n_groups))
    return indicator.T @ values
