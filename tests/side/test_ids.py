"""Rows that go by id."""

import tracemalloc
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest

from sidelight.side import SideInformation

build = SideInformation.build


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


def test_one_long_id_does_not_make_all_of_them_long():
    ids = [*(f"r{row}" for row in range(60)), "x" * 1_000_000]
    tracemalloc.start()
    try:
        side = build(61, must_link=[("r0", ids[-1])], sample_id=ids)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert side.must_link.tolist() == [[0, 60]]
    assert peak < 10_000_000  # an array of fixed width would be 244 MB
