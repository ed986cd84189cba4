"""Independent sets: no link within a set, and few sets."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from sidelight.graphs.independent_sets import first_fit_sets, independent_sets


def graph_of(pairs, n):
    both = np.concatenate([pairs, pairs[:, ::-1]])
    return csr_array((np.ones(len(both)), (both[:, 0], both[:, 1])), shape=(n, n))


def random_pairs(rng, n, density):
    pairs = [(a, b) for a in range(n) for b in range(a + 1, n) if rng.random() < density]
    return np.array(pairs, dtype=np.int64).reshape(-1, 2)


@given(seed=st.integers(0, 10_000), n=st.integers(2, 40), density=st.floats(0, 0.5))
def test_sets_have_no_links_within(seed, n, density):
    pairs = random_pairs(np.random.default_rng(seed), n, density)
    graph = graph_of(pairs, n)
    linked = np.isin(np.arange(n), pairs)
    luby, greedy = independent_sets(graph), first_fit_sets(graph)
    np.testing.assert_array_equal(luby >= 0, linked)
    assert (greedy >= 0).all()
    for sets in (luby, greedy):
        assert (sets[pairs[:, 0]] != sets[pairs[:, 1]]).all()


@given(seed=st.integers(0, 10_000), n=st.integers(1, 40), density=st.floats(0, 0.3))
def test_every_node_is_in_the_first_set_that_is_free_and_cliques_equal_all_their_pairs(seed, n, density):
    rng = np.random.default_rng(seed)
    pairs = random_pairs(rng, n, density)
    cliques = [rng.integers(-1, 2, size=n), np.minimum(rng.integers(-1, 3, size=n), 0)]
    listed = [(a, b) for codes in cliques for a in range(n) for b in range(a) if codes[a] == codes[b] >= 0]
    pairs_of_all = np.concatenate([pairs, np.array(listed, dtype=np.int64).reshape(-1, 2)])
    sets = first_fit_sets(graph_of(pairs, n), cliques)
    np.testing.assert_array_equal(sets, first_fit_sets(graph_of(pairs_of_all, n)))
    for node in range(n):
        earlier = {sets[a + b - node] for a, b in pairs_of_all.tolist() if node in (a, b) and a + b - node < node}
        assert sets[node] == min(set(range(n)) - earlier)


def test_a_long_chain_of_links_needs_few_sets():
    n = 20_000
    chain = graph_of(np.column_stack([np.arange(n - 1), np.arange(1, n)]), n)
    assert independent_sets(chain).max() < 15
    assert first_fit_sets(chain).max() == 1
