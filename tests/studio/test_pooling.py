"""From answers to side information: agreement, disagreement, contradiction."""

import itertools

import numpy as np
import pytest

from sidelight import SideInformation
from sidelight.studio.judging import LabelAnswer, PairAnswer, agreed_labels, judge
from sidelight.studio.pooling import Extra, pool

NOTHING = Extra((), {}, (), ())


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
    extra = Extra([LabelAnswer(0, "a", "ada"), LabelAnswer(1, "b", "ada")], {}, (), blocks)
    pooled = pool(SideInformation.build(3), answers((0, 1, "ada", True)), extra)
    pooled.side.closure()
    assert pooled.side.labels[0] != pooled.side.labels[1]


def test_an_answer_replaces_the_link_of_the_input_and_merged_labels_are_one():
    given = SideInformation.build(4, y=["a", "b", None, None], must_link=[(2, 3)])
    pooled = pool(given, answers((2, 3, "ada", False)), Extra((), {"b": "a"}, [(0, 2)], ()))
    assert links(pooled.side) == {(2, 3): (False, 1.0), (0, 2): (True, 0.95)}
    assert pooled.side.label_names.tolist() == ["a"]


def simulated(right, n_pairs, *, foreseen=None, share=1.0, seed=0):
    """Return answers about pairs by people who are right so often, and by whom; the model foresees so many rightly."""
    random = np.random.default_rng(seed)
    truth = random.random(n_pairs) < 0.5
    given, hits = [], {name: [] for name in right}
    for pair, (name, rate) in itertools.product(range(n_pairs), right.items()):
        if random.random() > share:
            continue
        hits[name].append(random.random() < rate)
        chance = None if foreseen is None else 0.8 if truth[pair] == (random.random() < foreseen) else 0.2
        given.append(PairAnswer(2 * pair, 2 * pair + 1, name, bool(truth[pair] == hits[name][-1]), 1.0, chance))
    return truth, given, {name: np.mean(some) for name, some in hits.items()}


def test_reliabilities_are_near_the_share_of_right_answers():
    truth, given, right = simulated({"ada": 0.97, "ben": 0.85, "eve": 0.65}, 400)
    judged = judge(given)
    assert [one.annotator for one in judged.people] == list(right)
    for one in judged.people:
        assert abs(one.value - right[one.annotator]) < 0.05
        assert one.low < one.value < one.high
    found = [judged.same[2 * pair, 2 * pair + 1] > 0.5 for pair in range(400)]
    assert np.mean(found == truth) > 0.95


def test_what_the_model_foresaw_tells_who_is_careless():
    """Nobody answers the pairs of another: only the model's guesses can tell."""
    _, given, _ = simulated({"ada": 0.95, "ben": 0.7}, 400, foreseen=0.85, share=0.5)
    seen, alone = set(), []
    for answer in given:
        if answer.pair not in seen:
            alone.append(answer)
            seen.add(answer.pair)
    found = {one.annotator: one.value for one in judge(alone).people}
    assert found["ada"] > found["ben"] + 0.05
    blind = {one.annotator: one.value for one in judge([one._replace(foreseen=None) for one in alone]).people}
    assert abs(blind["ada"] - blind["ben"]) < 0.02


def test_a_model_that_guesses_at_random_makes_nobody_unreliable():
    _, given, _ = simulated({"ada": 0.97, "ben": 0.97}, 200, foreseen=0.5)
    assert min(one.value for one in judge(given).people) > 0.93


def test_labels_that_differ_are_weighed_by_reliability():
    random = np.random.default_rng(0)
    truth = random.integers(3, size=60)
    given = []
    for row, (name, error) in itertools.product(range(60), (("ada", 0.05), ("ben", 0.1), ("eve", 0.9))):
        label = truth[row] if random.random() > error else random.integers(3)
        given.append(LabelAnswer(row, "abc"[label], name))
    found = agreed_labels(given)
    assert np.mean([found.get(row) == "abc"[truth[row]] for row in range(60)]) > 0.9
    assert agreed_labels([given[0], given[0]._replace(label="other", annotator="ben")]) == {}
    assert agreed_labels(given[:1]) == {0: given[0].label}
