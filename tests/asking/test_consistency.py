"""Answers that contradict each other."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sidelight import SideInformation
from sidelight.asking import informative_pairs
from sidelight.asking.consistency import without_contradictions, without_disbelieved
from sidelight.exceptions import ContradictionError

SURE = np.array([[0.9, 0.1], [0.9, 0.1], [0.9, 0.1], [0.1, 0.9], [0.1, 0.9]])


def test_statements_without_contradictions_stay_as_they_are():
    side = SideInformation.build(5, must_link=[(0, 1)], cannot_link=[(1, 3)])
    assert without_contradictions(side, SURE) is side


def test_the_least_probable_link_becomes_uncertain():
    side = SideInformation.build(5, must_link=[(0, 1), (1, 2), (2, 3), (3, 4)], cannot_link=[(0, 4)])
    found = without_contradictions(side, SURE)
    assert found.must_link_confidence.tolist() == [1, 1, 0.9, 1]
    assert found.cannot_link_confidence.tolist() == [1]
    pairs = informative_pairs(SURE, side, n_pairs=5, random_state=0).pairs
    assert [2, 3] not in pairs.tolist()


def test_nothing_follows_from_a_must_link_that_the_model_finds_wrong():
    side = SideInformation.build(5, must_link=[(0, 1), (2, 3)], cannot_link=[(0, 2), (2, 4)])
    found = without_disbelieved(side, SURE)
    assert found.must_link_confidence.tolist() == [1, 0.9]
    assert found.cannot_link_confidence.tolist() == [1, 1]
    # Were rows 2 and 3 known to belong together, it would follow that rows 3 and 4 do not.
    asked = informative_pairs(SURE, side, n_pairs=10, random_state=0).pairs.tolist()
    assert any(3 in pair and 2 not in pair for pair in asked)
    assert [2, 3] not in asked


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_what_is_left_contradicts_nothing_and_everything_else_would(data):
    n = 7
    ends = data.draw(st.lists(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)), min_size=1, max_size=14))
    links = sorted({tuple(sorted(pair)) for pair in ends if pair[0] != pair[1]})
    must = np.array(data.draw(st.lists(st.booleans(), min_size=len(links), max_size=len(links))), dtype=bool)
    pairs = np.array(links, dtype=np.int64).reshape(-1, 2)
    y = np.array(data.draw(st.lists(st.integers(-1, 1), min_size=n, max_size=n)))
    side = SideInformation.build(n, y=y, must_link=pairs[must], cannot_link=pairs[~must])
    posterior = np.random.default_rng(0).dirichlet(np.ones(3), size=n)
    found = without_contradictions(side, posterior)
    found.closure()
    for kind in ("must_link_confidence", "cannot_link_confidence"):
        for place in np.flatnonzero(getattr(found, kind) < 1):
            one_more = getattr(found, kind).copy()
            one_more[place] = 1.0
            with pytest.raises(ContradictionError):
                replace(found, **{kind: one_more}).closure()
