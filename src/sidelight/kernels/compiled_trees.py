"""Rows that go down many trees, compiled by numba; imported only where there is enough to do."""

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
    """See :func:`sidelight.kernels.trees.add_shares`."""
    n, n_classes = total.shape
    for start in range(0, n, _ROWS):
        for t in range(len(roots)):
            for row in range(start, min(start + _ROWS, n)):
                node = roots[t]
                while lefts[node] != node:
                    node = lefts[node] if rows[row, features[node]] <= thresholds[node] else rights[node]
                for c in range(n_classes):
                    total[row, c] += shares[node, c]
