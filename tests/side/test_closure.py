import pickle
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import assume, given, settings
from side_enumeration import entailed, satisfying, sides

from sidelight.side import ContradictionError, SideInformation

build = SideInformation.build


def row_pairs(chunklets, chunklet_pairs):
    """Spread pairs of chunklets out to pairs of rows."""
    wanted = {frozenset(pair) for pair in chunklet_pairs.tolist()}
    n = len(chunklets)
    return {(i, j) for i in range(n) for j in range(i + 1, n) if frozenset(chunklets[[i, j]].tolist()) in wanted}


@settings(max_examples=100, deadline=None)
@given(sides())
def test_closure_is_what_all_satisfying_partitions_share(side):
    if not satisfying(side):
        with pytest.raises(ContradictionError):
            side.closure()
        return
    closure = side.closure()
    together, apart, names = entailed(side)
    n = side.n_rows
    same = closure.chunklets[:, None] == closure.chunklets
    assert {(i, j) for i in range(n) for j in range(i + 1, n) if same[i, j]} == together
    assert row_pairs(closure.chunklets, closure.separated()) == apart
    of_rows = closure.labels[closure.chunklets]
    assert {i: side.label_names[code] for i, code in enumerate(of_rows) if code >= 0} == names
    assert closure.sizes.tolist() == [int((closure.chunklets == c).sum()) for c in range(len(closure.sizes))]


def test_chunklets_are_numbered_by_first_row_and_cannot_links_are_unique_and_ordered():
    side = build(6, must_link=[(4, 0), (5, 1)], cannot_link=[(5, 4), (1, 0), (0, 5), (3, 2)])
    closure = side.closure()
    assert closure.chunklets.tolist() == [0, 1, 2, 3, 0, 1]
    assert closure.cannot.tolist() == [[0, 1], [2, 3]]
    assert closure.sizes.tolist() == [2, 2, 1, 1]


def test_pairs_that_only_labels_keep_apart_stay_implicit():
    closure = build(4, y=["a", "b", "c", None], cannot_link=[(3, 0)]).closure()
    assert closure.cannot.tolist() == [[0, 3]]
    assert closure.separated().tolist() == [[0, 1], [0, 2], [0, 3], [1, 2]]


def test_nothing_known_and_no_rows():
    assert build(3).closure().chunklets.tolist() == [0, 1, 2]
    nothing = build(0).closure()
    assert [len(part) for part in nothing] == [0, 0, 0, 0]
    assert nothing.cannot.shape == (0, 2)


def test_closure_arrays_are_read_only():
    closure = build(3, must_link=[(0, 1)]).closure()
    with pytest.raises(ValueError, match="read-only"):
        closure.chunklets[0] = 5


def test_chain_of_a_hundred_thousand_links():
    n = 100_001
    links = np.column_stack([np.arange(n - 1), np.arange(1, n)])
    assert build(n, must_link=links).closure().sizes.tolist() == [n]
    with pytest.raises(ContradictionError, match=r"0–…–100000 \(a chain of 100001 rows\)") as caught:
        build(n, must_link=links, cannot_link=[(0, n - 1)]).closure()
    assert caught.value.chain == tuple(range(n))


