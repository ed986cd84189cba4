"""The object that holds what is known: equality, immutability, summary."""

import copy
import dataclasses
import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from side_enumeration import sides
from sklearn.base import BaseEstimator
from sklearn.model_selection import cross_validate

from sidelight.side import SideInformation

build = SideInformation.build


@pytest.mark.parametrize("n", [-1, 2.0, "3", True, None])
def test_number_of_rows_must_be_one(n):
    with pytest.raises(ValueError, match="n must be the number of rows"):
        build(n)


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
    assert repr(side) == "SideInformation(150 rows: 12 labels of 3 classes, 20 must-links, 5 cannot-links, 2 blocks)"
    assert repr(build(1)) == "SideInformation(1 row: nothing known)"
    unsure = build(3, y=[0, -1, -1], must_link=[(0, 1), (1, 2)], confidence=[1, 0.7])
    assert repr(unsure) == "SideInformation(3 rows: 1 label of 1 class, 2 must-links (1 uncertain))"


@pytest.mark.parametrize(
    ("side", "summary"),
    [
        (build(3), "nothing known"),
        (build(3, y=["a", "b", "a"]), "3 labels of 2 classes"),
        (build(3, cannot_link=[(0, 1)], confidence=0.8), "1 cannot-link (1 uncertain)"),
        (build(4, must_link=[(0, 1), (1, 2)], blocks=[[0, 3]]), "2 must-links, 1 block"),
        (
            build(2, must_link=[("a", "b"), ("a", "z")], sample_id=["a", "b"]),
            "1 must-link; 1 about absent ids dropped",
        ),
    ],
)
def test_the_summary_counts_the_statements(side, summary):
    assert side.summary() == summary
    assert repr(side) == f"SideInformation({side.n_rows} rows: {summary})"


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
