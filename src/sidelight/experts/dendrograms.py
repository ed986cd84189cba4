"""Ward's trees, found without labels and read through them: an average over all ways to cut each tree.

A cut of a tree says that the rows below each of its leaves share one distribution of classes, drawn from a Dirichlet
distribution of precision a; a node at which the tree has j clusters is split further with probability
1 / (1 + (j / bC)²), C being the number of classes. The sum over all cuts follows from the leaves up, as in context tree
weighting (Willems, Shtarkov and Tjalkens 1995): with DM the Dirichlet-multinomial probability of the labels below a
node and s its probability to be split,

    P(node) = (1 − s) DM(node) + s P(left) P(right),

and what a row may expect is the mean over the nodes above it, by the posterior probability that the cut is there. The
trees are those of several random parts of the features; b is the one of two with the most evidence. One more tree, an
expert of its own, joins the rows of each cluster of a mixture before it joins clusters, so that clusters without labels
learn from those near to them.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.cluster.hierarchy import linkage
from scipy.special import gammaln

from sidelight._typing import FloatArray, IntArray
from sidelight.experts.expert import Lesson, Opinion, normalised
from sidelight.experts.neighbours import NearestRowsOpinion
from sidelight.experts.view import View
from sidelight.graphs.metric import by_components

_PRECISION = 0.3
_RESOLUTIONS = (3.0, 10.0)
# Tables of at most this many features keep them all in every tree, with random weights.
_FEW_FEATURES = 8
_NEW_ROW_NEIGHBOURS = 5
# How far rows are moved towards the means of their clusters before the tree of clusters is grown, and its prior weight.
_TOWARDS_MEANS = 0.7
_CLUSTER_TREE_WEIGHT = 0.2


class Join(NamedTuple):
    """Inner nodes (m,) of a tree, and the two nodes that each joins."""

    nodes: IntArray
    left: IntArray
    right: IntArray


class Dendrogram(NamedTuple):
    """A binary tree of rows: node n + i joins ``left[i]`` and ``right[i]``; the root has the parent -1.

    ``levels`` has the inner nodes from the leaves up; none is above another one of its level.
    """

    n_rows: int
    left: IntArray
    right: IntArray
    parent: IntArray
    levels: tuple[Join, ...]

    def sums(self, values: FloatArray) -> FloatArray:
        """Return the sums (nodes, k) of values (n, k) over the rows below every node."""
        found = np.concatenate([values, np.zeros((self.n_rows - 1, values.shape[1]))])
        for nodes, left, right in self.levels:
            found[nodes] = found[left] + found[right]
        return found

    def cut(self, n_parts: int) -> IntArray:
        """Return the part (n,) of each row, a node, where the last joins are undone until there are so many parts."""
        n = self.n_rows
        node = np.arange(n)
        # The last joins are the nodes with the highest numbers.
        undone = 2 * n - 1 - (min(n_parts, n) - 1)
        while True:
            above = self.parent[node]
            inside = (above >= 0) & (above < undone)
            if not inside.any():
                return node
            node = np.where(inside, above, node)


def ward_tree(points: FloatArray) -> Dendrogram:
    """Return Ward's tree (1963) of some points."""
    n = len(points)
    merged = linkage(points, "ward")[:, :2].astype(np.int64) if n > 1 else np.empty((0, 2), dtype=np.int64)
    parent = np.full(2 * n - 1, -1)
    for side in (0, 1):
        parent[merged[:, side]] = n + np.arange(n - 1)
    return Dendrogram(n, merged[:, 0], merged[:, 1], parent, _levels(n, merged))


def _levels(n: int, merged: IntArray) -> tuple[Join, ...]:
    """Return the inner nodes by their height above the leaves."""
    heights = [0] * n
    for left, right in merged.tolist():
        heights.append(1 + max(heights[left], heights[right]))
    by_height = np.argsort(heights[n:], kind="stable")
    starts = np.flatnonzero(np.diff(np.array(heights[n:])[by_height])) + 1
    return tuple(Join(n + at, *merged[at].T) for at in np.split(by_height, starts) if len(at))


class Cuts(NamedTuple):
    """The sum over all cuts of a tree.

    Parameters
    ----------
    counts : (nodes, classes)
        Labels below each node.
    log_stop, log_split : (nodes,)
        Log prior probabilities that the cut is at a node, if it is not above, and that it is below.
    log_sum : (nodes,)
        Log probability of the labels below each node, over all cuts below it.
    precision : float
        a, that of the Dirichlet prior.
    """

    counts: FloatArray
    log_stop: FloatArray
    log_split: FloatArray
    log_sum: FloatArray
    precision: float

    @property
    def evidence(self) -> float:
        """Log probability of all labels."""
        return float(self.log_sum[-1])


