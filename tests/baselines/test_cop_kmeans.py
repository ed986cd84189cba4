from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.cluster import KMeans
from sklearn.datasets import load_iris

from sidelight.baselines import COPKMeans, InfeasibleError
from sidelight.side import ContradictionError, SideInformation


def feasible_links(rng, n=200, n_clusters=3, n_linked=40):
    """Links that a random partition satisfies: chains, cliques and tangles over a fifth of the rows."""
    truth = rng.integers(n_clusters, size=n)
    rows = rng.permutation(n)[:n_linked]
    must, cannot = [], []
    while len(rows) >= 3:
        size = min(int(rng.integers(3, 13)), len(rows))
        group, rows = rows[:size], rows[size:]
        match rng.integers(3):
            case 0:
                pairs = list(pairwise(group))
            case 1:
                pairs = [(a, b) for place, a in enumerate(group) for b in group[place + 1 :]]
            case _:
                pairs = [(group[a], group[b]) for a, b in rng.integers(size, size=(2 * size, 2)) if a != b]
        for a, b in pairs:
            (must if truth[a] == truth[b] else cannot).append((a, b))
    return must, cannot


def test_feasible_link_sets_are_all_respected():
    rng = np.random.default_rng(0)
    n_linked = 0
    for seed in range(250):
        must, cannot = feasible_links(rng)
        X = rng.normal(size=(200, 2))
        model = COPKMeans(3, n_init=1, random_state=seed).fit(X, must_link=must, cannot_link=cannot)
        assert model.violations_.total == 0
        n_linked += len(must) + len(cannot)
    assert n_linked > 12_500


def test_infeasible_links_name_a_real_conflict():
    rng = np.random.default_rng(1)
    n_named = 0
    for seed in range(30):
        must, cannot = feasible_links(rng)
        four = rng.permutation(200)[:4]
        cannot += [(a, b) for place, a in enumerate(four) for b in four[place + 1 :]]
        X = rng.normal(size=(200, 2))
        try:
            SideInformation.build(200, must_link=must, cannot_link=cannot).closure()
        except ContradictionError:
            continue
        with pytest.raises(InfeasibleError, match="n_clusters=3 is too few") as caught:
            COPKMeans(3, n_init=1, random_state=seed).fit(X, must_link=must, cannot_link=cannot)
        error = caught.value
        assert error.proven
        stated = {frozenset(map(int, pair)) for pair in cannot}
        assert {frozenset(pair) for pair in error.links} <= stated
        # The links named, with the must-links, are a conflict by themselves.
        with pytest.raises(InfeasibleError):
            COPKMeans(3, n_init=1).fit(X, must_link=must, cannot_link=error.links)
        n_named += 1
    assert n_named > 20


def test_conflicts_are_put_into_words():
    X = np.arange(8.0)[:, None]
    with pytest.raises(InfeasibleError, match=r"rows 0, 4, 7 .* takes 3 clusters. The links are 0–4, 0–7, 4–7"):
        COPKMeans(2).fit(X, cannot_link=[(0, 4), (4, 7), (7, 0)])
    with pytest.raises(InfeasibleError, match=r"0–1 \(labels differ\)"):
        COPKMeans(2).fit(X, ["a", "b"] + [None] * 6, cannot_link=[(0, 2), (1, 2)])
    wheel = [(0, rim) for rim in range(1, 6)] + [(1, 2), (2, 3), (3, 4), (4, 5), (5, 1)]
    with pytest.raises(InfeasibleError, match="the 6 rows 0, 1, 2, 3, 4, 5 cannot be divided") as caught:
        COPKMeans(3).fit(X, cannot_link=[*wheel, (6, 7)])
    assert caught.value.rows == (0, 1, 2, 3, 4, 5)
    with pytest.raises(InfeasibleError, match="ids 'p', 'q', 'r'"):
        COPKMeans(2).fit(X[:3], cannot_link=[("p", "q"), ("q", "r"), ("p", "r")], sample_id=["p", "q", "r"])


