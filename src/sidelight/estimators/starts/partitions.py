"""Classes to start from where only links are known, and their number: groups of rows, joined by links and distance.

The groups are cuts of Ward's tree, in the coordinates of the table and in a metric learned from the links. Groups are
then joined, two at a time: those whose links speak for it most, and by Ward's criterion where there are none. How
far to join, and which groups to start from, is what predicts links best that were held back. Another candidate obeys
the links: rows that must-links join are groups, which are joined as long as that breaks no cannot-link.
"""

from collections.abc import Iterable
from itertools import islice
from typing import NamedTuple

import numpy as np
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.optimize import minimize
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from sidelight._typing import BoolArray, FloatArray, IntArray
from sidelight.experts.folds import N_FOLDS
from sidelight.side import SideInformation

# Groups that the trees are cut into.
_CUTS = (8, 16, 32, 64)
# In a group there should be this many rows on average.
_ROWS_PER_GROUP = 4
# The most that a link counts: its log odds are those of one wrong link in twenty, or of its confidence if that is less.
_MOST_WEIGHT = 0.9
# Links that count less do not bind rows together.
_LEAST_BINDING = 0.5
# What a merger costs that raises the sum of squares by the share of one group, in nats.
_DISTANCE_PRICE = 3.0
# The number of classes is about that of the clusters found without links: the standard deviation of its logarithm,
# above and below. A mixture rather divides a class than it joins two.
_DEVIATION_ABOVE, _DEVIATION_BELOW = 0.7, 3.0
# Candidates that held-back links choose, and groups that obedient ones start from.
_MOST_CANDIDATES = 3
_MOST_GROUPS = 250
# Links whose rows the number of classes is looked for on.
_MOST_LINKS = 750


class Links(NamedTuple):
    """Pairs of rows (q, 2), and whether a must-link joins them (q,).

    ``weights`` (q,) are how much links count: 2c − 1 for one of confidence c; at 0.5 a link says nothing.
    """

    pairs: IntArray
    same: BoolArray
    weights: FloatArray

    def take(self, chosen: BoolArray) -> "Links":
        """Return some of them."""
        return Links(self.pairs[chosen], self.same[chosen], self.weights[chosen])


def links_of(side: SideInformation) -> Links:
    """Return the links of side information, must-links first."""
    pairs = np.concatenate([side.must_link, side.cannot_link])
    confidence = np.concatenate([side.must_link_confidence, side.cannot_link_confidence])
    return Links(pairs, np.arange(len(pairs)) < len(side.must_link), 2 * confidence - 1)


class Path(NamedTuple):
    """A way to a partition: by which groups, how many of them, and how many classes they are joined into."""

    groups: str
    n_groups: int
    n_classes: int


def likely_partitions(
    points: FloatArray, clusters: IntArray, links: Links, n_classes: int | None, random: np.random.RandomState
) -> list[IntArray]:
    """Return the classes (n,) of promising partitions, of different numbers of classes, the most promising first.

    ``clusters`` (n,), found without the links, are groups to start from, as the cuts of trees are. Where ``n_classes``
    is known, partitions have that number.
    """
    n_links = max(len(links.same), 1)
    scores = {
        path: predictiveness(table) - price_of_number(path.n_classes, clusters) / n_links
        for path, table in _held_back(points, clusters, links, n_classes, random).items()
    }
    found = dict(_paths(points, clusters, links, n_classes))
    chosen: dict[int, IntArray] = {}
    for path in sorted(found, key=lambda path: -scores.get(path, -np.inf)):
        if len(chosen) < _MOST_CANDIDATES:
            chosen.setdefault(path.n_classes, found[path])
    candidates = list(chosen.values())
    obedient = obedient_partition(points, links, n_classes)
    if obedient is not None:
        candidates.append(obedient)
    # Rows that are all alike, or fewer different ones than classes, have no such partition.
    return candidates or [np.zeros(len(points), dtype=np.int64)]


def number_of_classes(points: FloatArray, links: Links, random: np.random.RandomState) -> int:
    """Return the number of classes that predicts links best, at least two.

    Linked rows are looked at, of many those of some links. The obedient partition competes with groups that are
    joined; it is the better one where links are many.
    """
    few = random.permutation(len(links.same))[:_MOST_LINKS]
    rows, ends = np.unique(links.pairs[np.isin(links.pairs, links.pairs[few]).all(axis=1)], return_inverse=True)
    kept = np.isin(links.pairs, rows).all(axis=1)
    points, links = points[rows], Links(ends.reshape(-1, 2), links.same[kept], links.weights[kept])
    tables = _held_back(points, None, links, None, random)
    obedient = obedient_partition(points, links, None)
    if obedient is not None:
        path = Path("obedient", 0, int(obedient.max()) + 1)
        for rest, held in _folds(links, random):
            partition = obedient_partition(points, rest, None)
            if partition is not None:
                tables[path] = tables.get(path, np.zeros((2, 2))) + contingency(partition, held)
    scores: dict[int, float] = {}
    for path, table in tables.items():
        scores[path.n_classes] = max(predictiveness(table), scores.get(path.n_classes, 0.0))
    if not scores:
        return 2
    return max(scores, key=lambda number: (scores[number], -number))