def sum_cuts(tree: Dendrogram, lesson: Lesson, precision: float, resolution: float) -> Cuts:
    """Sum over all cuts, from the leaves up."""
    n = tree.n_rows
    labels = np.zeros((n, lesson.n_classes))
    labels[lesson.rows] = lesson.one_hot()
    counts = tree.sums(labels)
    here = log_dirichlet_multinomial(counts, precision)
    clusters = np.arange(n - 1, 0, -1.0)
    ratio = (clusters / (resolution * lesson.n_classes)) ** 2
    log_stop, log_split = np.zeros(2 * n - 1), np.full(2 * n - 1, -np.inf)
    log_split[n:] = -np.log1p(ratio)
    log_stop[n:] = np.log(ratio) - np.log1p(ratio)
    log_sum = here.copy()
    for nodes, left, right in tree.levels:
        below = log_sum[left] + log_sum[right]
        log_sum[nodes] = np.logaddexp(log_stop[nodes] + here[nodes], log_split[nodes] + below)
    return Cuts(counts, log_stop, log_split, log_sum, precision)


def log_dirichlet_multinomial(counts: FloatArray, precision: float) -> FloatArray:
    """Return the log probability (nodes,) of labels, in their order, under an even Dirichlet prior."""
    each = precision / counts.shape[1]
    terms = (gammaln(each + counts) - gammaln(each)).sum(axis=1)
    return np.asarray(terms + gammaln(precision) - gammaln(precision + counts.sum(axis=1)))


def expected_shares(tree: Dendrogram, cuts: Cuts) -> FloatArray:
    """Return the probability (n, classes) of each class for each row: the mean over the cuts, by their posterior."""
    n, here = tree.n_rows, log_dirichlet_multinomial(cuts.counts, cuts.precision)
    stop = np.exp(np.minimum(cuts.log_stop + here - cuts.log_sum, 0.0))
    predicted = _predicted(cuts.counts, cuts.precision)
    reached, shares = np.zeros(2 * n - 1), np.zeros_like(predicted)
    reached[-1] = 1.0
    for nodes, left, right in reversed(tree.levels):
        so_far = shares[nodes] + (reached[nodes] * stop[nodes])[:, None] * predicted[nodes]
        for child in (left, right):
            shares[child], reached[child] = so_far, reached[nodes] * (1 - stop[nodes])
    return normalised(shares[:n] + reached[:n, None] * predicted[:n])


def shares_held_out(tree: Dendrogram, lesson: Lesson, precision: float, resolution: float) -> FloatArray:
    """Return the same for the labelled rows (m, classes), each as if the labels of its fold were unknown."""
    found = np.empty((len(lesson.rows), lesson.n_classes))
    for fold in np.unique(lesson.folds):
        out = lesson.folds == fold
        cuts = sum_cuts(tree, lesson.part(np.flatnonzero(~out)), precision, resolution)
        found[out] = expected_shares(tree, cuts)[lesson.rows[out]]
    return found


def _predicted(counts: FloatArray, precision: float) -> FloatArray:
    """Return the expected shares (nodes, classes) of the rows below each node."""
    n_classes = counts.shape[1]
    return (counts + precision / n_classes) / (counts.sum(axis=1, keepdims=True) + precision)


@dataclass(frozen=True, eq=False)
class DendrogramExpert:
    """Several of Ward's trees of the rows of a table, each on a random part of the features."""

    trees: tuple[Dendrogram, ...]
    name: str = "dendrograms"
    prior_weight: float = 0.3

    @classmethod
    def of(cls, view: View, random: np.random.RandomState, n_trees: int = 6) -> "DendrogramExpert":
        """Grow the trees, which statements do not change: rounds of learning share them."""
        return cls(tuple(ward_tree(random_part(view.features, random)) for _ in range(n_trees)))

    @classmethod
    def of_clusters(cls, view: View, memberships: FloatArray) -> "DendrogramExpert":
        """Grow one tree of clusters and their rows, by distances as the clusters (n, clusters) see them."""
        points = by_components(view.coordinates, np.ones(len(memberships)), memberships)
        means = memberships.T @ points / np.maximum(memberships.sum(axis=0), np.finfo(float).tiny)[:, None]
        moved = (1 - _TOWARDS_MEANS) * points + _TOWARDS_MEANS * memberships @ means
        return cls((ward_tree(moved),), "cluster tree", _CLUSTER_TREE_WEIGHT)

    def consult(self, view: View, lesson: Lesson, random: np.random.RandomState) -> Opinion:
        """Read every tree through the labels; the opinion is the mean."""
        found, held_out = [], []
        for tree in self.trees:
            tried = {b: sum_cuts(tree, lesson, _PRECISION, b) for b in _RESOLUTIONS}
            resolution = max(tried, key=lambda b: tried[b].evidence)
            found.append(expected_shares(tree, tried[resolution]))
            held_out.append(shares_held_out(tree, lesson, _PRECISION, resolution))
        shares = np.mean(found, axis=0)
        learned = NearestRowsOpinion(view.coordinates, shares, _NEW_ROW_NEIGHBOURS)
        return Opinion(learned, shares, np.mean(held_out, axis=0))


def random_part(features: FloatArray, random: np.random.RandomState) -> FloatArray:
    """Return half of the features, chosen at random; of few features all, with random weights."""
    n_features = features.shape[1]
    if n_features > _FEW_FEATURES:
        return features[:, random.permutation(n_features)[: (n_features + 1) // 2]]
    return features * np.sqrt(random.standard_exponential(n_features))
