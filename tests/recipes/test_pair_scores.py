"""From scores of pairs to clusters of records."""

import itertools

import numpy as np
import pytest

from sidelight.pair_scores import cluster_pair_scores, log_odds


def probability_of(partition, pairs, chance):
    """Return the log probability of a partition, the pairs being judged one by one."""
    same = np.array([partition[a] == partition[b] for a, b in pairs])
    return float(np.sum(np.where(same, 1, -1) * log_odds(chance)) / 2)


def test_it_is_the_most_probable_partition():
    random = np.random.default_rng(0)
    for _ in range(5):
        pairs = list(itertools.combinations(range(5), 2))
        chance = random.random(len(pairs))
        found = cluster_pair_scores(*np.array(pairs).T, chance)
        best = max(probability_of(p, pairs, chance) for p in itertools.product(range(5), repeat=5))
        assert probability_of(found.clusters, pairs, chance) == pytest.approx(best)


def test_a_chain_is_cut_where_the_ends_differ():
    found = cluster_pair_scores(["x", "y", "x"], ["y", "z", "z"], [0.99, 0.7, 0.01])
    assert dict(zip(found.ids.tolist(), found.clusters.tolist(), strict=True)) == {"x": 0, "y": 0, "z": 1}


def test_pairs_that_are_not_listed_may_speak_against_a_match():
    pairs = (["a", "b"], ["b", "c"], [0.8, 0.8])
    assert cluster_pair_scores(*pairs).clusters.tolist() == [0, 0, 0]
    assert len(set(cluster_pair_scores(*pairs, unscored=0.1).clusters.tolist())) == 2


def test_many_records_and_pairs_given_twice_or_with_themselves():
    records = np.arange(900).reshape(300, 3)
    first, second = np.concatenate([records[:, [0, 1]], records[:, [1, 2]], records[:, [1, 0]], records[:, [0, 0]]]).T
    found = cluster_pair_scores(first, second, np.full(1200, 0.9))
    assert found.clusters.tolist() == np.repeat(np.arange(300), 3).tolist()


def test_errors_name_the_place():
    with pytest.raises(ValueError, match=r"probability\[1\] is 1.5; give numbers from 0 to 1"):
        cluster_pair_scores([1, 2], [2, 3], [0.5, 1.5])
    with pytest.raises(ValueError, match="have 2, 1 and 2 entries; give one per pair"):
        cluster_pair_scores([1, 2], [2], [0.5, 0.5])
    with pytest.raises(ValueError, match="unscored=0 must be a probability"):
        cluster_pair_scores([1], [2], [0.5], unscored=0)
