"""Classes that no label names: groups of rows in which labels are missing, though there should be some.

The groups are branches of Ward's tree, or the clusters of a mixture that knows no labels: whichever gives more. If a
group holds the share q_c of the rows that experts take for class c, and the class has m_c labels, the group should hold
Σ_c q_c m_c of them, and holds none with probability Π_c (1 − q_c)^m_c. Minus the logarithm of that is the surprise. A
few labels of other classes may stray into a group; the surprise is then that of a Poisson variable which should be
larger. How much surprise is needed depends on how far the group lies from other rows of the classes it is taken for: a
part cut off somewhere from a group needs much more than a group that lies apart. It also depends on the experts: rows
of a class that none of them has seen are given to one labelled class by some and to another by others, so a group needs
less surprise where experts agree less than on labelled rows whose label they have not seen, and more where they agree
more. And it depends on the labelled classes: where each of them is several clusters of the mixture, or the mixture has
many more clusters than there are labelled classes, a cluster without labels may well be one more of theirs. Links
between a group and the rest of the classes it is taken for count as well: cannot-links for the group, must-links
against it, as far as the labelled classes do not lead one to expect them. The groups that are chosen exceed what they
need by the most, in sum. They are then divided where the tree divides labelled classes too
(:mod:`~sidelight.estimators.guided.granularity`): several new classes may lie side by side.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.stats import poisson

from sidelight._typing import BoolArray, FloatArray, IntArray
from sidelight.estimators.guided.granularity import divided_like_classes
from sidelight.estimators.starts.partitions import Links
from sidelight.experts.dendrograms import Dendrogram, ward_tree

# Surprise needed, in nats: of a branch that touches its class, and of one far from it.
_NEEDED_NEAR, _NEEDED_FAR = 5.0, 1.5
# Halves of a normal distribution are this many standard deviations within apart; every further one saves this much.
_CUT_APART = 2.5
_SAVED = 1.5
# Nothing is added to what is needed where the labels of a class lie in this many clusters or fewer, on average, and
# nothing where there are this many clusters for each labelled class; one nat more with every factor of e, for either,
# and so much at most.
_CLUSTERS_OF_A_CLASS = 1.5
_MOST_ADDED = 2.0
# A group is taken for the classes that have at least this share of it: it may lie on the border of two.
_TAKEN_FOR = 0.25
# How much of the logarithm of the number of such branches is needed beside.
_SEARCH_PRICE = 0.65
# A branch may have at most this share of the labels it should have, at least these rows, and at most this share of all.
_MOST_LABELS = 0.3
_LEAST_ROWS = 5
# The share of labelled rows of a class is near that of the table, by this many labels. But a class has no more labels
# to miss than it has, and so many: where as many rows of every class were labelled, large classes have a small share.
_OVERALL_LABELS = 3.0
_MORE_LABELS = 0.5
# With fewer labels in all, none can be missed. With fewer labels of a class than so many, on average, experts know
# little of what classes look like: this much more surprise is needed for every factor of e.
_LEAST_LABELS = 6
_FEW_LABELS, _NEEDED_WITH_FEW = 3.0, 2.0
# How many nats of surprise are saved for every factor of e by which experts agree less than on labelled rows, and
# needed where they agree more, as far as that counts; what is added to both sides of the ratio. Nothing is saved on
# the border of two classes, where experts disagree too: the saving grows from nothing at this distance to all of it one
# standard deviation further.
_DISAGREEMENT = 3.0
_LEAST_LOG_RATIO, _MOST_LOG_RATIO = -0.5, 1.0
_LEAST_DOUBT = 0.02
_BORDER = 3.0
# A row of a new class and one of another class are of one class with this probability: groups hold rows of others too.
_SAME_ACROSS = 0.1
# How sure experts may be that two rows are of one class, or of two; how much all links together say at most, in nats.
_SUREST, _MOST_OF_LINKS = 0.95, 4.0
# Labelled rows of all classes that count beside those of a class, as to how far experts agree on it.
_OTHER_ROWS = 3.0
_MOST_ROWS = 0.9
# A class of few labels may by chance have all of them outside of the branch with most of its rows.
_MOST_OF_A_CLASS = 0.8
# Rows of new classes are taken out of the labelled ones, and the others looked at again.
_PASSES = 3
_LEAST_PROBABILITY = 1e-300


class _Rows(NamedTuple):
    """Points (n, q), probabilities of the labelled classes (n, classes), and label codes (n,), -1 unknown.

    ``usual_doubts`` (classes,) are those of the experts about rows of each class whose label they have not seen,
    ``added`` is the surprise that every group needs beside, in nats.
    """

    points: FloatArray
    shares: FloatArray
    codes: IntArray
    usual_doubts: FloatArray
    added: float
    links: Links


class _Groups(NamedTuple):
    """Groups that may be classes.

    Parameters
    ----------
    shares : (groups, classes)
        Sums of the probabilities of the labelled classes over the rows of each.
    sizes, strays, doubts : (groups,)
        Number of rows, and of rows with a label; sum of the experts' doubts.
    members : callable
        Returns the rows of a group.
    """

    shares: FloatArray
    sizes: FloatArray
    strays: FloatArray
    doubts: FloatArray
    members: Callable[[int], IntArray]


def unlabelled_groups(
    points: FloatArray, shares: FloatArray, doubts: FloatArray, codes: IntArray, links: Links, clusters: IntArray
) -> list[IntArray]:
    """Return groups of rows, each an array of row numbers, that no labelled class explains; the largest first.

    Parameters
    ----------
    points : (n, q)
        Rows where distances mean something.
    shares : (n, classes)
        Probabilities of the labelled classes.
    doubts : (n,)
        How far experts disagree with what they say together; of labelled rows, as if their labels were unknown.
    codes : (n,)
        Label codes, -1 unknown.
    links : Links
    clusters : (n,)
        A partition found without the labels: 0, 1, 2 and so on.
    """
    n_labels = np.count_nonzero(codes >= 0)
    if n_labels < _LEAST_LABELS:
        return []
    tree = ward_tree(points)
    added = added_by_clusters(clusters[codes >= 0], int(clusters.max()) + 1, shares.shape[1])
    added += _NEEDED_WITH_FEW * max(np.log(_FEW_LABELS * shares.shape[1] / n_labels), 0.0)
    rows = _Rows(points, shares, codes, _usual_doubts(doubts, codes, shares.shape[1]), added, links)
    counts = np.column_stack([shares, np.ones(len(points)), codes >= 0, doubts])
    branches = _Groups(*_columns(tree.sums(counts)), lambda node: _rows_below(tree, node))
    one_hot = (clusters[:, None] == np.arange(clusters.max() + 1)).astype(float)
    separate = _Groups(*_columns(one_hot.T @ counts), lambda number: np.flatnonzero(clusters == number))
    by_branch = _without_labels(rows, branches, lambda excess: _disjoint(tree, excess))
    by_cluster = _without_labels(rows, separate, lambda excess: np.flatnonzero(excess > 0).tolist())
    groups = max(by_branch, by_cluster, key=lambda found: found.excess).groups
    return sorted(divided_like_classes(tree, codes, groups, _LEAST_ROWS), key=len, reverse=True)


def _columns(sums: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    return sums[:, :-3], sums[:, -3], sums[:, -2], sums[:, -1]


def _usual_doubts(doubts: FloatArray, codes: IntArray, n_classes: int) -> FloatArray:
    """Return the mean doubt (classes,) about labelled rows of each class, and about a few of all classes."""
    labelled = codes >= 0
    sums = np.bincount(codes[labelled], doubts[labelled], n_classes)
    counts = np.bincount(codes[labelled], minlength=n_classes)
    return (sums + _OTHER_ROWS * doubts[labelled].mean()) / (counts + _OTHER_ROWS)


def added_by_clusters(labelled: IntArray, n_clusters: int, n_classes: int) -> float:
    """Return the surprise that a group needs beside, in nats, by the clusters of labelled rows (m,) and by all."""
    per_class = np.array([len(np.unique(labelled)), n_clusters]) / n_classes
    return float(np.clip(np.log(per_class / _CLUSTERS_OF_A_CLASS), 0.0, _MOST_ADDED).sum())


class _Found(NamedTuple):
    """Groups of rows, and by how much they exceed what they need, in sum."""

    groups: list[IntArray]
    excess: float


def _without_labels(rows: _Rows, groups: _Groups, choose: Callable[[FloatArray], list[int]]) -> _Found:
    """Return the groups that exceed what they need; ``choose`` picks some that share no rows."""
    taken = np.zeros(len(rows.points), dtype=bool)
    found = _Found([], 0.0)
    for _ in range(_PASSES):
        excess = _excess(rows, groups, taken)
        chosen = choose(excess)
        found = _Found([groups.members(number) for number in chosen], float(excess[chosen].sum()))
        now = np.zeros(len(rows.points), dtype=bool)
        now[np.concatenate([*found.groups, np.empty(0, dtype=np.int64)])] = True
        if np.array_equal(now, taken):
            break
        taken = now
    return found


def _excess(rows: _Rows, groups: _Groups, taken: BoolArray) -> FloatArray:
    """Return by how much the surprise at each group exceeds what is needed; negative where it does not."""
    n, (below, sizes, strays, doubts) = len(rows.points), groups[:4]
    counts = np.bincount(rows.codes[rows.codes >= 0], minlength=rows.shares.shape[1])
    whole = np.maximum(rows.shares[~taken].sum(axis=0), np.maximum(below, 1.0))
    part = np.clip(below / whole, 0.0, _MOST_OF_A_CLASS)
    labelled_share = counts.sum() / max(np.count_nonzero(~taken), 1)
    n_labels = whole * (counts + _OVERALL_LABELS) / (whole + _OVERALL_LABELS / labelled_share)
    n_labels = np.minimum(n_labels, counts + _MORE_LABELS)
    expected = (part * n_labels).sum(axis=1)
    surprise = np.where(
        strays == 0,
        -(np.log1p(-part) * n_labels).sum(axis=1),
        -np.log(np.maximum(poisson.cdf(strays, expected), _LEAST_PROBABILITY)),
    )
    ratio = np.log((doubts + _LEAST_DOUBT * sizes) / (below @ rows.usual_doubts + _LEAST_DOUBT * sizes))
    saved = _DISAGREEMENT * np.clip(ratio, _LEAST_LOG_RATIO, _MOST_LOG_RATIO)
    price = _SEARCH_PRICE * np.log(n / np.maximum(sizes, 1.0)) + rows.added
    most_of_links = _MOST_OF_LINKS * (~rows.links.same).any()
    possible = (surprise > _NEEDED_FAR + price - saved - most_of_links) & (strays <= _MOST_LABELS * expected)
    possible &= (sizes >= _LEAST_ROWS) & (sizes < _MOST_ROWS * n)
    excess = np.full(len(sizes), -1.0)
    classes = rows.shares.argmax(axis=1)
    for number in np.flatnonzero(possible).tolist():
        members = groups.members(number)
        taken_for = np.flatnonzero(below[number] >= min(_TAKEN_FOR * sizes[number], below[number].max()))
        others = [np.setdiff1d(np.flatnonzero(classes == c), members) for c in taken_for]
        apart = min(separation(rows.points[members], rows.points[own]) for own in others)
        needed = max(_NEEDED_FAR, _NEEDED_NEAR - _SAVED * max(apart - _CUT_APART, 0.0))
        needed += price[number] - saved[number] * (np.clip(apart - _BORDER, 0.0, 1.0) if saved[number] > 0 else 1.0)
        excess[number] = surprise[number] + _said_by_links(rows, members, np.concatenate(others)) - needed
    return excess


def _said_by_links(rows: _Rows, members: IntArray, others: IntArray) -> float:
    """Return what links between two sets of rows say for a class of the first ones, in nats.

    It is the log ratio of their probability if the first are a class of their own to that by the labelled classes. So a
    cannot-link says little on the border of two classes, where it is expected.
    """
    links = rows.links
    inside, outside = np.isin(links.pairs, members), np.isin(links.pairs, others)
    across = (inside[:, 0] & outside[:, 1]) | (inside[:, 1] & outside[:, 0])
    first, second = links.pairs[across].T
    same = (rows.shares[first] * rows.shares[second]).sum(axis=1).clip(1 - _SUREST, _SUREST)
    ratios = np.where(links.same[across], _SAME_ACROSS / same, (1 - _SAME_ACROSS) / (1 - same))
    return float(min(np.log(ratios).sum(), _MOST_OF_LINKS))


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


def _disjoint(tree: Dendrogram, excess: FloatArray) -> list[int]:
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


def _rows_below(tree: Dendrogram, top: int) -> IntArray:
    rows, open_nodes = [], [top]
    while open_nodes:
        node = open_nodes.pop()
        if node < tree.n_rows:
            rows.append(node)
        else:
            open_nodes += [int(tree.left[node - tree.n_rows]), int(tree.right[node - tree.n_rows])]
    return np.sort(np.array(rows))
