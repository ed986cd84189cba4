"""How finely a tree of rows must be cut to divide classes, learned from the nodes that have labels on both sides.

The two sides of a node hold rows of different classes with a probability whose log odds fall with the logarithm of the
number k of clusters that the tree has there: a − b ln(k / C), for C labelled classes. Each node with labels on both
sides counts once, by the share of its pairs of labels that differ. Groups of rows without labels are divided where the
tree is cut into as many parts as make the odds even, so that they are as fine as the labelled classes.
"""

import numpy as np
from scipy.optimize import minimize

from sidelight._typing import FloatArray, IntArray
from sidelight.experts.dendrograms import Dendrogram

# Log odds that the sides of a node differ where a tree has as many clusters as there are classes, and the logarithm of
# their fall, before any label is seen: a group is seldom divided without need. How firmly they are believed.
_PRIOR = np.array([-1.0, 0.0])
_FIRMNESS = 1.0
# Fewer rows on one side of a node say nothing about classes.
_LEAST_SIDE = 3


def divided_like_classes(tree: Dendrogram, codes: IntArray, groups: list[IntArray], least_rows: int) -> list[IntArray]:
    """Return groups of rows, divided where the tree divides classes; parts of fewer rows join the largest.

    ``codes`` (n,) are label codes, -1 unknown.
    """
    if not groups:
        return []
    part_of = tree.cut(parts_like_classes(tree, codes))
    found: list[IntArray] = []
    for rows in groups:
        parts, at = np.unique(part_of[rows], return_inverse=True)
        sizes = np.bincount(at)
        at = np.where(sizes[at] >= least_rows, at, sizes.argmax())
        found += [rows[at == number] for number in range(len(parts)) if np.any(at == number)]
    return found


def parts_like_classes(tree: Dendrogram, codes: IntArray) -> int:
    """Return the number of clusters of a tree at which the sides of a node are as often of one class as not."""
    n, n_classes = tree.n_rows, int(codes.max()) + 1
    labels = np.column_stack([codes[:, None] == np.arange(n_classes), np.ones(n)]).astype(float)
    below = tree.sums(labels)
    counts, sizes = below[:, :-1], below[:, -1]
    seen = counts.sum(axis=1)
    left, right = tree.left, tree.right
    told = (seen[left] > 0) & (seen[right] > 0) & (np.minimum(sizes[left], sizes[right]) >= _LEAST_SIDE)
    left, right = left[told], right[told]
    log_ranks = np.log((n - 1.0 - np.flatnonzero(told)) / n_classes)
    differ = 1 - (counts[left] * counts[right]).sum(axis=1) / (seen[left] * seen[right])

    def loss(parameters: FloatArray) -> tuple[float, FloatArray]:
        fall = np.exp(parameters[1])
        odds = parameters[0] - fall * log_ranks
        apart = parameters - _PRIOR
        value = (np.logaddexp(0, odds) - differ * odds).sum() + _FIRMNESS * apart @ apart
        slope = 1 / (1 + np.exp(-odds)) - differ
        gradient = np.array([slope.sum(), -fall * (slope @ log_ranks)])
        return float(value), gradient + 2 * _FIRMNESS * apart

    level, log_fall = minimize(loss, _PRIOR, jac=True, method="L-BFGS-B", bounds=[(-20, 20), (-3, 3)]).x
    return int(np.clip(n_classes * np.exp(level / np.exp(log_fall)), 1, n))
