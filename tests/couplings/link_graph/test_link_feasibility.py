"""Links that no assignment respects are refused, with rows that prove it."""

import numpy as np
import pytest
from hypothesis import given, settings

from oracles.link_graphs import is_possible
from side.side_enumeration import sides
from sidelight.couplings.link_graph import linked_rows, plan
from sidelight.couplings.link_graph.feasibility import feasible_number
from sidelight.exceptions import InfeasibleError
from sidelight.side import ContradictionError, SideInformation


def refused(n, n_classes, **statements):
    with pytest.raises(InfeasibleError) as caught:
        plan(linked_rows(SideInformation.build(n, **statements)).problem, n_classes)
    return caught.value


def test_three_that_are_kept_apart_need_three_classes():
    error = refused(8, 2, cannot_link=[(0, 4), (4, 7), (7, 0)])
    assert error.rows == (0, 4, 7)
    message = str(error)
    assert "cannot_link asks for more than n_classes=2: rows 0, 4, 7 (and what they are bound to)" in message
    assert "an odd cycle of cannot-links, which takes 3 classes" in message
    assert all(f"{a}–{b}" in message for a, b in [(0, 4), (4, 7), (0, 7)])
    assert "Raise n_classes, remove one of these links, or set link_confidence below 1" in message


def test_the_least_number_of_classes_that_links_allow():
    apart = [(a, b) for a in range(5) for b in range(a)]
    problem = linked_rows(SideInformation.build(9, cannot_link=[*apart, (5, 6), (6, 7), (7, 5)])).problem
    assert [feasible_number(problem, number) for number in (2, 4, 5, 7)] == [5, 5, 5, 7]


def test_odd_cycles_are_named_by_stated_links_and_are_short():
    path = [(row, row + 1) for row in range(20)]
    error = refused(30, 2, must_link=[(20, 21)], cannot_link=[*path, (21, 18), (25, 26)])
    assert set(error.links) == {(18, 19), (19, 20), (18, 21)}
    assert set(error.rows) == {18, 19, 20, 21}


def test_labels_that_disagree_along_cannot_links():
    error = refused(5, 2, y=[0, -1, -1, 1, -1], cannot_link=[(0, 1), (1, 3)])
    assert "0–3 (labels differ)" in str(error)
    assert error.rows == (0, 1, 3)
    plan(linked_rows(SideInformation.build(5, y=[0, -1, -1, 1, -1], cannot_link=[(0, 1), (1, 2), (2, 3)])).problem, 2)


def test_cliques_and_other_conflicts_of_more_classes():
    four = [(a, b) for a in range(4) for b in range(a)]
    assert "are all kept apart from each other, which takes 4 classes" in str(refused(8, 3, cannot_link=four))
    labelled = refused(6, 3, y=[0, 1, 2, -1, -1, -1], cannot_link=[(0, 4), (1, 4), (2, 4)])
    assert labelled.rows == (0, 1, 2, 4)
    wheel = [(0, rim) for rim in range(1, 6)] + [(1, 2), (2, 3), (3, 4), (4, 5), (5, 1)]
    error = refused(8, 3, cannot_link=[*wheel, (6, 7)])
    assert error.rows == (0, 1, 2, 3, 4, 5)
    assert "cannot be divided among so few" in str(error)
    assert refused(3, 1, cannot_link=[(0, 2)]).rows == (0, 2)


def test_conflicts_are_named_by_certain_links():
    # The must-link of a confidence joins the same chunklets as the certain cannot-link.
    error = refused(
        4,
        2,
        y=[-1, 0, -1, 1],
        must_link=[(0, 1), (0, 2)],
        cannot_link=[(1, 2), (2, 3)],
        confidence={"must_link": [1.0, 0.8]},
    )
    assert (1, 2) in error.links


def test_rows_go_by_their_ids():
    error = refused(3, 2, cannot_link=[("p", "q"), ("q", "r"), ("p", "r")], sample_id=["p", "q", "r"])
    assert "ids 'p', 'q', 'r'" in str(error)


def test_more_labels_than_classes_are_refused():
    side = SideInformation.build(3, y=[0, 1, 2])
    with pytest.raises(ValueError, match="n_classes=2, but the labels name 3 classes; raise n_classes"):
        plan(linked_rows(side).problem, 2)


@settings(max_examples=80, deadline=None)
@given(sides())
def test_statements_are_refused_exactly_where_no_assignment_respects_them(side):
    for n_classes in (2, 3):
        try:
            linked = linked_rows(side)
        except ContradictionError:
            return
        if is_possible(linked.problem, n_classes):
            plan(linked.problem, n_classes)
            continue
        with pytest.raises(InfeasibleError) as caught:
            plan(linked.problem, n_classes)
        # What is named is a conflict by itself.
        named = SideInformation.build(
            side.n_rows,
            y=np.where(side.labels >= 0, side.labels, -1),
            must_link=side.must_link[side.must_link_confidence == 1],
            blocks=side.blocks,
            cannot_link=[link for link in caught.value.links if link in set(map(tuple, side.cannot_link.tolist()))],
        )
        assert not is_possible(linked_rows(named).problem, n_classes)
