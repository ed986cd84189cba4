import copy
import dataclasses
import pickle
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from side_enumeration import sides
from sklearn.base import BaseEstimator
from sklearn.model_selection import cross_validate

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
        (["nan", None], [0, -1], ["nan"]),
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
        ({"must_link": [(0, 1), (0, 1, 2)]}, ["must_link[1]", "(0, 1, 2)", "no pair"]),
        ({"must_link": [0, 1]}, ["must_link[0]", "no pair"]),
        ({"must_link": ["ab", "cd"]}, ["must_link[0]", "'ab'", "no pair"]),
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


@pytest.mark.parametrize("n", [-1, 2.0, "3", True, None])
def test_number_of_rows_must_be_one(n):
    with pytest.raises(ValueError, match="n must be the number of rows"):
        build(n)


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


@pytest.mark.parametrize(
    "ids",
    [
        ["u", "v", "w", "x"],
        np.array(["u", "v", "w", "x"]),
        pd.Series(["u", "v", "w", "x"], index=[3, 4, 5, 6]),
        pl.Series(["u", "v", "w", "x"]),
        [40, 30, 20, 10],
        np.array([40, 30, 20, 10], dtype=np.uint8),
        [40.0, 30.0, 20.0, 10.0],
        ["u", 1, "w", 2],
        pd.MultiIndex.from_product([["a", "b"], [1, 2]]),
    ],
)
def test_links_by_id(ids):
    names = list(ids)
    links = [(names[3], names[0]), (names[1], "absent")]
    side = build(4, must_link=links, cannot_link=[(names[1], names[2])], sample_id=ids, confidence=[0.9, 0.7, 0.8])
    assert side.must_link.tolist() == [[0, 3]]
    assert side.must_link_confidence.tolist() == [0.9]
    assert side.cannot_link.tolist() == [[1, 2]]
    assert side.cannot_link_confidence.tolist() == [0.8]
    assert side.n_dropped == 1
    assert "1 about absent ids dropped" in repr(side)


def test_integer_ids_are_no_row_numbers():
    side = build(3, must_link=[(2, 1)], sample_id=[2, 0, 1])
    assert side.must_link.tolist() == [[0, 2]]


def test_links_in_a_table_of_ids():
    table = {"a": ["u", "v"], "b": ["w", "z"]}
    for links in (pd.DataFrame(table), pl.DataFrame(table)):
        assert build(3, must_link=links, sample_id=["u", "v", "w"]).must_link.tolist() == [[0, 2]]


def test_all_links_absent_warns():
    with pytest.warns(UserWarning, match="none of the 2 links"):
        side = build(2, must_link=[("0", "1")], cannot_link=[("1", "0")], sample_id=[0, 1])
    assert side.is_empty
    assert side.n_dropped == 2
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        build(2, must_link=[(0, 5)], cannot_link=[(1, 0)], sample_id=[0, 1])


def test_a_cannot_link_of_an_absent_id_with_itself_drops_out():
    side = build(2, must_link=[("a", "b")], cannot_link=[("z", "z")], sample_id=["a", "b"])
    assert len(side.cannot_link) == 0
    assert side.n_dropped == 1


def test_listed_blocks():
    side = build(6, blocks=[[0, 1], [], np.array([4, 5])])
    assert side.blocks.tolist() == [0, 0, -1, -1, 1, 1]
    assert side.block_names.tolist() == [0, 2]
    named = build(3, blocks={"left": ["c", "a", "gone"]}, sample_id=["a", "b", "c"])
    assert named.blocks.tolist() == [0, -1, 0]
    assert named.block_names.tolist() == ["left"]
    assert named.n_dropped == 1


def test_listed_blocks_that_share_a_row_are_joined():
    side = build(6, blocks={"p": [4, 5], "q": [0, 1], "r": [1, 2], "s": [2, 5]})
    assert side.blocks.tolist() == [0, 0, 0, -1, 0, 0]
    assert side.block_names.tolist() == ["p"]


def test_mentioned_and_statements():
    nothing = build(4, y=[-1] * 4, blocks=["a", "b", None, None])
    assert nothing.is_empty
    assert nothing.statements == frozenset()
    assert not nothing.mentioned.any()
    side = build(
        9,
        y=["u"] + [None] * 8,
        must_link=[(1, 2)],
        cannot_link=[(3, 4)],
        blocks=[[5, 6], [7]],
        confidence=0.9,
    )
    assert side.mentioned.tolist() == [True] * 7 + [False] * 2
    assert side.statements == {"labels", "must_link", "cannot_link", "blocks", "confidence"}
    assert build(2, must_link=[(0, 1)]).statements == {"must_link"}
    assert build(2, cannot_link=[(0, 1)], confidence=0.6).statements == {"cannot_link", "confidence"}


