"""Blocks as lists of rows."""

import numpy as np

from sidelight.side import SideInformation

build = SideInformation.build


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
