from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sidelight.graphs.colouring import (
    OutOfBudgetError,
    UncolourableError,
    cheapen,
    colour,
    find_conflict,
    neighbour_lists,
    search,
)


@st.composite
def graphs(draw, most_nodes=8):
    n = draw(st.integers(1, most_nodes))
    edges = draw(st.lists(st.sampled_from(list(combinations(range(n), 2)) or [None]), unique=True))
    pairs = np.array([edge for edge in edges if edge is not None], dtype=np.int64).reshape(-1, 2)
    return n, pairs, draw(st.integers(1, 4)), draw(st.integers(0, 10_000))


def colourings(n, pairs, k):
    """Every proper colouring, by enumeration."""
    return [z for z in product(range(k), repeat=n) if all(z[a] != z[b] for a, b in pairs.tolist())]


def costs_of(n, k, seed):
    return np.random.default_rng(seed).random((n, k))


@settings(max_examples=200, deadline=None)
@given(graphs())
def test_a_colouring_is_found_exactly_where_enumeration_finds_one(graph):
    n, pairs, k, seed = graph
    costs, neighbours = costs_of(n, k, seed), neighbour_lists(pairs, n)
    if colourings(n, pairs, k):
        found = colour(neighbours, costs, max_tries=10_000)
        assert tuple(found.tolist()) in colourings(n, pairs, k)
    else:
        with pytest.raises(UncolourableError) as caught:
            colour(neighbours, costs, max_tries=10_000)
        nodes = caught.value.nodes
        inside = pairs[np.isin(pairs, nodes).all(axis=1)]
        assert not colourings(n, inside, k)


@settings(max_examples=200, deadline=None)
@given(graphs())
def test_the_conflict_named_cannot_be_coloured_and_a_clique_is_one(graph):
    n, pairs, k, seed = graph
    neighbours = neighbour_lists(pairs, n)
    try:
        colour(neighbours, costs_of(n, k, seed), max_tries=10_000)
    except UncolourableError as found:
        conflict = find_conflict(found.nodes, neighbours, k, max_tries=10_000)
        inside = pairs[np.isin(pairs, conflict.nodes).all(axis=1)]
        assert not colourings(n, inside, k)
        edges = {frozenset(pair) for pair in pairs.tolist()}
        cliques = [c for c in combinations(range(n), k + 1) if all(frozenset(p) in edges for p in combinations(c, 2))]
        assert conflict.is_clique == bool(cliques)
        if conflict.is_clique:
            assert tuple(conflict.nodes) in cliques
        else:
            # Nothing can be left out of what deletion keeps.
            for node in conflict.nodes:
                rest = inside[(inside != node).all(axis=1)]
                assert colourings(n, rest, k)


@settings(max_examples=150, deadline=None)
@given(graphs(most_nodes=7))
def test_exchanges_keep_a_colouring_proper_and_end_where_no_single_move_pays(graph):
    n, pairs, k, seed = graph
    every = colourings(n, pairs, k)
    if not every:
        return
    costs = costs_of(n, k, seed)
    start = np.array(every[seed % len(every)], dtype=np.int64)
    found = cheapen(start, costs, pairs)
    assert tuple(found.tolist()) in every

    def paid(z):
        return costs[np.arange(n), np.asarray(z)].sum()

    assert paid(found) <= paid(start)
    one_away = [z for z in every if sum(a != b for a, b in zip(z, found.tolist(), strict=True)) == 1]
    assert all(paid(z) >= paid(found) - 1e-9 for z in one_away)


def test_with_two_colours_exchanges_find_the_best_colouring():
    rng = np.random.default_rng(3)
    pairs = np.array([(0, 1), (1, 2), (2, 3), (4, 5), (5, 6)])
    for _ in range(20):
        costs = rng.random((7, 2))
        best = min(costs[np.arange(7), np.array(z)].sum() for z in colourings(7, pairs, 2))
        found = cheapen(np.array([0, 1, 0, 1, 0, 1, 0]), costs, pairs)
        assert costs[np.arange(7), found].sum() == pytest.approx(best, rel=1e-12)


def test_a_search_out_of_budget_says_so():
    n = 9
    pairs = np.array(list(combinations(range(n), 2)))
    with pytest.raises(OutOfBudgetError):
        colour(neighbour_lists(pairs, n), np.zeros((n, 8)), max_tries=5)
    ranked = np.tile(np.arange(8), (n, 1))
    # All colours not yet used are alike, so a clique takes one try per colour to refute.
    assert search(list(range(n)), neighbour_lists(pairs, n), ranked, max_tries=10_000).tried <= 2 * n