def _held_back(
    points: FloatArray, clusters: IntArray | None, links: Links, n_classes: int | None, random: np.random.RandomState
) -> dict[Path, FloatArray]:
    """Return how every way to a partition, without a fold of the links, predicts that fold: tables, summed."""
    tables: dict[Path, FloatArray] = {}
    for rest, held in _folds(links, random):
        for path, classes in _paths(points, clusters, rest, n_classes):
            tables[path] = tables.get(path, np.zeros((2, 2))) + contingency(classes, held)
    return tables


def _folds(links: Links, random: np.random.RandomState) -> Iterable[tuple[Links, Links]]:
    """Yield the other links and those held back, fold by fold."""
    folds = random.permutation(len(links.same)) % N_FOLDS
    for fold in range(min(N_FOLDS, len(links.same))):
        out = folds == fold
        yield links.take(~out), links.take(out)


def obedient_partition(points: FloatArray, links: Links, n_classes: int | None) -> IntArray | None:
    """Return the partition (n,) with the fewest classes that joining the ends of must-links leads to; None without one.

    Groups with most links are joined two at a time, by distance and by links, as long as that breaks no cannot-link,
    or until ``n_classes`` are left. Other rows are of the class with the nearest mean.
    """
    links = links.take(links.weights >= _LEAST_BINDING)
    if not len(links.same):
        return None
    rows, ends = np.unique(links.pairs, return_inverse=True)
    ends = ends.reshape(-1, 2)
    must = ends[links.same]
    graph = coo_array((np.ones(len(must)), (must[:, 0], must[:, 1])), shape=(len(rows), len(rows)))
    parts = connected_components(graph, directed=False)[1]
    largest = np.argsort(-np.bincount(parts, np.bincount(ends.ravel())), kind="stable")[:_MOST_GROUPS]
    number = np.full(parts.max() + 1, -1)
    number[largest] = np.arange(len(largest))
    kept = number[parts] >= 0
    place = np.cumsum(kept) - 1
    between = kept[ends].all(axis=1)
    among = Links(place[ends[between]], links.same[between], links.weights[between])
    own = points[rows[kept]]
    found: IntArray | None = None
    broken = None
    for classes in joined(number[parts[kept]], own, among):
        n_broken = contingency(classes, among)[0, 1]
        broken = n_broken if broken is None else broken
        n_left = int(classes.max()) + 1
        if n_left < 2 or n_left < (n_classes or 0) or (n_classes is None and n_broken > broken):
            break
        found = classes
    if found is None or (n_classes is not None and found.max() + 1 > n_classes):
        return None
    means = np.array([own[found == c].mean(axis=0) for c in range(found.max() + 1)])
    everywhere = np.square(points[:, None] - means).sum(axis=2).argmin(axis=1)
    everywhere[rows[kept]] = found
    return everywhere


def price_of_number(n_classes: int, clusters: IntArray) -> float:
    """Return what a number of classes costs, in nats: it should be near the number of the clusters."""
    apart = np.log(n_classes / max(int(clusters.max()) + 1, 2))
    return float(0.5 * (apart / (_DEVIATION_ABOVE if apart > 0 else _DEVIATION_BELOW)) ** 2)


def _paths(
    points: FloatArray, clusters: IntArray | None, links: Links, n_classes: int | None
) -> Iterable[tuple[Path, IntArray]]:
    """Yield partitions and the ways to them."""

    def possible(name: str, groups: IntArray, coordinates: FloatArray) -> Iterable[tuple[Path, IntArray]]:
        for classes in joined(groups, coordinates, links):
            number = int(classes.max()) + 1
            if number == n_classes or (n_classes is None and number >= 2):
                yield Path(name, int(groups.max()) + 1, number), classes

    if clusters is not None:
        yield from possible("clusters", clusters, points)
    metrics = {"table": points, "links": in_learned_metric(points, links)}
    for name, coordinates in metrics.items():
        tree = linkage(coordinates, "ward")
        cuts = [cut for cut in _CUTS if cut * _ROWS_PER_GROUP <= len(points)] or [_CUTS[0]]
        if n_classes is not None:
            cuts = [cut for cut in dict.fromkeys((n_classes, *cuts, 2 * n_classes, 4 * n_classes)) if cut >= n_classes]
        for cut in cuts:
            groups = np.unique(fcluster(tree, cut, "maxclust"), return_inverse=True)[1]
            yield from possible(name, groups, coordinates)


