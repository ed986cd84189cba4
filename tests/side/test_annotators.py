from itertools import combinations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from side_enumeration import partitions, satisfying

from sidelight.side import ContradictionError, SideInformation

pool = SideInformation.from_annotators


@st.composite
def tables(draw):
    n = draw(st.integers(1, 5))
    column = st.lists(st.sampled_from([None, None, "p", "q", "r"]), min_size=n, max_size=n)
    return draw(st.dictionaries(st.sampled_from(["anna", "ben", "cy"]), column, min_size=1))


@settings(max_examples=100, deadline=None)
@given(tables())
def test_pooled_links_say_what_each_annotator_says(table):
    n = len(next(iter(table.values())))
    models = [
        z
        for z in partitions(n)
        if all(
            (z[i] == z[j]) == (column[i] == column[j])
            for column in table.values()
            for i, j in combinations(range(n), 2)
            if column[i] is not None and column[j] is not None
        )
    ]
    if models:
        assert satisfying(pool(table)) == models
    else:
        with pytest.raises(ContradictionError):
            pool(table)


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, dict])
def test_tables_of_annotators(make):
    side = pool(make({"anna": ["x", "x", "y", None], "ben": [None, 7, 8, 8]}))
    assert side.must_link.tolist() == [[0, 1], [2, 3]]
    assert side.closure().cannot.tolist() == [[0, 1]]


def test_plain_tables():
    rows = [["x", None], ["x", 7], ["y", 8], [None, 8]]
    expected = pool({"anna": ["x", "x", "y", None], "ben": [None, 7, 8, 8]})
    assert pool(np.array(rows, dtype=object)) == expected
    assert pool([list(column) for column in zip(*rows, strict=True)]) == expected
    assert pool(np.array([[0, -1], [0, 7], [1, 8], [-1, 8]])) == expected


def test_rows_or_ids_to_labels():
    side = pool({"anna": {0: "x", 3: "x"}, "ben": {2: 1, 3: 2}}, n=5)
    assert side.n_rows == 5
    assert side.must_link.tolist() == [[0, 3]]
    assert side.cannot_link.tolist() == [[2, 3]]
    named = pool({"anna": {"u": "x", "w": "x", "gone": "x"}}, sample_id=["w", "v", "u"])
    assert named.must_link.tolist() == [[0, 2]]
    assert named.ids.tolist() == ["w", "v", "u"]
    assert named.n_dropped == 1


def test_few_links():
    n = 3000
    labels = np.arange(n) % 3
    side = pool({"anna": labels, "ben": labels[::-1]})
    assert len(side.must_link) <= 2 * n
    assert len(side.cannot_link) <= 6
    assert side.closure().sizes.tolist() == [n // 3] * 3


def test_contradiction_names_the_annotators_along_a_shortest_chain():
    anna = ["x"] * 50 + [None] * 2
    ben = [None] * 49 + ["p", "p", None]
    cy = [1] + [None] * 49 + [2, None]
    with pytest.raises(ContradictionError) as caught:
        pool({"anna": anna, "ben": ben, "cy": cy})
    error = caught.value
    assert error.chain in ((0, 49, 50), (50, 49, 0))
    for words in ("0 (1 to 'cy')", "50 (2 to 'cy')", "0 and 49 are both 'x' to 'anna'", "'p' to 'ben'"):
        assert words in str(error)
    assert "confidence below 1" in str(error)


def test_contradiction_names_ids():
    with pytest.raises(ContradictionError, match=r"ids 'u' \('x' to 'anna'\) – 'v' \('y' to 'anna'\)"):
        pool({"anna": ["x", "y"], "ben": [1, 1]}, sample_id=["u", "v"])


def test_confidence_of_all_and_of_each():
    table = {"anna": ["x", "x", "y"], "ben": ["p", "q", "q"]}
    unsure = pool(table, confidence=0.8)
    assert unsure.must_link_confidence.tolist() == [0.8, 0.8]
    each = pool(table, confidence={"ben": 0.7})
    assert each.must_link.tolist() == [[0, 1], [1, 2]]
    assert each.must_link_confidence.tolist() == [1, 0.7]
    assert each.closure().chunklets.tolist() == [0, 0, 1]


@pytest.mark.parametrize(
    ("annotations", "options", "words"),
    [
        ({"anna": [1, 2], "ben": [1, 2, 3]}, {}, ["annotations['ben'] has 3 values", "2 rows"]),
        ({"anna": [1, 2]}, {"n": 3}, ["annotations['anna'] has 2 values", "3 rows"]),
        ({"anna": {0: 1}}, {}, ["n must be given"]),
        ({"anna": {5: 1}}, {"n": 3}, ["annotations['anna'][5]", "row 5"]),
        ({"anna": [0.5, 1]}, {}, ["annotations['anna'] looks continuous", "row 0"]),
        (np.array([1, 2]), {}, ["annotations has shape (2,)"]),
        ([[1, 2], [3]], {}, ["annotations must be a list of columns of one length"]),
        ([1, 2], {}, ["annotations must be a list of columns of one length"]),
        ({"anna": [1, 2]}, {"confidence": {"ben": 0.9}}, ["confidence names 'ben'", "['anna']"]),
        ({"anna": [1, 2]}, {"confidence": 0.3}, ["confidence is 0.3"]),
    ],
)
def test_errors(annotations, options, words):
    with pytest.raises(ValueError) as caught:
        pool(annotations, **options)
    for word in words:
        assert word in str(caught.value)
