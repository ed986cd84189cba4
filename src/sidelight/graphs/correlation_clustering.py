"""Correlation clustering: join a few items by signed weights of their pairs."""

import numpy as np

from sidelight._typing import FloatArray, IntArray

_ROUNDING = 1e-12


def correlation_clusters(
    weights: FloatArray, *, max_clusters: int | None = None, price: float = 0.0, max_exact: int = 12
) -> IntArray:
    """Join items so that the weights of the pairs joined, plus a price per cluster, add up to as little as possible.

    Bansal, Blum and Chawla (2004), who have no price. Exact for a few items; above, greedy joining, then exchanges.

    Parameters
    ----------
    weights : (k, k)
        Symmetric: negative for a pair that should be joined, positive for one that should not. The diagonal is ignored.
    max_clusters : int, optional
        Most clusters allowed.
    price : float, default 0
        Weight that it takes to keep a cluster apart.
    max_exact : int, default 12
        Number of items up to which the best of all partitions is found; the effort triples with each.

    Returns
    -------
    (k,)
        Clusters numbered 0, 1, … by their first member. Of equally good partitions, one with the fewest clusters.

    Examples
    --------
    >>> import numpy as np
    >>> weights = np.array([[0.0, -2.0, 1.0], [-2.0, 0.0, 0.5], [1.0, 0.5, 0.0]])
    >>> correlation_clusters(weights).tolist()
    [0, 0, 1]
    """
    k = len(weights)
    most = k if max_clusters is None else min(max_clusters, k)
    found = (_best_partition if k <= max_exact else _joined_and_exchanged)(weights, most, price)
    _, first, number = np.unique(found, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[number]


def _best_partition(weights: FloatArray, most: int, price: float) -> IntArray:
    """Find the best partition by dynamic programming over subsets, as bit masks.

    The best partition of a set is the best choice of the part with its lowest member, plus the best partition of the
    rest: 3^k steps in all.
    """
    k = len(weights)
    within = _sums_within(weights)
    best = np.full((most + 1, 2**k), np.inf)
    best[0, 0] = 0.0
    part = np.zeros((most + 1, 2**k), dtype=np.int64)
    for members in range(1, 2**k):
        lowest = members & -members
        candidates = _subsets(members ^ lowest) | lowest
        costs = within[candidates] + best[:-1, members ^ candidates]
        chosen = costs.argmin(axis=1)
        best[1:, members] = costs[np.arange(most), chosen]
        part[1:, members] = candidates[chosen]
    # Rounding must not count as a reason for more clusters.
    totals = best[:, -1] + price * np.arange(most + 1)
    number = int(np.argmax(totals <= totals.min() + _ROUNDING * np.abs(weights).sum()))
    clusters, left = np.empty(k, dtype=np.int64), 2**k - 1
    while left:
        taken = int(part[number, left])
        clusters[[i for i in range(k) if taken >> i & 1]] = number
        number, left = number - 1, left ^ taken
    return clusters


def _sums_within(weights: FloatArray) -> FloatArray:
    """Return the sum of the weights of all pairs within each subset, by bit mask."""
    k = len(weights)
    sums = np.zeros(1)
    for i in range(k):
        # Subsets that have i as their highest member: the same without it, plus its pairs.
        with_i = np.zeros(1)
        for j in range(i):
            with_i = np.concatenate([with_i, with_i + weights[i, j]])
        sums = np.concatenate([sums, sums + with_i])
    return sums


def _subsets(members: int) -> IntArray:
    subsets = np.zeros(1, dtype=np.int64)
    while members:
        lowest = members & -members
        subsets = np.concatenate([subsets, subsets | lowest])
        members ^= lowest
    return subsets


def _joined_and_exchanged(weights: FloatArray, most: int, price: float) -> IntArray:
    """Join the two clusters that agree most, again and again; then move single members while that helps."""
    k = len(weights)
    between = weights.astype(float)
    np.fill_diagonal(between, np.inf)
    clusters = np.arange(k)
    for n_clusters in range(k, 1, -1):
        a, b = np.unravel_index(int(between.argmin()), between.shape)
        if between[a, b] >= price and n_clusters <= most:
            break
        between[a] += between[b]
        between[:, a] = between[a]
        between[b], between[:, b] = np.inf, np.inf
        clusters[clusters == b] = a
    return _exchanged(weights, clusters, most, price)


def _exchanged(weights: FloatArray, clusters: IntArray, most: int, price: float) -> IntArray:
    k = len(weights)
    others = weights - np.diag(np.diag(weights))
    tolerance = _ROUNDING * np.abs(weights).sum()
    improved = True
    while improved:
        improved = False
        for i in range(k):
            sizes = np.bincount(np.delete(clusters, i), minlength=k)
            costs = np.bincount(clusters, weights=others[i], minlength=k)
            costs[sizes == 0] = price if np.count_nonzero(sizes) < most else np.inf
            target = int(costs.argmin())
            if costs[target] < costs[clusters[i]] - tolerance:
                clusters[i], improved = target, True
    return clusters
