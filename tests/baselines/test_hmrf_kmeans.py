from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.cluster import KMeans
from sklearn.datasets import load_iris

from sidelight.baselines import HMRFKMeans
from sidelight.baselines.support.hmrf_energy import Prices, both_ways, broken_cost, settle, unit_sets
from sidelight.baselines.support.quadratic_metrics import DiagonalMetric, FullMetric, Statistics
from sidelight.side import SideInformation

SETTINGS = [
    {"metric": "euclidean", "violation": "constant"},
    {"metric": "euclidean", "violation": "distance"},
    {"metric": "diag", "violation": "constant"},
    {"metric": "diag", "violation": "distance"},
    {"metric": "full", "violation": "distance"},
    {"metric": "diag", "violation": "distance", "per_cluster": True},
    {"metric": "full", "violation": "distance", "per_cluster": True},
]


def table_with_links(seed, n=40, d=3, n_links=25):
    rng = np.random.default_rng(seed)
    truth = rng.integers(3, size=n)
    X = rng.normal(size=(n, d)) * [1.0, 5.0, 0.2] + truth[:, None] * 2 + 30
    pairs = rng.integers(n, size=(n_links, 2))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    same = truth[pairs[:, 0]] == truth[pairs[:, 1]]
    return X, pairs[same], pairs[~same]


@pytest.mark.parametrize("options", SETTINGS, ids=str)
@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 10_000))
def test_the_objective_never_rises(options, seed):
    X, must, cannot = table_with_links(seed)
    model = HMRFKMeans(3, n_init=1, random_state=seed, tol=0, **options).fit(X, must_link=must, cannot_link=cannot)
    steps = np.array(model.objectives_)
    assert np.all(np.diff(steps) <= 1e-9 * np.abs(steps[:-1]))


@pytest.mark.parametrize("options", SETTINGS, ids=str)
def test_the_objective_is_what_the_docstring_says(options):
    X, must, cannot = table_with_links(7)
    weight = 0.4
    model = HMRFKMeans(3, link_weight=weight, random_state=0, **options).fit(X, must_link=must, cannot_link=cannot)
    variance = X.var(axis=0)
    A = np.broadcast_to(model.metric_, (3, X.shape[1], X.shape[1]))
    z = model.labels_
    learned = options["metric"] != "euclidean"

    def square(difference, k):
        return difference @ A[k] @ difference

    expected = sum(square(X[i] - model.cluster_centers_[z[i]], z[i]) for i in range(len(X)))
    if learned:
        expected -= sum(np.linalg.slogdet(A[k])[1] for k in z)
        for form in A if options.get("per_cluster") else A[:1]:
            expected += np.trace(form @ np.diag(variance)) - np.linalg.slogdet(form)[1]
    if options["metric"] == "diag":
        reach = np.diag(np.square(np.ptp(X, axis=0)))
    elif options["metric"] == "full":
        covariance = np.cov(X.T, bias=True) + 1e-6 * np.diag(variance)
        lengths = [np.sqrt((x - X.mean(axis=0)) @ np.linalg.solve(covariance, x - X.mean(axis=0))) for x in X]
        reach = covariance * sum(sorted(lengths)[-2:]) ** 2
    else:
        lengths = np.sort(np.linalg.norm(X - X.mean(axis=0), axis=1))
        reach = None
    constant = variance.sum() / (variance.mean() if learned else 1)
    side = SideInformation.build(len(X), must_link=must, cannot_link=cannot)
    for i, j in side.must_link:
        if z[i] != z[j]:
            distance = (square(X[i] - X[j], z[i]) + square(X[i] - X[j], z[j])) / 2
            expected += weight * (constant if options["violation"] == "constant" else distance)
    for i, j in side.cannot_link:
        if z[i] == z[j]:
            farthest = lengths[-2:].sum() ** 2 if reach is None else np.trace(A[z[i]] @ reach)
            near = farthest - square(X[i] - X[j], z[i])
            assert near >= 0
            expected += weight * (constant if options["violation"] == "constant" else near)
    assert model.objective_ == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("kind", [DiagonalMetric, FullMetric])
def test_the_metric_update_is_the_minimum_of_its_part_of_the_objective(kind):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 3)) @ np.diag([1, 3, 0.5])
    metric = kind.start(X, 1)
    differences = rng.normal(size=(20, 3))
    weights = np.where(np.arange(20) < 17, 1.0, -0.5)
    zero = np.zeros(20, dtype=np.int64)
    statistics = Statistics(differences, weights, zero, np.array([1.5]), np.array([17.0]))

    def part(candidate):
        spread = weights @ candidate.lengths(differences)[:, 0] + 1.5 * candidate.farthest[0]
        return spread - 17.0 * candidate.log_det[0] + candidate.penalty()

    best = metric.update(statistics)
    for _ in range(200):
        if kind is DiagonalMetric:
            other = replace(best, scales=best.scales * np.exp(0.05 * rng.normal(size=best.scales.shape)))
        else:
            turn = np.eye(3) + 0.05 * rng.normal(size=(3, 3))
            other = replace(best, forms=turn @ best.forms @ turn.T)
        assert part(other) >= part(best) - 1e-9 * abs(part(best))


