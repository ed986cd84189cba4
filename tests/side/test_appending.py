"""What is known about two tables, one below the other."""

import numpy as np

from sidelight.side import SideInformation
from sidelight.side.appending import append


def test_labels_links_and_blocks_of_both_stay_with_their_rows():
    upper = SideInformation.build(3, y=["a", None, "b"], must_link=[(0, 1)], confidence=0.8)
    lower = SideInformation.build(4, y=["b", "c", None, None], cannot_link=[(0, 3)], blocks=[-1, -1, 5, 5])
    both = append(upper, lower)
    names = [None if code < 0 else both.label_names[code] for code in both.labels]
    assert names == ["a", None, "b", "b", "c", None, None]
    assert both.must_link.tolist() == [[0, 1]]
    np.testing.assert_allclose(both.must_link_confidence, [0.8])
    assert both.cannot_link.tolist() == [[3, 6]]
    assert both.blocks.tolist() == [-1, -1, -1, -1, -1, 0, 0]


def test_nothing_known_stays_nothing():
    assert append(SideInformation.build(2), SideInformation.build(3)).is_empty
