"""Clusters keep their keys through refits."""

import numpy as np

from sidelight.studio.identity import Identity, match, shown_clusters

FIRST = Identity(np.empty(0, dtype=np.int64), {})


def test_keys_follow_the_rows_whatever_the_numbers():
    labels = np.repeat([0, 1, 2], [40, 30, 20])
    first = match(FIRST, labels, ["cluster 0", "cluster 1", "cluster 2"], [False] * 3)
    assert first.keys.tolist() == [1, 2, 3]
    turned = np.array([2, 0, 1])[labels]
    again = match(first.identity, turned, ["cluster 0", "cluster 1", "cluster 2"], [False] * 3)
    assert again.keys[turned].tolist() == first.keys[labels].tolist()


def test_a_new_cluster_has_a_new_key_and_a_key_is_never_used_again():
    first = match(FIRST, np.repeat([0, 1], 30), ["a", "b"], [False] * 2)
    one = match(first.identity, np.zeros(60, dtype=int), ["a"], [False])
    assert one.keys.tolist() in ([1], [2])
    split = match(one.identity, np.repeat([0, 1], 30), ["a", "b"], [False] * 2)
    assert len(set(split.keys.tolist())) == 2
    assert max(split.keys) == 3


def test_a_label_keeps_its_key_though_its_rows_move():
    first = match(FIRST, np.repeat([0, 1], 30), ["cats", "dogs"], [True, True])
    moved = match(first.identity, np.repeat([1, 0], 30), ["cats", "dogs"], [True, True])
    assert moved.keys.tolist() == [1, 2]


def test_merged_clusters_are_one_and_locked_rows_stay():
    posterior = np.array([[0.7, 0.2, 0.1], [0.1, 0.6, 0.3], [0.2, 0.2, 0.6]])
    labels = posterior.argmax(axis=1)
    shown = shown_clusters(np.array([1, 2, 3]), posterior, labels, {2: 1}, {})
    assert shown.keys.tolist() == [1, 3]
    assert shown.places.tolist() == [0, 0, 1]
    np.testing.assert_allclose(shown.posterior, [[0.9, 0.1], [0.7, 0.3], [0.4, 0.6]])
    locked = shown_clusters(np.array([1, 2, 3]), posterior, labels, {}, {1: np.array([2]), 7: np.array([1])})
    assert locked.keys[locked.places].tolist() == [1, 7, 1]
    np.testing.assert_allclose(locked.posterior.sum(axis=1), 1)
