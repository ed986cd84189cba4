"""Side information stated for other rows, as links, as blocks, pooled and appended."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from side_enumeration import entailed, satisfying, sides

from sidelight.side import ContradictionError, SideInformation
from sidelight.side.transforms import append

build = SideInformation.build


def some_rows(n):
    return st.lists(st.integers(0, n - 1), unique=True, max_size=n)


@settings(max_examples=100, deadline=None)
@given(st.data())
def test_restriction_keeps_all_that_is_entailed_and_adds_nothing(data):
    side = data.draw(sides())
    rows = data.draw(some_rows(side.n_rows))
    if not satisfying(side):
        with pytest.raises(ContradictionError):
            side.restrict(rows)
        return
    kept = side.restrict(rows)
    assert kept.n_rows == len(rows)
    assert entailed(kept) == entailed(side, rows)
    assert kept.label_names.tolist() == side.label_names.tolist()


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_the_closure_of_a_restriction_is_the_restricted_closure(data):
    side = data.draw(sides())
    assume(satisfying(side))
    rows = np.array(data.draw(some_rows(side.n_rows)), dtype=int)
    whole, part = side.closure(), side.restrict(rows).closure()
    chunklets = whole.chunklets[rows].tolist()
    number = {c: i for i, c in enumerate(dict.fromkeys(chunklets))}
    assert part.chunklets.tolist() == [number[c] for c in chunklets]
    assert part.labels.tolist() == [whole.labels[c] for c in number]
    expected = {frozenset((number[a], number[b])) for a, b in whole.cannot.tolist() if {a, b} <= set(number)}
    assert {frozenset(pair) for pair in part.cannot.tolist()} == expected


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_uncertain_links_survive_where_both_ends_do(data):
    side = data.draw(sides())
    assume(satisfying(side))
    rows = data.draw(some_rows(side.n_rows))
    kept = side.restrict(rows)
    for kind in ("must_link", "cannot_link"):
        confidence = dict(
            zip(map(tuple, getattr(kept, kind).tolist()), getattr(kept, f"{kind}_confidence"), strict=True)
        )
        survivors = 0
        for (a, b), q in zip(getattr(side, kind).tolist(), getattr(side, f"{kind}_confidence"), strict=True):
            if q < 1 and a in rows and b in rows:
                # An entailed certain link may take the place of an uncertain one.
                assert confidence[tuple(sorted((rows.index(a), rows.index(b))))] in (q, 1)
                survivors += 1
        assert sum(q < 1 for q in confidence.values()) <= survivors


def test_restriction_joins_pieces_by_a_chain():
    star = build(7, must_link=[(0, k) for k in range(1, 7)])
    kept = star.restrict(np.arange(7) > 0)
    assert len(kept.must_link) == 5
    assert kept.closure().sizes.tolist() == [6]


def test_restriction_moves_labels_and_cannot_links_to_rows_that_stay():
    side = build(5, y=["a", None, None, None, "b"], must_link=[(0, 1), (3, 2)], cannot_link=[(0, 3)])
    kept = side.restrict([2, 1])
    assert kept.labels.tolist() == [-1, 0]
    assert kept.cannot_link.tolist() == [[0, 1]]
    assert kept.label_names.tolist() == ["a", "b"]


def test_restriction_keeps_ids_and_order():
    side = build(4, must_link=[("a", "d")], sample_id=list("abcd"))
    kept = side.restrict([3, 1, 0])
    assert kept.ids.tolist() == ["d", "b", "a"]
    assert kept.must_link.tolist() == [[0, 2]]


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ([0, 1, 0], ["rows[2]", "row 0 again"]),
        ([0, 3], ["rows[1] is 3", "0 to 2"]),
        ([-1], ["rows[0] is -1"]),
        ([True, False], ["mask of 2 values", "3 rows"]),
        ([0.5], ["rows holds float64"]),
        ([[0]], ["rows must be one-dimensional"]),
    ],
)
def test_wrong_choices_of_rows(rows, words):
    with pytest.raises(ValueError) as caught:
        build(3).restrict(rows)
    for word in words:
        assert word in str(caught.value)


def test_restriction_to_nothing():
    assert build(3, must_link=[(0, 1)]).restrict([]).is_empty


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_align_is_restrict_by_id_with_strangers(data):
    side = data.draw(sides(ids=True))
    assume(satisfying(side))
    rows = data.draw(some_rows(side.n_rows))
    wanted = data.draw(st.permutations([*side.ids[rows].tolist(), "stranger", "another"]))
    aligned = side.align(wanted)
    assert aligned.ids.tolist() == wanted
    assert not aligned.mentioned[[wanted.index("stranger"), wanted.index("another")]].any()
    back = aligned.align(side.ids[rows])
    # Which row of a block carries an entailed label depends on the order; what follows from it does not.
    expected = side.restrict(rows)
    for found, wanted_array in zip(back.closure(), expected.closure(), strict=True):
        np.testing.assert_array_equal(found, wanted_array)
    assert back.ids.tolist() == expected.ids.tolist()


def test_align_needs_ids_that_are_unique():
    with pytest.raises(ValueError, match="no ids to align sample_id with; build it with sample_id"):
        build(3).align([0, 1, 2])
    with pytest.raises(ValueError, match=r"sample_id names rows 0 and 1 both 'a'"):
        build(2, sample_id=["a", "b"]).align(["a", "a"])


@settings(max_examples=60, deadline=None)
@given(sides())
def test_links_say_the_same(side):
    links = side.as_links()
    assert links.statements <= {"must_link", "cannot_link", "confidence"}
    assert set(satisfying(links)) == set(satisfying(side))


def test_labels_become_few_links():
    links = build(9, y=[0, 1, 2] * 3, blocks=[[0, 3]]).as_links()
    assert len(links.must_link) == 6
    assert len(links.cannot_link) == 3


@settings(max_examples=60, deadline=None)
@given(sides())
def test_blocks_say_the_same(side):
    blocks = side.as_blocks()
    assert (blocks.must_link_confidence < 1).all()
    assert (blocks.labels == side.labels).all()
    assert (blocks.cannot_link == side.cannot_link).all()
    assert set(satisfying(blocks)) == set(satisfying(side))
    uncertain = side.must_link[side.must_link_confidence < 1]
    assert blocks.must_link.tolist() == uncertain.tolist()


def test_blocks_are_numbered_by_first_row():
    side = build(6, must_link=[(5, 1), (2, 3)], y=[0, 0, -1, -1, -1, -1])
    assert side.as_blocks().blocks.tolist() == [-1, 0, 1, 1, -1, 0]


@settings(max_examples=60, deadline=None)
@given(sides(n=5), sides(n=5))
def test_pooled_statements_are_those_of_both(side, other):
    mine, theirs = ([None if code < 0 else which.label_names[code] for code in which.labels] for which in (side, other))
    pairs = [(i, j) for i in range(5) for j in range(5) if mine[i] is not None and theirs[j] is not None]
    if any(i == j and mine[i] != theirs[j] for i, j in pairs):
        with pytest.raises(ContradictionError, match="in one and"):
            side.combine(other)
        return
    # Equal names in the two are the same label, which neither says alone.
    models = [
        z
        for z in satisfying(side)
        if z in satisfying(other) and all((z[i] == z[j]) == (mine[i] == theirs[j]) for i, j in pairs)
    ]
    assert satisfying(side | other) == models


def test_combine_unites_names_blocks_and_confidences():
    one = build(5, y=["b", None, None, None, None], blocks=["x", "x", None, None, None], must_link=[(0, 1)])
    two = build(
        5,
        y=[None, "a", "b", None, None],
        blocks=[None, "x", "x", "y", "y"],
        must_link=[("w", "v"), ("y", "z")],
        confidence=0.8,
        sample_id=list("vwxyz"),
    )
    both = one.combine(two)
    assert both.label_names.tolist() == ["a", "b"]
    assert both.labels.tolist() == [1, 0, 1, -1, -1]
    assert both.blocks.tolist() == [0, 0, 0, 1, 1]
    assert both.block_names.tolist() == ["x", "y"]
    assert both.must_link_confidence.tolist() == [1, 0.8]
    assert both.ids.tolist() == list("vwxyz")


def test_combine_refuses_what_does_not_fit():
    with pytest.raises(ValueError, match="2 rows with that about 3 rows"):
        build(2).combine(build(3))
    with pytest.raises(ValueError, match="ids differ; align"):
        build(2, sample_id=["a", "b"]).combine(build(2, sample_id=["b", "a"]))
    with pytest.raises(ContradictionError, match="row 1 is labelled 'a' in one and 'b' in the other"):
        build(2, y=[None, "a"]).combine(build(2, y=[None, "b"]))
    with pytest.raises(ContradictionError, match="id 'q' is labelled 'a' in one and 'b'"):
        build(2, y=[None, "a"]).combine(build(2, y=[None, "b"], sample_id=["p", "q"]))
    with pytest.raises(TypeError):
        build(2) | 3


def test_names_that_no_row_carries_can_be_left_out():
    side = build(5, y=["a", "b", "c", None, None], blocks=["x", None, None, "y", "y"]).restrict([1, 2, 3, 4])
    assert side.label_names.tolist() == ["a", "b", "c"]
    used = side.without_unused_names()
    assert used.label_names.tolist() == ["b", "c"]
    assert used.labels.tolist() == [0, 1, -1, -1]
    assert used.block_names.tolist() == ["y"]
    assert used.blocks.tolist() == [-1, -1, 0, 0]


def test_appended_labels_links_and_blocks_stay_with_their_rows():
    upper = build(3, y=["a", None, "b"], must_link=[(0, 1)], confidence=0.8)
    lower = build(4, y=["b", "c", None, None], cannot_link=[(0, 3)], blocks=[-1, -1, 5, 5])
    both = append(upper, lower)
    names = [None if code < 0 else both.label_names[code] for code in both.labels]
    assert names == ["a", None, "b", "b", "c", None, None]
    assert both.must_link.tolist() == [[0, 1]]
    np.testing.assert_allclose(both.must_link_confidence, [0.8])
    assert both.cannot_link.tolist() == [[3, 6]]
    assert both.blocks.tolist() == [-1, -1, -1, -1, -1, 0, 0]


def test_appending_nothing_gives_nothing():
    assert append(build(2), build(3)).is_empty
