"""Rows that go down many trees, compiled by numba; imported only where there is enough to do."""

import numpy as np
from numba import njit

from sidelight._typing import FloatArray, IntArray

# Rows that one tree takes at a time, so that it stays in the cache.
_ROWS = 512


@njit(cache=True, nogil=True, error_model="numpy")
def add_shares(
    rows: FloatArray,
    roots: IntArray,
    features: IntArray,
    thresholds: FloatArray,
    lefts: IntArray,
    rights: IntArray,
    shares: FloatArray,
    total: FloatArray,
) -> None:
    """See :func:`sidelight.kernels.trees.add_shares`.

    All rows take a step, then the next: a row that goes down by itself waits for the memory at every node.
    """
    n, n_classes = total.shape
    at = np.empty(_ROWS, dtype=np.int64)
    going = np.empty(_ROWS, dtype=np.int64)
    children = np.empty(2 * len(lefts), dtype=np.int64)
    for node in range(len(lefts)):
        children[2 * node] = rights[node]
        children[2 * node + 1] = lefts[node]
    for start in range(0, n, _ROWS):
        n_rows = min(_ROWS, n - start)
        for t in range(len(roots)):
            at[:n_rows] = roots[t]
            for row in range(n_rows):
                going[row] = row
            n_going = n_rows
            while n_going:
                left_over = 0
                for number in range(n_going):
                    row = going[number]
                    node = at[row]
                    following = children[2 * node + np.int64(rows[start + row, features[node]] <= thresholds[node])]
                    at[row] = following
                    going[left_over] = row
                    left_over += following != node
                n_going = left_over
            for row in range(n_rows):
                for c in range(n_classes):
                    total[start + row, c] += shares[at[row], c]
