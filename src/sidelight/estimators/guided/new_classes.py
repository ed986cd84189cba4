"""Classes that no label names: branches of Ward's tree in which labels are missing, though there should be some.

If a branch holds the share q_c of the rows that experts take for class c, and the class has m_c labels, the branch
should hold Σ_c q_c m_c of them, and holds none with probability Π_c (1 − q_c)^m_c. Minus the logarithm of that is the
surprise. A few labels of other classes may stray into a branch; the surprise is then that of a Poisson variable which
should be larger. How much surprise is needed depends on how far the branch lies from the other rows of the class it is
taken for: a part of one heap, cut off somewhere, needs much more than a heap of its own. The branches that are chosen
exceed what they need by the most, in sum.
"""

from typing import NamedTuple

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.stats import poisson

from sidelight._typing import BoolArray, FloatArray, IntArray
from sidelight.experts.dendrograms import Dendrogram, ward_tree

# Surprise needed, in nats: of a branch that touches its class, and of one far from it.
_NEEDED_NEAR, _NEEDED_FAR = 5.0, 2.0
# Halves of a normal distribution are this many standard deviations within apart; every further one saves this much.
_CUT_APART = 2.5
_SAVED = 2.0
# How much of the logarithm of the number of such branches is needed beside.
_SEARCH_PRICE = 0.5
# A branch may have at most this share of the labels it should have, at least these rows, and at most this share of all.
_MOST_LABELS = 0.34
_LEAST_ROWS = 5
# A class with fewer labels says nothing about where labels are missing.
_LEAST_LABELS = 3
_MOST_ROWS = 0.9
# A class of few labels may by chance have all of them outside of the branch with most of its rows.
_MOST_OF_A_CLASS = 0.8
# Rows of new classes are taken out of the labelled ones, and the others looked at again.
_PASSES = 3
_LEAST_PROBABILITY = 1e-300


class _Rows(NamedTuple):
    """Points (n, q), probabilities of the labelled classes (n, classes), and label codes (n,), -1 unknown."""

    points: FloatArray
    shares: FloatArray
    codes: IntArray


def unlabelled_groups(points: FloatArray, shares: FloatArray, codes: IntArray) -> list[IntArray]:
    """Return groups of rows, each an array of row numbers, that no labelled class explains; the largest first.

    Parameters
    ----------
    points : (n, q)
        Rows where distances mean something.
    shares : (n, classes)
        Probabilities of the labelled classes.
    codes : (n,)
        Label codes, -1 unknown.
    """
    rows, tree = _Rows(points, shares, codes), ward_tree(points)
    taken = np.zeros(len(points), dtype=bool)
    groups: list[IntArray] = []
    for _ in range(_PASSES):
        groups = [_rows_below(tree, node) for node in _chosen(tree, _excess(tree, rows, taken))]
        found = np.zeros(len(points), dtype=bool)
        found[np.concatenate([*groups, np.empty(0, dtype=np.int64)])] = True
        if np.array_equal(found, taken):
            break
        taken = found
    return sorted(groups, key=len, reverse=True)


def _excess(tree: Dendrogram, rows: _Rows, taken: BoolArray) -> FloatArray:
    """Return by how much the surprise at each node exceeds what is needed; negative where it does not."""
    n = tree.n_rows
    labelled = rows.codes >= 0
    n_labels = np.bincount(rows.codes[labelled], minlength=rows.shares.shape[1])
    n_labels = np.where(n_labels >= _LEAST_LABELS, n_labels, 0)
    below = _sums_below(tree, rows.shares)
    sizes, strays = _sums_below(tree, np.column_stack([np.ones(n), labelled])).T
    part = np.clip(below / np.maximum(rows.shares[~taken].sum(axis=0), np.maximum(below, 1.0)), 0.0, _MOST_OF_A_CLASS)
    expected = part @ n_labels
    surprise = np.where(
        strays == 0,
        -np.log1p(-part) @ n_labels,
        -np.log(np.maximum(poisson.cdf(strays, expected), _LEAST_PROBABILITY)),
    )
    price = _SEARCH_PRICE * np.log(n / sizes)
    possible = (surprise > _NEEDED_FAR + price) & (strays <= _MOST_LABELS * expected)
    possible &= (sizes >= _LEAST_ROWS) & (sizes < _MOST_ROWS * n)
    excess = np.full(2 * n - 1, -1.0)
    classes = rows.shares.argmax(axis=1)
    for node in np.flatnonzero(possible).tolist():
        group = _rows_below(tree, node)
        likeliest = int(below[node].argmax())
        others = np.setdiff1d(np.flatnonzero(classes == likeliest), group)
        apart = separation(rows.points[group], rows.points[others])
        needed = max(_NEEDED_FAR, _NEEDED_NEAR - _SAVED * max(apart - _CUT_APART, 0.0))
        excess[node] = surprise[node] - needed - price[node]
    return excess


def separation(group: FloatArray, others: FloatArray) -> float:
    """Return how far the means of two groups of points lie apart, in standard deviations within along that direction.

    The covariance within is shrunken towards its diagonal. Without other points the answer is infinite.
    """
    if not len(others):
        return float("inf")
    n, q = len(group) + len(others), group.shape[1]
    gap = group.mean(axis=0) - others.mean(axis=0)
    centred = np.concatenate([group - group.mean(axis=0), others - others.mean(axis=0)])
    scatter = centred.T @ centred
    variances = np.diag(scatter) / n
    within = (scatter + (q + 2) * np.diag(variances + 1e-9 * (1 + gap @ gap))) / (n + q + 2)
    return float(np.sqrt(max(gap @ cho_solve(cho_factor(within), gap), 0.0)))


def _chosen(tree: Dendrogram, excess: FloatArray) -> list[int]:
    """Return the disjoint nodes with the largest sum of positive excess."""
    n = tree.n_rows
    best = np.maximum(excess, 0.0)
    own = excess > 0
    for node in range(n, 2 * n - 1):
        below = best[tree.left[node - n]] + best[tree.right[node - n]]
        own[node] &= excess[node] >= below
        best[node] = excess[node] if own[node] else below
    found, open_nodes = [], [2 * n - 2]
    while open_nodes:
        node = open_nodes.pop()
        if own[node]:
            found.append(node)
        elif node >= n and best[node] > 0:
            open_nodes += [int(tree.left[node - n]), int(tree.right[node - n])]
    return found


def _sums_below(tree: Dendrogram, values: FloatArray) -> FloatArray:
    """Return the sums of values (n, k) over the rows below every node."""
    sums = np.concatenate([values, np.zeros((tree.n_rows - 1, values.shape[1]))])
    for node, (left, right) in enumerate(zip(tree.left, tree.right, strict=True), start=tree.n_rows):
        sums[node] = sums[left] + sums[right]
    return sums


def _rows_below(tree: Dendrogram, top: int) -> IntArray:
    rows, open_nodes = [], [top]
    while open_nodes:
        node = open_nodes.pop()
        if node < tree.n_rows:
            rows.append(node)
        else:
            open_nodes += [int(tree.left[node - tree.n_rows]), int(tree.right[node - tree.n_rows])]
    return np.sort(np.array(rows))