def test_a_million_links():
    n = 1_000_000
    rows = np.random.default_rng(0).permutation(n)
    thirds = rows[: n // 3 * 3].reshape(3, -1)
    links = np.concatenate([thirds[[0, 1]].T, thirds[[1, 2]].T, thirds[[2, 0]].T])
    closure = build(n, must_link=links, cannot_link=thirds[0].reshape(-1, 3)[:, :2]).closure()
    assert np.bincount(closure.sizes).tolist() == [0, 1, 0, n // 3]
    assert (closure.chunklets[thirds] == closure.chunklets[thirds[0]]).all()
    assert len(closure.cannot) == n // 9


@settings(max_examples=100, deadline=None)
@given(sides())
def test_proofs_hold_and_none_is_shorter(side):
    assume(not satisfying(side))
    n, labels = side.n_rows, side.labels
    both_labelled = (labels[:, None] >= 0) & (labels >= 0)
    bound = (side.blocks[:, None] == side.blocks) & (side.blocks >= 0)
    bound |= both_labelled & (labels[:, None] == labels)
    bound[tuple(side.must_link[side.must_link_confidence == 1].T)] = True
    bound |= bound.T
    apart = both_labelled & (labels[:, None] != labels)
    apart[tuple(side.cannot_link[side.cannot_link_confidence == 1].T)] = True
    apart |= apart.T
    with pytest.raises(ContradictionError) as caught:
        side.closure()
    chain = list(caught.value.chain)
    assert all(bound[a, b] for a, b in pairwise(chain))
    assert apart[chain[0], chain[-1]]
    steps = np.where(bound, 1.0, np.inf)
    for k in range(n):
        steps = np.minimum(steps, steps[:, [k]] + steps[[k]])
    assert len(chain) - 1 == steps[apart].min()
    assert len(caught.value.steps) == len(chain) - 1


def contradiction(n=10, **statements):
    with pytest.raises(ContradictionError) as caught:
        build(n, **statements).closure()
    return caught.value


def test_proof_of_links():
    error = contradiction(must_link=[(0, 4), (4, 7)], cannot_link=[(7, 0)])
    assert str(error).startswith("rows 0–4–7 must link, but 0–7 cannot: remove one")
    assert "confidence below 1" in str(error)
    assert error.chain == (0, 4, 7)
    assert error.steps == ("0 and 4 must link", "4 and 7 must link")
    assert error.count == 1
    assert isinstance(error, ValueError)


def test_proof_is_a_shortest_one():
    around = [(i, i + 1) for i in range(9)]
    error = contradiction(must_link=[*around, (0, 6), (6, 9)], cannot_link=[(0, 9), (1, 8)])
    assert error.chain == (0, 6, 9)
    assert error.count == 2
    assert "(and 1 more)" in str(error)


def test_the_shortest_of_several_proofs_is_found_through_links_labels_and_blocks():
    y = np.full(12, -1)
    y[[8, 9]] = 0
    long = [(0, 1), (1, 2), (2, 3)]
    error = contradiction(12, y=y, must_link=long, cannot_link=[(0, 3), (8, 9)])
    assert error.chain == (8, 9)
    blocks = np.full(12, -1)
    blocks[[4, 5, 6]] = 0
    error = contradiction(12, blocks=blocks, must_link=long, cannot_link=[(0, 3), (4, 6)])
    assert error.chain == (4, 6)


def test_proof_through_a_block():
    blocks = [None] * 4 + ["b"] + [None] * 4 + ["b"]
    error = contradiction(must_link=[(0, 4)], cannot_link=[(0, 9)], blocks=blocks)
    assert "rows 0–4–9 must link (4 and 9 share block 'b'), but 0–9 cannot" in str(error)
    assert error.steps[1] == "4 and 9 share block 'b'"


def test_proof_through_a_label():
    error = contradiction(2, y=["a", "a"], cannot_link=[(0, 1)])
    assert "rows 0–1 must link (0 and 1 are both labelled 'a'), but 0–1 cannot" in str(error)


def test_proof_of_two_labels():
    y = [None, None, None, "a", None, None, None, None, "b", "a"]
    error = contradiction(y=y, must_link=[(3, 5), (5, 8)])
    assert "rows 3 (label 'a') – 5 – 8 (label 'b') must link, but the labels differ" in str(error)
    assert error.chain in ((3, 5, 8), (8, 5, 3))


def test_two_labels_in_a_block():
    error = contradiction(3, y=["a", "b", None], blocks=[[0, 1, 2]])
    assert "rows 0 (label 'a') – 1 (label 'b') must link (0 and 1 share block 0)" in str(error)


def test_proof_names_ids():
    error = contradiction(3, sample_id=["x", "y", "z"], must_link=[("x", "y"), ("y", "z")], cannot_link=[("z", "x")])
    assert "ids 'x'–'y'–'z' must link, but 'x'–'z' cannot" in str(error)
    assert error.chain == (0, 1, 2)


def test_long_chains_are_shortened_in_the_text_only():
    links = [(i, i + 1) for i in range(8)]
    error = contradiction(must_link=links, cannot_link=[(0, 8)])
    assert "rows 0–…–8 (a chain of 9 rows) must link" in str(error)
    assert error.chain == tuple(range(9))
    shorter = contradiction(must_link=links, cannot_link=[(0, 7)])
    assert "0–1–2–3–4–5–6–7" in str(shorter)


def test_every_contradiction_is_counted():
    n = 400
    pairs = np.arange(n).reshape(-1, 2)
    error = contradiction(n, must_link=pairs, cannot_link=pairs[:, ::-1])
    assert error.count == n // 2
    error = contradiction(6, y=[0, 1, 2, 0, 1, 2], must_link=[(0, 1), (1, 2)])
    assert error.count == 2


def test_uncertain_links_take_no_part():
    side = build(3, must_link=[(0, 1), (1, 2)], cannot_link=[(0, 2)], confidence=[1, 0.9, 1])
    assert side.closure().chunklets.tolist() == [0, 0, 1]
    assert side.closure().cannot.tolist() == [[0, 1]]


def test_contradictions_survive_pickling():
    error = contradiction(must_link=[(0, 4), (4, 7)], cannot_link=[(7, 0)])
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.chain, again.steps) == (str(error), error.chain, error.steps)
