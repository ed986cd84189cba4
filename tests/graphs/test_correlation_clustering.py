"""Correlation clustering, against all partitions."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sidelight.graphs.correlation_clustering import correlation_clusters


def partitions(n):
    if n == 0:
        yield []
        return
    for smaller in partitions(n - 1):
        for cluster in range(max(smaller, default=-1) + 2):
            yield [*smaller, cluster]


def random_weights(seed, k):
    weights = np.random.default_rng(seed).normal(size=(k, k))
    return weights + weights.T


def disagreement(weights, clusters):
    """Sum of the weights of the pairs joined."""
    joined = np.triu(clusters[:, None] == clusters, k=1)
    return float(weights[joined].sum())


def cost(weights, clusters, price):
    return disagreement(weights, np.asarray(clusters)) + price * len(set(clusters))


@settings(max_examples=60)
@given(st.integers(0, 10**6), st.integers(1, 6), st.sampled_from([None, 1, 2]), st.sampled_from([0.0, 0.7]))
def test_up_to_twelve_items_no_partition_is_better(seed, k, most, price):
    weights = random_weights(seed, k)
    found = correlation_clusters(weights, max_clusters=most, price=price).tolist()
    allowed = (clusters for clusters in partitions(k) if most is None or len(set(clusters)) <= most)
    assert cost(weights, found, price) == pytest.approx(min(cost(weights, clusters, price) for clusters in allowed))


@settings(max_examples=30)
@given(st.integers(0, 10**6), st.sampled_from([None, 2, 3]), st.sampled_from([0.0, 0.7]))
def test_the_greedy_way_is_allowed_and_cannot_be_improved_by_moving_one(seed, most, price):
    weights = random_weights(seed, 15)
    found = correlation_clusters(weights, max_clusters=most, price=price)
    allowed = 15 if most is None else most
    assert len(set(found)) <= allowed
    value = cost(weights, found.tolist(), price)
    for thing in range(15):
        for cluster in range(found.max() + 2):
            moved = found.copy()
            moved[thing] = cluster
            if len(set(moved)) <= allowed:
                assert cost(weights, moved.tolist(), price) >= value - 1e-9


def test_the_greedy_way_comes_close_to_the_best():
    problems = [random_weights(seed, 9) for seed in range(20)]
    exact = [disagreement(w, correlation_clusters(w)) for w in problems]
    greedy = [disagreement(w, correlation_clusters(w, max_exact=0)) for w in problems]
    assert all(g >= e - 1e-9 for g, e in zip(greedy, exact, strict=True))
    assert sum(greedy) < 0.95 * sum(exact)


def test_planted_clusters_of_many_items_are_found_in_spite_of_noise():
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 4, size=40)
    noise = rng.normal(scale=0.5, size=(40, 40))
    weights = np.where(truth[:, None] == truth, -1.0, 1.0) + (noise + noise.T) / 2
    found = correlation_clusters(weights)
    assert len(set(zip(truth.tolist(), found.tolist(), strict=True))) == 4 == len(set(found))


def test_clusters_are_numbered_by_first_member_and_nothing_said_means_one():
    weights = np.where(np.array([1, 0, 1, 2])[:, None] == np.array([1, 0, 1, 2]), -1.0, 1.0)
    assert correlation_clusters(weights).tolist() == [0, 1, 0, 2]
    assert correlation_clusters(np.zeros((3, 3))).tolist() == [0, 0, 0]
