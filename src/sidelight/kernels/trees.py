"""Rows that go down many trees, in NumPy, or compiled where numba is installed and it pays."""

from importlib import import_module
from typing import NamedTuple

import numpy as np

from sidelight._typing import FloatArray, IntArray
from sidelight.kernels.loops import worth_compiling

# Rows that go down the trees at a time.
_ROWS_AT_ONCE = 4096
# A row costs as much in a tree as this many scores, in NumPy.
_SCORES_PER_TREE = 40


class Trees(NamedTuple):
    """Trees as arrays, one after the other.

    Parameters
    ----------
    roots : (trees,)
        The first node of each.
    features, thresholds, lefts, rights : (nodes,)
        Rows whose feature is at most the threshold go left; leaves are their own children.
    shares : (nodes, classes)
    """

    roots: IntArray
    features: IntArray
    thresholds: FloatArray
    lefts: IntArray
    rights: IntArray
    shares: FloatArray


def mean_shares(rows: FloatArray, trees: Trees) -> FloatArray:
    """Return the mean (n, classes) of the shares at the leaves that rows (n, features) come to."""
    found = np.zeros((len(rows), trees.shares.shape[1]))
    if worth_compiling(_SCORES_PER_TREE * len(rows) * len(trees.roots)):
        import_module("sidelight.kernels.compiled_trees").add_shares(rows, *trees, found)
    else:
        for start in range(0, len(rows), _ROWS_AT_ONCE):
            part = slice(start, start + _ROWS_AT_ONCE)
            add_shares(rows[part], trees, found[part])
    return found / len(trees.roots)


def add_shares(rows: FloatArray, trees: Trees, total: FloatArray) -> None:
    """Add to (n, classes) the shares at the leaf of every tree that each row comes to."""
    for root in trees.roots:
        nodes = np.full(len(rows), root)
        going = np.arange(len(rows))
        while len(going):
            at = nodes[going]
            left = rows[going, trees.features[at]] <= trees.thresholds[at]
            nodes[going] = np.where(left, trees.lefts[at], trees.rights[at])
            going = going[nodes[going] != at]
        total += trees.shares[nodes]
