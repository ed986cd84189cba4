"""Labels, links and confidences in every container, and what is wrong with them."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from sidelight.side import SideInformation

build = SideInformation.build

NAN = float("nan")


@pytest.mark.parametrize(
    ("y", "codes", "names"),
    [
        ([5, -1, 3], [1, -1, 0], [3, 5]),
        (np.array([5, -1, 3], dtype=np.int8), [1, -1, 0], [3, 5]),
        (np.array([5, 3], dtype=np.uint8), [1, 0], [3, 5]),
        ([-2, -1, 3], [0, -1, 1], [-2, 3]),
        (["b", None, "a"], [1, -1, 0], ["a", "b"]),
        (["b", NAN, "a"], [1, -1, 0], ["a", "b"]),
        (np.array(["b", "a"]), [1, 0], ["a", "b"]),
        (["Nan", None], [0, -1], ["Nan"]),
        ([1.0, NAN, 0.0, -1.0], [1, -1, 0, -1], [0, 1]),
        ([True, False], [1, 0], [False, True]),
        ([True, None, False], [1, -1, 0], [False, True]),
        ([1, None, 2.0, -1], [0, -1, 1, -1], [1, 2]),
        ([1, "a", None], [0, 1, -1], [1, "a"]),
        ([None, None], [-1, -1], []),
        (np.ma.masked_array([4, 2], [False, True]), [0, -1], [4]),
        (np.array(["2020-01-02", "NaT"], dtype="M8[D]"), [0, -1], [np.datetime64("2020-01-02").item()]),
        (pd.Series([5, None, 3]), [1, -1, 0], [3, 5]),
        (pd.Series([5, None, 3], dtype="Int64", index=[9, 8, 7]), [1, -1, 0], [3, 5]),
        (pd.Series(["b", None, "a"]), [1, -1, 0], ["a", "b"]),
        (pd.Series(["b", None, "a"], dtype="string"), [1, -1, 0], ["a", "b"]),
        (pd.Series(["b", None, "a"], dtype="category"), [1, -1, 0], ["a", "b"]),
        (pd.Categorical([5, None, 3]), [1, -1, 0], [3, 5]),
        (pd.Series([True, None], dtype="boolean"), [0, -1], [True]),
        (pl.Series([5, None, 3]), [1, -1, 0], [3, 5]),
        (pl.Series(["b", None, "a"]), [1, -1, 0], ["a", "b"]),
        (pl.Series(["b", None, "a"], dtype=pl.Categorical), [1, -1, 0], ["a", "b"]),
        (pl.Series([True, None]), [0, -1], [True]),
    ],
)
def test_partial_labels(y, codes, names):
    side = build(len(y), y=y)
    assert side.labels.tolist() == codes
    assert side.label_names.tolist() == names
    assert [type(name) for name in side.label_names.tolist()] == [type(name) for name in names]
    as_blocks = build(len(y), blocks=y)
    assert as_blocks.blocks.tolist() == codes
    assert as_blocks.block_names.tolist() == names


@pytest.mark.parametrize(
    ("statements", "words"),
    [
        ({"y": [0.0, NAN, 0.5]}, ["y looks continuous", "row 2", "0.5"]),
        ({"y": [0.0, np.inf, 1]}, ["y looks continuous", "row 1", "inf"]),
        ({"y": [0.5, "a", None]}, ["y looks continuous", "row 0"]),
        ({"y": [0, 1]}, ["y has 2 values", "3 rows"]),
        ({"y": np.zeros((3, 1))}, ["y must be one-dimensional", "(3, 1)"]),
        ({"y": [[0], [1, 2], 3]}, ["y must be one-dimensional"]),
        ({"y": "abc"}, ["y must be a one-dimensional list", "str"]),
        ({"y": 3}, ["y must be a one-dimensional list", "int"]),
        ({"y": [1j, 2j, 3j]}, ["y holds complex128"]),
        ({"y": np.array([{"a": 1}, None, None], dtype=object)}, ["y holds values that cannot name"]),
        ({"blocks": [0, 1]}, ["blocks has 2 values", "3 rows"]),
        ({"blocks": [0.5, 1, 2]}, ["blocks looks continuous", "row 0"]),
        ({"blocks": [[0, 1], [2, 3]]}, ["blocks[1][1]", "row 3", "0 to 2"]),
        ({"blocks": {"a": [0, -1]}}, ["blocks['a'][1]", "row -1"]),
        ({"blocks": [[0, 1], 2]}, ["blocks[1] is 2", "list of its rows"]),
        ({"sample_id": [0, 1]}, ["sample_id has 2 values", "3 rows"]),
        ({"sample_id": ["a", "b", "a"]}, ["sample_id", "rows 0 and 2", "'a'"]),
        ({"sample_id": ["a", 1, "a"]}, ["sample_id", "rows 0 and 2", "'a'"]),
        ({"sample_id": [0, {}, 1]}, ["sample_id holds {} at row 1"]),
        ({"sample_id": [7, 7, 8]}, ["sample_id", "rows 0 and 1", "7"]),
        ({"sample_id": ["a", None, "b"]}, ["sample_id", "row 1"]),
        ({"sample_id": [0.0, 1.0, NAN]}, ["sample_id", "row 2"]),
        ({"must_link": [(0, 1), (1, 3)]}, ["must_link[1]", "row 3", "0 to 2", "sample_id"]),
        ({"cannot_link": [(0, 1), (-1, 2)]}, ["cannot_link[1]", "row -1"]),
        ({"must_link": [(0, 1.5)]}, ["must_link[0]", "1.5", "integers"]),
        ({"must_link": np.array([[0, 1], [0, NAN]])}, ["must_link[1]", "nan"]),
        ({"must_link": [("a", "b")]}, ["must_link[0]", "'a'", "sample_id"]),
        ({"must_link": np.array([[True, False]])}, ["must_link[0]", "True"]),
        ({"must_link": [(0, 1), (0, 1, 2)]}, ["must_link[1]", "(0, 1, 2)", "not a pair"]),
        ({"must_link": [0, 1]}, ["must_link[0]", "not a pair"]),
        ({"must_link": ["ab", "cd"]}, ["must_link[0]", "'ab'", "not a pair"]),
        ({"must_link": np.arange(6).reshape(2, 3)}, ["must_link has shape (2, 3)", "two columns"]),
        ({"must_link": {0: 1}}, ["must_link must be a list of pairs", "dict"]),
        ({"must_link": 3}, ["must_link must be a list of pairs", "int"]),
        ({"cannot_link": [(0, 1), (2, 2)]}, ["cannot_link[1]", "row 2", "itself"]),
        ({"sample_id": ["a", "b", "c"], "must_link": [("a", None)]}, ["must_link[0]", "missing"]),
        ({"must_link": [(0, 1)], "confidence": 0.5}, ["confidence is 0.5", "above 0.5"]),
        ({"must_link": [(0, 1)], "confidence": [1.2]}, ["confidence[0] is 1.2", "at most 1"]),
        ({"must_link": [(0, 1)], "confidence": [0.9, NAN]}, ["confidence[1] is nan"]),
        ({"must_link": [(0, 1)], "confidence": [0.9, 0.8]}, ["confidence has 2 values", "1 links"]),
        ({"must_link": [(0, 1)], "confidence": "high"}, ["confidence must be one number"]),
        ({"must_link": [(0, 1)], "confidence": {"must": 0.9}}, ["confidence has the entry 'must'"]),
        (
            {"must_link": [(0, 1)], "confidence": {"must_link": [0.9, 0.9]}},
            ["confidence['must_link'] has 2 values", "1 must-links"],
        ),
    ],
)
def test_errors_name_argument_place_and_remedy(statements, words):
    with pytest.raises(ValueError) as caught:
        build(3, **statements)
    for word in words:
        assert word in str(caught.value)


@pytest.mark.parametrize(
    "links",
    [
        [(3, 1), (0, 2)],
        [[3, 1], [0, 2]],
        ((3, 1), (0, 2)),
        {(3, 1), (0, 2)},
        (pair for pair in [(3, 1), (0, 2)]),
        np.array([[3, 1], [0, 2]], dtype=np.uint16),
        np.array([[3.0, 1.0], [0.0, 2.0]]),
        pd.DataFrame({"a": [3, 0], "b": [1, 2]}),
        pl.DataFrame({"a": [3, 0], "b": [1, 2]}),
        [(3, 1), (0, 2), (1, 3), (2, 2)],
    ],
)
def test_links_in_every_container_are_ordered_and_unique(links):
    side = build(4, must_link=links)
    assert side.must_link.tolist() == [[0, 2], [1, 3]]
    assert side.must_link.dtype == np.int64
    assert side.must_link_confidence.tolist() == [1, 1]


@pytest.mark.parametrize("links", [[], (), np.empty((0, 2)), pd.DataFrame({"a": [], "b": []}), None])
def test_no_links(links):
    side = build(4, must_link=links, cannot_link=links)
    assert side.must_link.shape == side.cannot_link.shape == (0, 2)
    assert side.is_empty


def test_confidence_follows_its_link_and_the_highest_is_kept():
    side = build(
        6,
        must_link=[(4, 5), (1, 0), (0, 1)],
        cannot_link=[(3, 2), (0, 5)],
        confidence=[0.9, 0.6, 0.7, 1, 0.8],
    )
    assert side.must_link.tolist() == [[0, 1], [4, 5]]
    assert side.must_link_confidence.tolist() == [0.7, 0.9]
    assert side.cannot_link.tolist() == [[0, 5], [2, 3]]
    assert side.cannot_link_confidence.tolist() == [0.8, 1]


def test_confidence_as_one_number_and_as_mapping():
    links = {"must_link": [(0, 1), (2, 3)], "cannot_link": [(0, 2)]}
    one = build(4, **links, confidence=0.9)
    assert one.must_link_confidence.tolist() == [0.9, 0.9]
    assert one.cannot_link_confidence.tolist() == [0.9]
    each = build(4, **links, confidence={"must_link": [0.6, 0.7]})
    assert each.must_link_confidence.tolist() == [0.6, 0.7]
    assert each.cannot_link_confidence.tolist() == [1]
