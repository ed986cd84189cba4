"""The first questions are about representatives of clusters."""

import numpy as np
from sklearn.datasets import make_blobs

from sidelight import SideInformation
from sidelight.asking import informative_pairs
from sidelight.asking.introductions import introductions


def blobs(n_clusters, seed=0):
    X, clusters = make_blobs(200, centers=n_clusters, cluster_std=0.5, random_state=seed)
    return X, clusters, np.eye(n_clusters)[clusters] * 0.98 + 0.02 / n_clusters


def test_every_cluster_is_introduced_once_in_a_tree():
    X, clusters, posterior = blobs(6)
    apart = ((X[:, None] - X) ** 2).sum(axis=2)
    found = introductions(posterior, np.exp(-apart / 4), np.zeros(200, dtype=bool), n_pairs=20)
    of = np.sort(clusters[np.array(found)], axis=1)
    assert len(found) == 5
    assert set(of.ravel()) == set(range(6))
    assert (of[:, 0] != of[:, 1]).all()
    mean = np.array([X[clusters == k].mean(axis=0) for k in range(6)])
    for row in np.array(found).ravel():
        own = clusters[row]
        assert np.linalg.norm(X[row] - mean[own]) < np.median(np.linalg.norm(X[clusters == own] - mean[own], axis=1))


def test_clusters_with_statements_need_no_introduction():
    X, clusters, posterior = blobs(6)
    apart = ((X[:, None] - X) ** 2).sum(axis=2)
    mentioned = np.isin(clusters, (0, 1, 2, 3, 4))
    assert len(introductions(posterior, np.exp(-apart / 4), mentioned, n_pairs=20)) <= 1
    assert introductions(posterior[:, :1] * 0 + 1, np.exp(-apart), mentioned, n_pairs=20) == []


def test_they_come_first_and_take_a_part_of_the_batch():
    X, clusters, posterior = blobs(8)
    pairs = informative_pairs(posterior, X=X, n_pairs=10, random_state=0).pairs
    assert (clusters[pairs[:6, 0]] != clusters[pairs[:6, 1]]).all()
    assert len(pairs) == 10
    side = SideInformation.build(200, cannot_link=pairs[:6])
    later = informative_pairs(posterior, side, X=X, n_pairs=10, random_state=0).pairs
    assert not {tuple(pair) for pair in pairs[:6].tolist()} & {tuple(pair) for pair in later.tolist()}
