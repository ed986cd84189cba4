"""From answers to side information: agreement, disagreement, contradiction."""

import itertools

import numpy as np
import pytest

from sidelight import SideInformation
from sidelight.studio.pooling import Extra, PairAnswer, pool, reliabilities

NOTHING = Extra({}, {}, (), ())


def answers(*given):
    return [PairAnswer(first, second, name, same) for first, second, name, same in given]


def links(side):
    return {
        **{
            tuple(pair): (True, sure)
            for pair, sure in zip(side.must_link.tolist(), side.must_link_confidence, strict=True)
        },
        **{
            tuple(pair): (False, sure)
            for pair, sure in zip(side.cannot_link.tolist(), side.cannot_link_confidence, strict=True)
        },
    }


def test_answers_of_one_person_are_certain():
    side = pool(SideInformation.build(5), answers((0, 1, "ada", True), (1, 2, "ada", False)), NOTHING).side
    assert links(side) == {(0, 1): (True, 1.0), (1, 2): (False, 1.0)}


def test_people_who_disagree_give_an_uncertain_link_or_none():
    pooled = pool(SideInformation.build(5), answers((0, 1, "ada", True), (0, 1, "ben", False)), NOTHING)
    assert links(pooled.side) == {}
    assert pooled.contradictions == [(0, 1)]
    three = answers((0, 1, "ada", True), (0, 1, "ben", False), (0, 1, "eve", True))
    (same, sure), *_ = links(pool(SideInformation.build(5), three, NOTHING).side).values()
    assert same
    assert 0.5 < sure < 1


def test_contradictions_become_doubtful_and_the_rest_stays_certain():
    given = answers((0, 1, "ada", True), (1, 2, "ada", True), (0, 2, "ada", False), (3, 4, "ada", True))
    pooled = pool(SideInformation.build(5), given, NOTHING)
    found = links(pooled.side)
    assert found[(3, 4)] == (True, 1.0)
    assert all(found[pair][1] < 1 for pair in ((0, 1), (1, 2), (0, 2)))
    assert set(pooled.contradictions) == {(0, 1), (1, 2), (0, 2)}
    pooled.side.closure()


@pytest.mark.parametrize("blocks", [(), ((0, 1),)])
def test_labels_win_over_answers_and_locks(blocks):
    extra = Extra({0: "a", 1: "b"}, {}, (), blocks)
    pooled = pool(SideInformation.build(3), answers((0, 1, "ada", True)), extra)
    pooled.side.closure()
    assert pooled.side.labels[0] != pooled.side.labels[1]


def test_an_answer_replaces_the_link_of_the_input_and_merged_labels_are_one():
    given = SideInformation.build(4, y=["a", "b", None, None], must_link=[(2, 3)])
    pooled = pool(given, answers((2, 3, "ada", False)), Extra({}, {"b": "a"}, [(0, 2)], ()))
    assert links(pooled.side) == {(2, 3): (False, 1.0), (0, 2): (True, 0.95)}
    assert pooled.side.label_names.tolist() == ["a"]


def test_reliabilities_are_those_of_the_likelihood_on_a_grid():
    """Three people with known error rates answer the same pairs: the estimate is near the rates and ordered."""
    random = np.random.default_rng(0)
    truth = random.random(400) < 0.5
    right = {"ada": 0.97, "ben": 0.85, "eve": 0.65}
    given = [
        PairAnswer(2 * pair, 2 * pair + 1, name, bool(truth[pair] == (random.random() < rate)))
        for pair, (name, rate) in itertools.product(range(400), right.items())
    ]
    found = reliabilities(given)
    for name, rate in right.items():
        assert abs(found[name].value - rate) < 0.05
        assert found[name].n_compared == 400
    assert reliabilities(answers((0, 1, "ada", True)))["ada"].n_compared == 0