def joined(groups: IntArray, points: FloatArray, links: Links) -> Iterable[IntArray]:
    """Yield the groups (n,), 0, 1, 2 and so on, and what they become as two at a time are joined."""
    number = int(groups.max()) + 1
    evidence = np.zeros((number, number))
    ends = groups[links.pairs]
    # ln c/(1 − c) of a confidence c.
    odds = 2 * np.arctanh(np.minimum(links.weights, _MOST_WEIGHT))
    np.add.at(evidence, (ends[:, 0], ends[:, 1]), np.where(links.same, odds, -odds))
    evidence += evidence.T
    mass = np.bincount(groups, minlength=number).astype(float)
    sums = np.zeros((number, points.shape[1]))
    np.add.at(sums, groups, points)
    total = float(np.square(points - points.mean(axis=0)).sum())
    group_of = np.arange(number)
    yield groups
    while len(mass) > 1:
        means = sums / mass[:, None]
        squares = np.square(means).sum(axis=1)
        apart = np.maximum(squares[:, None] + squares - 2 * means @ means.T, 0.0)
        rise = apart * (mass[:, None] * mass / (mass[:, None] + mass)) / max(total, 1e-300)
        worth = evidence - _DISTANCE_PRICE * len(mass) * rise
        worth[np.tril_indices(len(mass))] = -np.inf
        first, second = np.unravel_index(int(worth.argmax()), worth.shape)
        for part in (mass, sums):
            part[first] += part[second]
        evidence[first] += evidence[second]
        evidence[:, first] += evidence[:, second]
        kept = np.arange(len(mass)) != second
        mass, sums, evidence = mass[kept], sums[kept], evidence[np.ix_(kept, kept)]
        group_of = np.where(group_of == second, first, group_of)
        group_of = group_of - (group_of > second)
        yield group_of[groups]


def joined_where_linked(groups: IntArray, points: FloatArray, links: Links) -> IntArray:
    """Return what the groups (n,) become as those are joined that more must-links than cannot-links speak for."""
    found, obeyed = groups, np.trace(contingency(groups, links))
    for classes in islice(joined(groups, points, links), 1, None):
        now = np.trace(contingency(classes, links))
        if now <= obeyed:
            break
        found, obeyed = classes, now
    return found


def in_learned_metric(points: FloatArray, links: Links) -> FloatArray:
    """Return points (n, q), every coordinate weighed by what it says about links.

    The weights, not negative, are those of a logistic regression of the kind of link on the squared differences of its
    ends; must-links and cannot-links count alike, and weights stay near each other where links are few.
    """
    q = points.shape[1]
    if links.same.all() or not links.same.any():
        return points
    differences = np.square(points[links.pairs[:, 0]] - points[links.pairs[:, 1]])
    scales = np.maximum(differences.mean(axis=0), 1e-300)
    differences = differences / scales
    sign = np.where(links.same, 1.0, -1.0)
    share = float(links.weights @ links.same) / float(links.weights.sum())
    counts = links.weights * np.where(links.same, 0.5 / share, 0.5 / (1 - share))
    even = -np.log(q)

    def loss(parameters: FloatArray) -> tuple[float, FloatArray]:
        log_weights, threshold = parameters[:-1], parameters[-1]
        weights = np.exp(log_weights)
        margin = sign * (threshold - differences @ weights)
        value = counts @ np.logaddexp(0, -margin) + np.square(log_weights - even).sum()
        slope = -counts * sign * np.exp(-np.logaddexp(0, margin))
        gradient = -(slope @ differences) * weights + 2 * (log_weights - even)
        return float(value), np.append(gradient, slope.sum())

    start = np.append(np.full(q, even), 1.0)
    found = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=[(-8.0, 3.0)] * q + [(-20.0, 20.0)])
    return points * np.sqrt(np.exp(found.x[:-1]) / scales)


def contingency(classes: IntArray, links: Links) -> FloatArray:
    """Return how much cannot-links and must-links (rows) count between different and equal classes (columns)."""
    equal = classes[links.pairs[:, 0]] == classes[links.pairs[:, 1]]
    table = np.zeros((2, 2))
    np.add.at(table, (links.same.astype(int), equal.astype(int)), links.weights)
    return table


def predictiveness(table: FloatArray) -> float:
    """Return the mean of the plain and of the balanced accuracy with which equal classes predict must-links."""
    plain = np.trace(table) / max(table.sum(), 1e-300)
    sizes = table.sum(axis=1)
    balanced = np.mean([table[i, i] / sizes[i] for i in (0, 1) if sizes[i]] or [0.0])
    return float((plain + balanced) / 2)
