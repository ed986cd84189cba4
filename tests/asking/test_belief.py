"""What statements imply about clusters, and what is left to ask after many of them."""

import numpy as np
from sklearn.datasets import make_blobs

from sidelight import SideInformation
from sidelight.asking import informative_pairs
from sidelight.asking.belief import count_clusters, probability_same, uncertainty


def test_groups_are_counted_for_their_clusters():
    # Three groups of 3, 2 and 1 rows; the second is in both clusters; the first and the third are kept apart.
    members = np.array([[1, 1, 1, 0, 0, 0], [0, 0, 0, 1, 1, 0], [0, 0, 0, 0, 0, 1]], dtype=float)
    posterior = np.array([[1, 0], [1, 0], [1, 0], [1, 0], [0, 1], [0, 1]], dtype=float)
    settled = np.eye(3, dtype=bool)
    settled[0, 2] = settled[2, 0] = True
    counts = count_clusters(members, posterior, settled)
    np.testing.assert_allclose(counts.same, [[2.25, 0.25], [0.25, 0.25]])
    np.testing.assert_allclose(counts.different, [[0, 1], [1, 0]])
    np.testing.assert_allclose(counts.agreement(np.zeros((2, 2)))[0, 1], 0.25 / (0.5 + 1.25))
    np.testing.assert_allclose(counts.agreement(np.eye(2))[0, 0], 1)


def test_groups_of_one_class_are_not_distinguished():
    support, posterior = np.array([[1.0], [1.0]]), np.array([[1.0, 0.0]])
    distinct, akin = np.eye(2), np.ones((2, 2))
    assert uncertainty(support, akin, posterior)[0] < uncertainty(support, distinct, posterior)[0]
    np.testing.assert_allclose(probability_same(support, distinct, 0.0).ravel(), [1 / 2.3, 1 / 2.3])
    np.testing.assert_allclose(probability_same(support, akin, 0.0).ravel(), [2 / 2.3, 2 / 2.3])


CENTRES = np.array([[0.0, 0.0], [4.0, 0.0], [2.0, 3.5]])


def three_heaps(seed):
    """Return rows, classes, the true posterior, and a lot of statements."""
    X, y = make_blobs([150] * 3, centers=CENTRES, cluster_std=0.8, random_state=seed)
    density = np.exp(-((X[:, None] - CENTRES) ** 2).sum(axis=2) / (2 * 0.8**2))
    random = np.random.RandomState(seed)
    pairs = np.array([random.choice(450, 2, replace=False) for _ in range(90)])
    same = y[pairs[:, 0]] == y[pairs[:, 1]]
    labels = np.where(np.arange(450) % 15 == 0, y, -1)
    told = SideInformation.build(450, y=labels, must_link=pairs[same], cannot_link=pairs[~same])
    return X, density / density.sum(axis=1, keepdims=True), told


def test_what_many_statements_have_confirmed_is_asked_less():
    idle = {"told": [], "not told": []}
    for seed in range(5):
        X, posterior, told = three_heaps(seed)
        for name, side in (("told", told), ("not told", SideInformation.build(450))):
            asked = informative_pairs(posterior, side, X=X, n_pairs=20, random_state=0).pairs
            chance = (posterior[asked[:, 0]] * posterior[asked[:, 1]]).sum(axis=1)
            idle[name].append(np.mean((chance < 0.02) | (chance > 0.98)))
    # Where clusters were found to be classes, questions are about rows between them.
    assert np.mean(idle["told"]) < np.mean(idle["not told"]) - 0.2
