"""Folds that keep linked rows together."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sidelight import SideInformation
from sidelight.selection import LinkedKFold


@settings(max_examples=25)
@given(st.data())
def test_no_link_and_no_block_is_cut_and_every_row_is_tested_once(data):
    n = data.draw(st.integers(12, 40))
    pairs = st.lists(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)).filter(lambda p: p[0] != p[1]), max_size=5)
    side = SideInformation.build(
        n,
        must_link=data.draw(pairs),
        cannot_link=data.draw(pairs),
        blocks=np.where(np.arange(n) < 6, np.arange(n) // 2, -1),
    )
    y = np.array(data.draw(st.lists(st.sampled_from([-1, 0, 1]), min_size=n, max_size=n)))
    folds = list(LinkedKFold(2, side=side, shuffle=True, random_state=0).split(np.zeros((n, 1)), y))
    assert sorted(np.concatenate([test for _, test in folds]).tolist()) == list(range(n))
    for train, test in folds:
        assert sorted([*train, *test]) == list(range(n))
        for links in (side.must_link, side.cannot_link):
            assert (np.isin(links, test).sum(axis=1) != 1).all()
        assert not set(side.blocks[test]) & set(side.blocks[train]) - {-1}


def test_rows_and_labels_are_spread_evenly():
    rng = np.random.default_rng(0)
    y = rng.permutation(np.repeat([0, 1, 2], 40))
    side = SideInformation.build(120, must_link=rng.permutation(120)[:40].reshape(20, 2))
    for _, test in LinkedKFold(4, side=side).split(np.zeros((120, 1)), y):
        assert abs(len(test) - 30) <= 3
        assert abs(np.bincount(y[test]) - 10).max() <= 2


def test_rows_are_found_by_id_and_by_the_index_of_a_frame():
    ids = np.array(list("abcdefgh"))
    side = SideInformation.build(8, must_link=[("a", "h")], sample_id=ids)
    some = ids[[7, 3, 2, 0, 5, 6]]
    by_id = [test.tolist() for _, test in LinkedKFold(3).split(np.zeros((6, 1)), side=side, sample_id=some)]
    by_index = [test.tolist() for _, test in LinkedKFold(3, side=side).split(pd.DataFrame({"x": 0}, index=some))]
    assert by_id == by_index
    assert any({0, 3} <= set(test) for test in by_id)


def test_what_cannot_be_split_is_refused_with_a_remedy():
    chain = [(row, row + 1) for row in range(9)]
    X = np.zeros((10, 1))
    with pytest.raises(ValueError, match="n_splits=3 folds leave 2 without rows.*cannot_link=False"):
        next(LinkedKFold(3, side=SideInformation.build(10, cannot_link=chain)).split(X))
    cut = LinkedKFold(3, side=SideInformation.build(10, cannot_link=chain), cannot_link=False)
    assert len(list(cut.split(X))) == cut.get_n_splits() == 3
    with pytest.raises(ValueError, match="side is missing: give it to the constructor"):
        next(LinkedKFold(3).split(X))
    with pytest.raises(ValueError, match="side has 4 rows, but X has 10; build side with sample_id"):
        next(LinkedKFold(3, side=SideInformation.build(4)).split(X))
    with pytest.raises(ValueError, match="n_splits=1 must be a whole number of at least 2"):
        LinkedKFold(1)