@pytest.mark.parametrize("kind", [DiagonalMetric, FullMetric])
def test_no_pair_of_rows_is_farther_apart_than_the_farthest(kind):
    rng = np.random.default_rng(2)
    for _ in range(20):
        X = rng.standard_t(2, size=(25, 3))
        metric = kind.start(X, 1)
        if kind is DiagonalMetric:
            metric = replace(metric, scales=rng.gamma(0.5, size=(1, 3)))
        else:
            root = rng.normal(size=(1, 3, 3))
            metric = replace(metric, forms=root @ root.transpose(0, 2, 1) + 1e-9 * np.eye(3))
        first, second = np.triu_indices(25, k=1)
        assert metric.lengths(X[first] - X[second]).max() <= metric.farthest[0] * (1 + 1e-9)


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 10_000))
def test_conditional_modes_never_raise_the_energy_and_end_where_no_unit_gains(seed):
    rng = np.random.default_rng(seed)
    n, k = 6, 3
    unary = rng.random((n, k))
    links = rng.integers(n, size=(6, 2))
    links = np.unique(np.sort(links[links[:, 0] != links[:, 1]], axis=1), axis=0)
    must, cannot = links[::2], links[1::2]
    pairs = both_ways(must, cannot)
    prices = Prices(np.tile(rng.random((len(must), k)), (2, 1)), np.tile(rng.random((len(cannot), k)), (2, 1)))

    def energy(z):
        total = sum(unary[i, z[i]] for i in range(n))
        total += sum(prices.must[p, z[i]] + prices.must[p, z[j]] for p, (i, j) in enumerate(must) if z[i] != z[j])
        return total + sum(prices.cannot[p, z[i]] for p, (i, j) in enumerate(cannot) if z[i] == z[j])

    units = SideInformation.build(n, must_link=must[:1]).closure().chunklets
    start = rng.integers(k, size=n)
    joint = settle(start, unary, pairs, prices, unit_sets(pairs, units), max_sweeps=50)
    single = settle(joint, unary, pairs, prices, unit_sets(pairs, np.arange(n)), max_sweeps=50)
    assert energy(joint) <= energy(start) + 1e-9
    assert energy(single) <= energy(joint) + 1e-9
    assert broken_cost(single, pairs, prices) == pytest.approx(energy(single) - unary[np.arange(n), single].sum())
    linked = np.unique(links)
    for row, cluster in product(linked, range(k)):
        moved = single.copy()
        moved[row] = cluster
        assert energy(moved) >= energy(single) - 1e-9


def test_without_links_and_metric_it_is_plain_k_means():
    X = load_iris().data
    model = HMRFKMeans(3, metric="euclidean", n_init=10, random_state=0).fit(X)
    reference = KMeans(3, n_init=10, random_state=0).fit(X)
    assert model.objective_ == pytest.approx(reference.inertia_, rel=1e-4)


def test_the_units_of_the_table_change_nothing():
    X, must, cannot = table_with_links(3)
    for options in SETTINGS:
        first = HMRFKMeans(3, random_state=0, **options).fit(X, must_link=must, cannot_link=cannot)
        second = HMRFKMeans(3, random_state=0, **options).fit(X * 1000, must_link=must, cannot_link=cannot)
        np.testing.assert_array_equal(first.labels_, second.labels_)


def test_a_surer_link_weighs_more():
    X = np.array([[0.0], [0.4], [1.0], [1.4]])
    broken = {}
    for confidence in (0.51, 1.0):
        side = SideInformation.build(4, must_link=[(1, 2)], confidence=confidence)
        model = HMRFKMeans(2, metric="euclidean", violation="constant", link_weight=3, random_state=0).fit(X, side=side)
        broken[confidence] = model.violations_.total
    assert broken == {0.51: 1, 1.0: 0}


def test_contradictory_links_that_are_not_certain_are_weighed():
    side = SideInformation.build(4, must_link=[(0, 1)], cannot_link=[(0, 1)], confidence=[0.9, 0.6])
    model = HMRFKMeans(2, random_state=0).fit(np.array([[0.0], [0.1], [5.0], [5.1]]), side=side)
    assert model.violations_.total == 1
    assert model.labels_[0] == model.labels_[1]


def test_chains_of_a_hundred_thousand_links():
    n = 100_001
    chain = np.column_stack([np.arange(n - 1), np.arange(1, n)])
    X = np.random.default_rng(0).normal(size=(n, 2))
    model = HMRFKMeans(2, n_init=1, random_state=0, max_iter=5, tol=1.0).fit(X, must_link=chain)
    assert model.violations_.n_must_link == n - 1
    assert model.violations_.total == 0