def test_a_search_that_runs_out_of_its_budget_proves_nothing():
    X = np.arange(8.0)[:, None]
    cycle = [(row, (row + 1) % 8) for row in range(8)]
    with pytest.raises(InfeasibleError, match="max_tries=2 tries") as caught:
        COPKMeans(2, max_tries=2).fit(X, cannot_link=cycle)
    assert not caught.value.proven
    assert COPKMeans(2).fit(X, cannot_link=cycle).violations_.total == 0


def test_must_links_alone_make_k_means_on_weighted_chunklets():
    X = load_iris().data
    must = [(row, row + 1) for row in range(0, 90, 3)]
    closure = SideInformation.build(150, must_link=must).closure()
    means = np.array([X[closure.chunklets == c].mean(axis=0) for c in range(len(closure.sizes))])
    reference = KMeans(3, n_init=20, random_state=0).fit(means, sample_weight=closure.sizes)
    scatter = sum(np.square(X[closure.chunklets == c] - means[c]).sum() for c in range(len(means)))
    model = COPKMeans(3, n_init=20, random_state=0).fit(X, must_link=must)
    assert model.inertia_ == pytest.approx(reference.inertia_ + scatter, rel=1e-9)
    assert model.inertia_ == pytest.approx(np.square(X - model.cluster_centers_[model.labels_]).sum(), rel=1e-9)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10_000))
def test_the_objective_never_rises(seed):
    rng = np.random.default_rng(seed)
    must, cannot = feasible_links(rng, n=40, n_linked=25)
    X = rng.normal(size=(40, 2)) * [1, 10] + 100
    model = COPKMeans(3, n_init=1, random_state=seed).fit(X, must_link=must, cannot_link=cannot)
    steps = np.array(model.objectives_)
    assert np.all(np.diff(steps) <= 1e-9 * steps[:-1])
    assert model.converged_


def test_many_starts_find_the_best_partition_of_a_tiny_table():
    rng = np.random.default_rng(5)
    for seed in range(10):
        X = rng.normal(size=(7, 2))
        must, cannot = [(0, 1)], [(0, 2), (3, 4), (2, 3)]
        best = np.inf
        for z in product(range(2), repeat=7):
            z = np.array(z)
            if z[0] == z[1] and all(z[a] != z[b] for a, b in cannot):
                cost = sum(np.square(X[z == k] - X[z == k].mean(axis=0)).sum() for k in set(z.tolist()))
                best = min(best, cost)
        model = COPKMeans(2, n_init=30, random_state=seed).fit(X, must_link=must, cannot_link=cannot)
        assert model.inertia_ == pytest.approx(best, rel=1e-9)


def test_satisfaction_does_not_depend_on_the_numbers_of_clusters():
    X = np.array([[0.0], [0.1], [9.0], [9.1]])
    for first, second in ((0, 1), (2, 3)):
        model = COPKMeans(2, random_state=0).fit(X, cannot_link=[(first, second)])
        assert model.labels_[first] != model.labels_[second]


def test_a_large_conflict_is_named_in_little_time():
    n = 20_001
    cycle = np.column_stack([np.arange(n), (np.arange(n) + 1) % n])
    with pytest.raises(InfeasibleError, match="the 20001 rows 0, 1, 2, .* cannot be divided among so few") as caught:
        COPKMeans(2, n_init=1).fit(np.zeros((n, 1)), cannot_link=cycle)
    assert caught.value.proven


def test_chains_of_a_hundred_thousand_links():
    n = 100_001
    chain = np.column_stack([np.arange(n - 1), np.arange(1, n)])
    X = np.random.default_rng(0).normal(size=(n, 2))
    model = COPKMeans(2, n_init=1, max_iter=300, random_state=0).fit(X, cannot_link=chain)
    assert model.violations_.total == 0
    assert len(np.unique(COPKMeans(1, n_init=1).fit(X, must_link=chain).labels_)) == 1
