from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sidelight.side import draw_labels, draw_links, draw_side

Y = np.repeat([0, 1, 2], [60, 30, 10])


def stated(links):
    return [*map(tuple, links.must_link.tolist()), *map(tuple, links.cannot_link.tolist())]


def check(links, y):
    """Pairs are distinct and ordered, and exactly those marked wrong contradict the truth."""
    pairs = stated(links)
    assert len(set(pairs)) == len(pairs)
    assert all(a < b for a, b in pairs)
    says_same = np.arange(len(pairs)) < len(links.must_link)
    is_same = np.array([y[a] == y[b] for a, b in pairs], dtype=bool)
    assert ((says_same != is_same) == links.wrong).all()


def test_labels_by_fraction_and_number():
    for options, number in (({"fraction": 0.25}, 25), ({"number": 7}, 7), ({"number": 0}, 0)):
        partial = draw_labels(Y, **options, random_state=0)
        assert partial.dtype == np.int64
        known = partial >= 0
        assert known.sum() == number
        assert (partial[known] == Y[known]).all()


def test_labels_per_class_and_left_out():
    partial = draw_labels(Y, per_class=4, left_out=[1], random_state=0)
    assert np.bincount(partial[partial >= 0], minlength=3).tolist() == [4, 0, 4]
    partial = draw_labels(Y, fraction=0.5, left_out=[0], random_state=0)
    assert set(partial.tolist()) == {-1, 1, 2}
    assert (partial >= 0).sum() == 20


def test_labels_in_proportion():
    partial = draw_labels(Y, number=10, stratify=True, random_state=0)
    assert np.bincount(partial[partial >= 0]).tolist() == [6, 3, 1]
    counts = np.array(
        [
            np.bincount(draw_labels([0, 0, 1, 1], number=3, stratify=True, random_state=seed) + 1, minlength=3)[1:]
            for seed in range(20)
        ]
    )
    assert {tuple(row) for row in counts.tolist()} == {(1, 2), (2, 1)}


def test_labels_of_strings_and_rows_the_truth_does_not_know():
    partial = draw_labels(pd.Series(["a", None, "b", "a"]), fraction=1.0, random_state=0)
    assert partial.tolist() == ["a", None, "b", "a"]
    assert draw_labels([True, False], number=2).tolist() == [True, False]
    assert draw_labels([3, -1, 5], number=2).tolist() == [3, -1, 5]


def test_every_row_is_drawn_sooner_or_later():
    drawn = sum((draw_labels(Y, number=10, random_state=seed) >= 0).astype(int) for seed in range(200))
    assert drawn.min() >= 5
    assert drawn.max() <= 40


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({}, "one of fraction, number and per_class"),
        ({"fraction": 0.1, "number": 3}, "one of fraction, number and per_class"),
        ({"fraction": 1.5}, "fraction=1.5 must lie between 0 and 1"),
        ({"number": 101}, "number=101 labels cannot be drawn from 100 rows"),
        ({"number": -1}, "number=-1 labels"),
        ({"per_class": 11}, "per_class=11 cannot be drawn: class 2 has only 10 rows"),
        ({"per_class": -1}, "per_class=-1 cannot be drawn: it is negative"),
        ({"number": 1, "left_out": ["a"]}, "left_out names the class 'a'"),
    ],
)
def test_labels_that_cannot_be_drawn(options, words):
    with pytest.raises(ValueError, match=words):
        draw_labels(Y, **options)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from("abc"), min_size=1, max_size=8), st.integers(0, 2**31 - 1), st.data())
def test_random_links(y, seed, data):
    possible = len(y) * (len(y) - 1) // 2
    number = data.draw(st.integers(0, possible))
    wrong = data.draw(st.sampled_from([0.0, 0.1, 0.5, 1.0]))
    links = draw_links(y, number, wrong=wrong, random_state=seed)
    check(links, y)
    assert len(stated(links)) == number
    assert links.wrong.sum() == round(wrong * number)


def test_all_pairs_can_be_drawn_and_no_more():
    y = [0, 0, 1, 1, 2]
    links = draw_links(y, 10, random_state=0)
    assert set(stated(links)) == set(combinations(range(5), 2))
    assert len(draw_links(y, n_must=2, n_cannot=8).cannot_link) == 8
    with pytest.raises(ValueError, match="asked for 11 links among 5 rows, but there are only 10"):
        draw_links(y, 11)
    with pytest.raises(ValueError, match="asked for 3 pairs of rows of one class, but there are only 2"):
        draw_links(y, n_must=3)
    with pytest.raises(ValueError, match="asked for 9 pairs of rows of different classes, but there are only 8"):
        draw_links(y, 9, kind="cannot_link")


@pytest.mark.parametrize("options", [{"n_links": 3}, {"n_must": 2, "n_cannot": 3}, {"n_links": 2, "disjoint": True}])
def test_all_pairs_are_equally_likely(options):
    y = [0, 0, 0, 1, 1]
    counts = dict.fromkeys(combinations(range(5), 2), 0)
    for seed in range(600):
        for pair in stated(draw_links(y, **options, random_state=seed)):
            counts[pair] += 1
    # By kind, as numbers of each kind make the kinds unequally likely.
    for same in (True, False):
        of_kind = np.array([counts[a, b] for a, b in counts if (y[a] == y[b]) == same])
        share = of_kind / of_kind.sum()
        spread = np.sqrt(share.mean() * (1 - share.mean()) / of_kind.sum())
        assert np.abs(share - share.mean()).max() < 4 * spread


