"""Sums over pairs, against the pairs listed one by one."""

import tracemalloc

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse.csgraph import connected_components

from oracles.class_penalty import random_side, signed_pairs
from sidelight import SideInformation
from sidelight.couplings.class_penalty.pair_sums import PairSums, RunningSums, independent_sets

STATEMENTS = st.tuples(st.booleans(), st.booleans(), st.booleans())


def problem(seed, statements, n=14):
    rng = np.random.default_rng(seed)
    links, labels, blocks = statements
    side = random_side(rng, n, links=links, labels=labels, blocks=blocks)
    rows = np.flatnonzero(side.mentioned)
    return side, signed_pairs(side)[np.ix_(rows, rows)], rng


@settings(max_examples=60)
@given(st.integers(0, 10**6), STATEMENTS)
def test_sums_degrees_and_groups_are_those_of_the_listed_pairs(seed, statements):
    side, C, rng = problem(seed, statements)
    pairs = PairSums.stated(side, None)
    values = rng.normal(size=(len(C), 5))
    np.testing.assert_allclose(pairs(values), C @ values, atol=1e-12)
    if not (side.labels >= 0).any() and not (side.blocks >= 0).any():
        np.testing.assert_allclose(pairs.degrees, np.abs(C).sum(axis=1), atol=1e-12)
    # A link may take back what a label says, to zero; the rows are one group all the same.
    for row, group in enumerate(connected_components(C != 0)[1]):
        assert (pairs.groups[connected_components(C != 0)[1] == group] == pairs.groups[row]).all()


@settings(max_examples=40)
@given(st.integers(0, 10**6), STATEMENTS)
def test_a_row_of_weight_two_is_two_rows(seed, statements):
    side, _, rng = problem(seed, statements, n=8)
    counts = rng.integers(0, 3, size=8)
    place = np.repeat(np.arange(8), counts)
    copies = [np.flatnonzero(place == row) for row in range(8)]

    def repeated(links):
        return [(i, j) for a, b in links for i in copies[a] for j in copies[b]]

    def sure(links, confidence):
        return [q for (a, b), q in zip(links, confidence, strict=True) for _ in range(counts[a] * counts[b])]

    longer = SideInformation.build(
        len(place),
        y=side.labels[place],
        blocks=side.blocks[place],
        must_link=repeated(side.must_link),
        cannot_link=repeated(side.cannot_link),
        confidence={
            "must_link": sure(side.must_link, side.must_link_confidence),
            "cannot_link": sure(side.cannot_link, side.cannot_link_confidence),
        },
    )
    values = rng.normal(size=(8, 3))
    rows = np.flatnonzero(side.mentioned)
    expected = signed_pairs(longer) @ values[place]
    found = PairSums.stated(side, counts.astype(float))(values[rows])
    for number, row in enumerate(rows):
        for copy in copies[row]:
            np.testing.assert_allclose(found[number], expected[copy], atol=1e-12)


def test_degrees_count_the_pairs_that_labels_and_blocks_entail():
    side = SideInformation.build(6, y=[0, 0, 1, -1, -1, -1], blocks=[-1, -1, -1, 0, 0, 0], cannot_link=[(0, 3)])
    np.testing.assert_allclose(PairSums.stated(side, None).degrees, [3, 2, 2, 3, 2, 2])


@settings(max_examples=40)
@given(st.integers(0, 10**6), STATEMENTS)
def test_independent_sets_hold_no_pair_and_running_sums_keep_up(seed, statements):
    side, C, rng = problem(seed, statements)
    pairs = PairSums.stated(side, rng.integers(1, 3, size=side.n_rows).astype(float))
    values = rng.normal(size=(len(C), 4))
    running = RunningSums.of(pairs, values)
    seen = []
    for some in independent_sets(pairs):
        assert not C[np.ix_(some.rows, some.rows)].any()
        np.testing.assert_allclose(running.sums(some), pairs(values)[some.rows], atol=1e-12)
        values = values.copy()
        values[some.rows] = rng.normal(size=(len(some.rows), 4))
        running.replace(some, values[some.rows])
        seen += some.rows.tolist()
    assert sorted(seen) == list(range(len(C)))


def test_disjoint_pairs_take_two_sets():
    side = SideInformation.build(40, must_link=np.arange(40).reshape(20, 2))
    assert len(independent_sets(PairSums.stated(side, None))) == 2


def test_all_pairs_of_many_labelled_rows_take_room_for_the_rows_only():
    n, width = 3000, 24
    side = SideInformation.build(n, y=np.arange(n) % 3)
    pairs = PairSums.stated(side, None)
    values = np.random.default_rng(0).random((n, width))
    pairs(values)
    assert pairs.links.nnz == 0
    assert pairs.labelled.nnz == n
    tracemalloc.start()
    found = pairs(values)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 6 * values.nbytes < 8 * n * n / 10
    labels = side.labels
    np.testing.assert_allclose(found[7], values[labels != 1].sum(axis=0) - values[labels == 1].sum(axis=0) + values[7])
