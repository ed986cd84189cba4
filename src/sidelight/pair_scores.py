"""Records that may be the same: from scores of pairs, as Splink and dedupe give them, to clusters."""

from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from sidelight._typing import AnyArray, FloatArray, IntArray
from sidelight.graphs.correlation_clustering import correlation_clusters

__all__ = ["RecordClusters", "cluster_pair_scores"]

# So that a pair with probability 0 or 1 does not outweigh all others.
_CLOSEST = 1e-6


class RecordClusters(NamedTuple):
    """Records and their clusters.

    Attributes
    ----------
    ids : (n,) array
        The records that some pair names, sorted.
    clusters : (n,) int
        The cluster of each, numbered from 0 by first record.

    Examples
    --------
    >>> from sidelight.pair_scores import cluster_pair_scores
    >>> cluster_pair_scores(["a"], ["b"], [0.9]).ids.tolist()
    ['a', 'b']
    """

    ids: AnyArray
    clusters: IntArray


def cluster_pair_scores(first: Any, second: Any, probability: Any, *, unscored: float = 0.5) -> RecordClusters:
    """Cluster records by the probabilities that pairs of them are the same.

    Joining all pairs above a threshold makes chains of records that do not belong together: a is like b, b is like c,
    but a and c were found to differ. Here all scores count, those against a match too. Records that probable pairs
    connect are divided by correlation clustering (Bansal, Blum and Chawla 2004) with the log odds as weights, which is
    the most probable partition where pairs are judged one by one. It is exact for up to twelve records that hang
    together; above, records are joined greedily and then exchanged.

    Parameters
    ----------
    first, second : (m,) column
        The ids of the records of each pair: ``unique_id_l`` and ``unique_id_r`` of Splink's predictions.
    probability : (m,) column
        That they are the same: Splink's ``match_probability``, dedupe's scores.
    unscored : float, default 0.5
        Probability of a pair that is not listed. Below 0.5, missing pairs speak against a match, as where all pairs
        that might match were compared.

    Returns
    -------
    RecordClusters
        The records and their clusters.

    Examples
    --------
    >>> from sidelight.pair_scores import cluster_pair_scores
    >>> found = cluster_pair_scores(["a", "b", "a", "d"], ["b", "c", "c", "e"], [0.95, 0.6, 0.05, 0.9])
    >>> dict(zip(found.ids.tolist(), found.clusters.tolist()))
    {'a': 0, 'b': 0, 'c': 1, 'd': 2, 'e': 2}
    """
    one, other, chance = np.asarray(first), np.asarray(second), np.asarray(probability, dtype=float)
    if not len(one) == len(other) == len(chance):
        raise ValueError(
            f"first, second and probability have {len(one)}, {len(other)} and {len(chance)} entries; give one per pair."
        )
    wrong = np.flatnonzero(~((chance >= 0) & (chance <= 1)))
    if len(wrong):
        raise ValueError(f"probability[{wrong[0]}] is {chance[wrong[0]]}; give numbers from 0 to 1.")
    if not 0 < unscored < 1:
        raise ValueError(f"unscored={unscored!r} must be a probability above 0 and below 1.")
    ids, codes = np.unique(np.concatenate([one, other]), return_inverse=True)
    pairs = codes.reshape(2, -1).T
    joined = (chance > 0.5) & (pairs[:, 0] != pairs[:, 1])
    edges = coo_array((np.ones(joined.sum(), dtype=bool), (pairs[joined, 0], pairs[joined, 1])), shape=(len(ids),) * 2)
    part = connected_components(edges, directed=False)[1]
    clusters = np.zeros(len(ids), dtype=np.int64)
    inner = part[pairs[:, 0]] == part[pairs[:, 1]]
    order = np.argsort(part, kind="stable")
    n_clusters = 0
    pair_order = np.argsort(part[pairs[:, 0]], kind="stable")
    pair_order = pair_order[inner[pair_order]]
    of_part = np.searchsorted(part[pairs[pair_order, 0]], np.arange(part.max(initial=-1) + 2))
    for number, rows in enumerate(np.split(order, np.cumsum(np.bincount(part))[:-1])):
        listed = pair_order[of_part[number] : of_part[number + 1]]
        found = correlation_clusters(_weights(rows, pairs[listed], log_odds(chance[listed]), log_odds(unscored)))
        clusters[rows] = n_clusters + found
        n_clusters += int(found.max()) + 1
    _, by_first, numbered = np.unique(clusters, return_index=True, return_inverse=True)
    return RecordClusters(ids, np.argsort(np.argsort(by_first))[numbered])


def log_odds(probability: Any) -> FloatArray:
    """Return ln p / (1 − p), of probabilities that are neither 0 nor 1."""
    safe = np.clip(probability, _CLOSEST, 1 - _CLOSEST)
    return np.log(safe) - np.log1p(-safe)


def _weights(rows: IntArray, pairs: IntArray, odds: FloatArray, unscored: FloatArray) -> FloatArray:
    """Return the weights (k, k) of pairs of some records, negative for those that should be joined."""
    places = np.searchsorted(rows, pairs)
    total, listed = np.zeros((2, len(rows), len(rows)))
    np.add.at(total, (places[:, 0], places[:, 1]), odds)
    np.add.at(listed, (places[:, 0], places[:, 1]), 1)
    total, listed = total + total.T, listed + listed.T
    weights: FloatArray = -np.where(listed > 0, total, unscored)
    return weights