@pytest.mark.parametrize("disjoint", [False, True])
@pytest.mark.parametrize("wrong", [0.0, 0.2])
def test_numbers_of_each_kind(disjoint, wrong):
    links = draw_links(Y, n_must=20, n_cannot=10, wrong=wrong, disjoint=disjoint, random_state=3)
    check(links, Y)
    assert (len(links.must_link), len(links.cannot_link)) == (20, 10)
    assert links.wrong[:20].sum() == 20 * wrong
    assert links.wrong[20:].sum() == 10 * wrong
    if disjoint:
        assert len(np.unique(stated(links))) == 60


def test_kinds():
    assert len(draw_links(Y, 9, kind="must_link", random_state=0).must_link) == 9
    assert len(draw_links(Y, 9, kind="cannot_link", random_state=0).cannot_link) == 9
    balanced = draw_links(Y, 9, kind="balanced", random_state=0)
    assert (len(balanced.must_link), len(balanced.cannot_link)) == (5, 4)


@pytest.mark.parametrize("among", [np.arange(5, 95, 3), np.isin(np.arange(100), np.arange(5, 95, 3))])
def test_links_among_some_rows(among):
    for options in ({"n_links": 40}, {"n_must": 20, "n_cannot": 20}):
        links = draw_links(Y, **options, among=among, random_state=0)
        check(links, Y)
        assert set(np.ravel(stated(links)).tolist()) <= set(range(5, 95, 3))
    assert stated(draw_links(Y, 0, among=[])) == []


def test_rows_the_truth_does_not_know_are_not_linked():
    y = ["a", None, "b", "a", None]
    links = draw_links(y, 3, random_state=0)
    assert set(stated(links)) == {(0, 2), (0, 3), (2, 3)}


@pytest.mark.parametrize(
    ("y", "n_must", "n_cannot"),
    [
        ([0] * 5 + [1] + [2] * 2, 1, 3),
        ([0] * 20 + [1] * 20, 0, 20),
        ([0] * 30 + [1] * 10, 10, 10),
        (np.arange(12), 0, 6),
    ],
)
def test_disjoint_links_where_there_is_little_choice(y, n_must, n_cannot):
    for seed in range(5):
        links = draw_links(y, n_must=n_must, n_cannot=n_cannot, disjoint=True, random_state=seed)
        check(links, y)
        assert (len(links.must_link), len(links.cannot_link)) == (n_must, n_cannot)
        assert len(np.unique(stated(links))) == 2 * (n_must + n_cannot)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({}, "either n_links, or n_must and n_cannot"),
        ({"n_links": 3, "n_must": 3}, "either n_links, or n_must and n_cannot"),
        ({"n_links": -1}, "must not be negative"),
        ({"n_links": 3, "kind": "hard"}, "kind='hard' is unknown"),
        ({"n_links": 3, "wrong": 2}, "wrong=2 must lie between 0 and 1"),
        ({"n_links": 3, "among": [True]}, "among is a mask of 1 values, but there are 100 rows"),
        ({"n_links": 3, "among": [0.5]}, "among holds float64"),
        ({"n_links": 3, "among": [0, 100]}, r"among\[1\] is 100, but the 100 rows"),
        ({"n_links": 51, "disjoint": True}, "asked for 51 disjoint links among 100 rows"),
        ({"n_must": 51, "disjoint": True}, "asked for 51 disjoint pairs of rows of one class"),
        ({"n_cannot": 45, "disjoint": True}, "found no 0 pairs of one class and 45 of different classes"),
    ],
)
def test_links_that_cannot_be_drawn(options, words):
    with pytest.raises(ValueError, match=words):
        draw_links(Y, **options)


def test_the_same_seed_draws_the_same():
    one, two = (draw_links(Y, 30, wrong=0.1, random_state=5) for _ in range(2))
    assert all((a == b).all() for a, b in zip(one, two, strict=True))
    other = draw_links(Y, 30, wrong=0.1, random_state=6)
    assert stated(one) != stated(other)


def test_many_links_among_a_million_rows():
    y = np.arange(1_000_000) % 7
    links = draw_links(y, n_must=50_000, n_cannot=50_000, random_state=0)
    assert (y[links.must_link[:, 0]] == y[links.must_link[:, 1]]).all()
    assert (y[links.cannot_link[:, 0]] != y[links.cannot_link[:, 1]]).all()
    anything = draw_links(y, 100_000, random_state=0)
    assert len(np.unique(np.concatenate([anything.must_link, anything.cannot_link]), axis=0)) == 100_000
    # Rows high and low are drawn alike: the mean row of a uniform pair is the middle one.
    assert abs(anything.cannot_link.mean() - 500_000) < 5_000


def test_draw_side():
    y = np.array(["a", "b", "c"])[Y]
    side = draw_side(y, labels=0.2, links={"n_must": 5, "n_cannot": 6}, random_state=0)
    assert (side.labels >= 0).sum() == 20
    assert (len(side.must_link), len(side.cannot_link)) == (5, 6)
    known = side.labels >= 0
    assert (side.label_names[side.labels[known]] == y[known]).all()
    side.closure()
    named = draw_side(
        y, labels={"per_class": 2}, links=8, confidence=0.9, sample_id=np.arange(100) + 500, random_state=0
    )
    assert (named.labels >= 0).sum() == 6
    assert named.ids[0] == 500
    assert len(named.must_link) + len(named.cannot_link) == 8
    assert named.statements >= {"labels", "confidence"}
    assert (draw_side(y, labels=3, random_state=0).labels >= 0).sum() == 3
    assert draw_side(y).is_empty
