"""Ward's clustering with chunklets and cannot-links."""

import numpy as np
from sklearn.cluster import AgglomerativeClustering
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score

from sidelight.graphs.ward import constrained_ward

NOTHING = np.empty((0, 2), dtype=np.int64)


def test_without_links_and_with_all_rows_neighbours_it_is_plain_ward():
    X, _ = make_blobs(11, centers=4, cluster_std=3, random_state=0)
    for n_clusters in (2, 3, 5):
        found = constrained_ward(X, np.ones(11), np.arange(11), NOTHING, n_clusters)
        assert adjusted_rand_score(AgglomerativeClustering(n_clusters).fit_predict(X), found) == 1


def test_chunklets_stay_together_and_what_is_apart_stays_apart():
    X, _ = make_blobs(60, centers=[[0, 0], [3, 0]], random_state=1)
    chunklets = np.arange(60)
    chunklets[[10, 20, 30]] = 5
    chunklets = np.unique(chunklets, return_inverse=True)[1]
    near = np.argsort(np.linalg.norm(X - X[0], axis=1))[1]
    apart = np.array([[chunklets[0], chunklets[near]]])
    found = constrained_ward(X, np.ones(60), chunklets, apart, 3)
    assert len(set(found[chunklets == chunklets[5]])) == 1
    assert found[0] != found[near]
    assert set(found) == {0, 1, 2}
    assert np.all(np.diff(np.bincount(found)) <= 0)


def test_islands_are_joined_once_there_are_no_neighbours_left():
    X = np.concatenate([np.random.default_rng(0).normal(size=(30, 2)) + 100 * island for island in range(4)])
    found = constrained_ward(X, np.ones(120), np.arange(120), NOTHING, 2)
    assert [len(set(found[i * 30 : (i + 1) * 30])) for i in range(4)] == [1, 1, 1, 1]
    assert len(set(found)) == 2


def test_what_cannot_be_merged_any_further_joins_the_nearest():
    X = np.array([[0.0], [0.1], [5.0], [5.1], [0.05]])
    apart = np.array([(a, b) for a in range(5) for b in range(a)])
    found = constrained_ward(X, np.array([3.0, 1, 3, 1, 1]), np.arange(5), apart, 2)
    assert found.tolist() == [0, 0, 1, 1, 0]
