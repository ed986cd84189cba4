"""Which cluster of a fit is which of the fit before: numbers, names and colours stay."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from scipy.optimize import linear_sum_assignment

from sidelight._typing import FloatArray, IntArray

# Two clusters are the same if they share this part of the rows that are in either.
_LEAST_SHARED = 0.1


class Identity(NamedTuple):
    """The keys of clusters in the last fit: of each row, of each label, and the next that is free.

    Parameters
    ----------
    keys : (n,) int
        The key of each row's cluster; empty before the first fit.
    of_label : mapping
        The keys of clusters that a label names.
    next_key : int
        Keys are never used again.
    """

    keys: IntArray
    of_label: Mapping[str, int]
    next_key: int = 1


class Matched(NamedTuple):
    """The key of each cluster of a fit (k,), and the identity that the next fit is matched with."""

    keys: IntArray
    identity: Identity


def match(before: Identity, labels: IntArray, names: Sequence[str], labelled: Sequence[bool]) -> Matched:
    """Give the clusters of a fit their keys.

    A cluster that a label names keeps the key of that label. The others take the keys of the clusters that they share
    most rows with, one to one, by the Hungarian method; what shares hardly a row with any gets a new key.

    Parameters
    ----------
    before : Identity
    labels : (n,) int
        The cluster of each row.
    names : (k,) str
    labelled : (k,) bool
        Whether the name of a cluster is a label.
    """
    k = len(names)
    keys = np.zeros(k, dtype=np.int64)
    of_label = dict(before.of_label)
    for cluster in range(k):
        if labelled[cluster] and names[cluster] in of_label:
            keys[cluster] = of_label[names[cluster]]
    if len(before.keys):
        _match_by_rows(before.keys, labels, keys)
    next_key = before.next_key
    for cluster in range(k):
        if not keys[cluster]:
            keys[cluster], next_key = next_key, next_key + 1
        if labelled[cluster]:
            of_label[names[cluster]] = int(keys[cluster])
    return Matched(keys, Identity(keys[labels], of_label, next_key))


def _match_by_rows(old: IntArray, labels: IntArray, keys: IntArray) -> None:
    """Fill in, in place, the keys of clusters that share rows with a cluster whose key is free."""
    free = np.flatnonzero(keys == 0)
    candidates = np.setdiff1d(np.unique(old), keys[keys > 0])
    if not len(free) or not len(candidates):
        return
    shared = np.zeros((len(free), len(candidates)))
    place = np.full(len(keys), -1)
    place[free] = np.arange(len(free))
    known = np.isin(old, candidates) & (place[labels] >= 0)
    np.add.at(shared, (place[labels[known]], np.searchsorted(candidates, old[known])), 1)
    new_sizes = np.bincount(labels, minlength=len(keys))[free][:, None]
    old_sizes = np.array([(old == key).sum() for key in candidates])
    overlap = shared / np.maximum(new_sizes + old_sizes - shared, 1)
    for cluster, candidate in zip(*linear_sum_assignment(overlap, maximize=True), strict=True):
        if overlap[cluster, candidate] >= _LEAST_SHARED:
            keys[free[cluster]] = candidates[candidate]


class Shown(NamedTuple):
    """Clusters as they are shown: their keys (k,), and of each row the place among them and the probabilities."""

    keys: IntArray
    places: IntArray
    posterior: FloatArray


def shown_clusters(
    keys: IntArray, posterior: FloatArray, labels: IntArray, aliases: Mapping[int, int], locked: Mapping[int, IntArray]
) -> Shown:
    """Put merged clusters together, and rows of locked clusters where they were.

    ``keys`` (k,) are those of the columns of ``posterior`` (n, k); ``aliases`` the clusters that merged ones belong to,
    and ``locked`` the rows of locked clusters.
    """
    into = np.array([aliases.get(key, key) for key in keys.tolist()], dtype=np.int64)
    wanted = [aliases.get(key, key) for key in locked]
    together = np.unique(np.concatenate([into, np.array(wanted, dtype=np.int64)]))
    merged = np.zeros((len(posterior), len(together)))
    for column, key in enumerate(into.tolist()):
        merged[:, np.searchsorted(together, key)] += posterior[:, column]
    places = np.searchsorted(together, into)[labels]
    for key, rows in locked.items():
        place = int(np.searchsorted(together, aliases.get(key, key)))
        places[rows] = place
        # A locked row is where its annotator left it, whatever the model believes.
        merged[rows] = 0.0
        merged[rows, place] = 1.0
    return Shown(together, places, merged)
