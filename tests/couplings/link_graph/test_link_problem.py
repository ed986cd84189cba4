"""From side information to chunklets and links."""

import numpy as np
import pytest

from sidelight.couplings.link_graph import linked_rows, plan
from sidelight.side import ContradictionError, SideInformation


def rows_of(linked):
    return [rows.tolist() for rows in np.split(linked.rows, linked.starts[1:])]


def test_chunklets_hold_the_rows_that_are_spoken_of():
    side = SideInformation.build(
        9, y=[-1, 1, -1, -1, -1, -1, 0, -1, 1], must_link=[(0, 3), (3, 5)], cannot_link=[(5, 1), (2, 0), (2, 3)]
    )
    linked = linked_rows(side)
    assert rows_of(linked) == [[0, 3, 5], [1, 8], [2], [6]]
    assert linked.sizes.tolist() == [3, 2, 1, 1]
    assert linked.problem.labels.tolist() == [-1, 1, -1, 0]
    assert linked.problem.edges.tolist() == [[0, 1], [0, 2]]
    assert np.isneginf(linked.problem.log_equal).all()
    assert (linked.problem.log_different == 0).all()


def test_links_of_a_confidence_are_edges_that_add_up():
    side = SideInformation.build(
        5,
        must_link=[(0, 1), (1, 2), (0, 2), (3, 4)],
        cannot_link=[(1, 3)],
        confidence={"must_link": [1.0, 0.9, 0.8, 1.0], "cannot_link": 0.7},
    )
    problem = linked_rows(side).problem
    assert problem.edges.tolist() == [[0, 1], [0, 2]]
    np.testing.assert_allclose(np.exp(problem.log_equal), [0.72, 0.3])
    np.testing.assert_allclose(np.exp(problem.log_different), [0.02, 0.7])


def test_a_link_confidence_makes_every_link_an_edge():
    side = SideInformation.build(
        6, y=[0, 0, -1, -1, -1, -1], must_link=[(1, 2), (0, 1)], cannot_link=[(2, 3)], blocks=[-1, -1, -1, 7, 7, -1]
    )
    linked = linked_rows(side, link_confidence=0.9)
    assert rows_of(linked) == [[0, 1], [2], [3, 4]]
    assert linked.problem.labels.tolist() == [0, -1, -1]
    assert linked.problem.edges.tolist() == [[0, 1], [1, 2]]
    np.testing.assert_allclose(np.exp(linked.problem.log_equal), [0.9, 0.1])
    np.testing.assert_allclose(np.exp(linked.problem.log_different), [0.1, 0.9])


def test_a_link_confidence_allows_contradictions():
    side = SideInformation.build(3, must_link=[(0, 1), (1, 2)], cannot_link=[(0, 2)])
    with pytest.raises(ContradictionError):
        linked_rows(side)
    assert plan(linked_rows(side, link_confidence=0.9).problem, 2).exact


@pytest.mark.parametrize("wrong", [0.5, 0.0, 1.1, np.nan])
def test_a_link_confidence_out_of_range_is_refused(wrong):
    with pytest.raises(ValueError, match="link_confidence is .*; it must be above 0.5 and at most 1"):
        linked_rows(SideInformation.build(2, cannot_link=[(0, 1)]), link_confidence=wrong)