def test_repr_is_one_readable_line():
    y = np.full(150, -1)
    y[:12] = np.arange(12) % 3
    pairs = np.arange(50).reshape(-1, 2)
    blocks = np.full(150, -1)
    blocks[60:70] = np.arange(10) % 2
    side = build(150, y=y, must_link=pairs[:20], cannot_link=pairs[20:], blocks=blocks)
    assert repr(side) == ("SideInformation(150 rows: 12 labels of 3 classes, 20 must-links, 5 cannot-links, 2 blocks)")
    assert repr(build(1)) == "SideInformation(1 row: nothing known)"
    unsure = build(3, y=[0, -1, -1], must_link=[(0, 1), (1, 2)], confidence=[1, 0.7])
    assert repr(unsure) == "SideInformation(3 rows: 1 label of 1 class, 2 must-links (1 uncertain))"


def test_frozen_and_read_only():
    source = np.array([[0, 1]])
    side = build(3, y=[0, -1, 1], must_link=source)
    source[:] = 2
    assert side.must_link.tolist() == [[0, 1]]
    with pytest.raises(dataclasses.FrozenInstanceError):
        side.n_rows = 4
    for name in ("labels", "label_names", "must_link", "must_link_confidence", "blocks", "mentioned"):
        with pytest.raises(ValueError, match="read-only"):
            getattr(side, name)[:] = 0


class _Remembering(BaseEstimator):
    def fit(self, X, y=None, side=None):
        self.n_rows_, self.side_ = len(X), side
        return self

    def score(self, X, y=None):
        return 0.0


def test_scikit_learn_passes_it_on_whole():
    side = build(3, must_link=[(0, 1)])
    assert not hasattr(side, "__len__")
    assert not hasattr(side, "shape")
    scores = cross_validate(_Remembering(), np.zeros((3, 1)), cv=3, params={"side": side}, return_estimator=True)
    assert [estimator.n_rows_ for estimator in scores["estimator"]] == [2, 2, 2]
    assert all(estimator.side_ is side for estimator in scores["estimator"])


@settings(max_examples=50, deadline=None)
@given(sides(ids=True))
def test_equal_after_copy_and_pickle(side):
    again = pickle.loads(pickle.dumps(side))
    for twin in (again, copy.copy(side), copy.deepcopy(side), dataclasses.replace(side)):
        assert twin == side
        assert hash(twin) == hash(side)
    assert not again.labels.flags.writeable
    assert again.n_dropped == side.n_dropped


def test_equality_is_of_content():
    side = build(4, y=["a", None, "b", None], must_link=[(1, 2)], sample_id=[1, 2, 3, 4])
    same = build(4, y=pd.Series(["a", None, "b", None]), must_link=[(2, 1), (1, 2)], sample_id=np.int8([1, 2, 3, 4]))
    assert side == same
    assert hash(side) == hash(same)
    assert side != build(4, y=["a", None, "c", None], must_link=[(1, 2)], sample_id=[1, 2, 3, 4])
    assert side != build(4, y=["a", None, "b", None], must_link=[(0, 1)])
    assert build(4, must_link=[(0, 1)]) != build(4, must_link=[(0, 1)], confidence=0.9)
    assert build(2) != build(3)
    assert build(2) != "side"
    assert len({side, same}) == 1


def test_the_closure_is_no_part_of_equality_or_pickle():
    side, other = build(3, must_link=[(0, 1)]), build(3, must_link=[(0, 1)])
    assert side.closure() is side.closure()
    assert side == other
    assert pickle.dumps(side) == pickle.dumps(other)


def test_the_constructor_checks_its_arrays():
    side = build(3, y=[0, -1, 1], cannot_link=[(0, 1)])
    with pytest.raises(ValueError, match=r"labels holds the code 2 at row 0"):
        dataclasses.replace(side, labels=np.array([2, 0, 0]))
    with pytest.raises(ValueError, match=r"blocks has shape \(2,\), but there are 3 rows"):
        dataclasses.replace(side, blocks=np.array([-1, -1]))
    with pytest.raises(ValueError, match=r"cannot_link\[0\] names row 3"):
        dataclasses.replace(side, cannot_link=np.array([[0, 3]]))
    with pytest.raises(ValueError, match=r"cannot_link\[0\] keeps row 1 apart from itself"):
        dataclasses.replace(side, cannot_link=np.array([[1, 1]]))
