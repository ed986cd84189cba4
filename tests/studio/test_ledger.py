"""The ledger: what counts after answers, undo and merges, however they follow each other."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sidelight.studio.events import Answer, Event, Label, Lock, Merge, Name, Note, Undo, Unlock, read, written
from sidelight.studio.ledger import Ledger, ordered


def ledger_of(*actions, annotator="ada"):
    ledger = Ledger()
    for number, action in enumerate(actions, start=1):
        who, what = action if isinstance(action, tuple) else (annotator, action)
        ledger.take(Event(number, f"key-{number}", float(number), who, what))
    return ledger


def relations(ledger):
    return {(pair, one.annotator): one.answer.relation for pair, one in ledger.answers()}


@pytest.mark.parametrize(
    "action",
    [
        Answer(1, 2, "same", "check", saw_guess=True, chance_same=0.25),
        Label((1, 2), '<b>"x"</b>'),
        Note((3,), "a\nb"),
        Name(4, "نص"),
        Merge(1, 2, ((3, 4), (5, 6))),
        Lock(1, "gA==", (7,)),
        Unlock(1),
        Undo(9),
    ],
)
def test_actions_are_written_and_read(action):
    assert read(action.kind, written(action)) == action


def test_a_later_answer_replaces_the_earlier_and_its_undo_brings_it_back():
    ledger = ledger_of(Answer(1, 2, "same"), Answer(1, 2, "different"))
    assert relations(ledger) == {((1, 2), "ada"): "different"}
    ledger.take(Event(3, "k3", 3.0, "ada", Undo(2)))
    assert relations(ledger) == {((1, 2), "ada"): "same"}
    assert ledger.last_of("ada").number == 1
    assert ledger.n_undone == {"ada": 1}


def test_an_undo_leaves_the_answers_of_others():
    ledger = ledger_of(Answer(1, 2, "same"), ("ben", Answer(2, 1, "different")), Undo(1))
    assert relations(ledger) == {((1, 2), "ben"): "different"}


def test_merged_clusters_lead_to_the_last_one():
    assert ledger_of(Merge(2, 3, ()), Merge(1, 2, ())).aliases() == {3: 1, 2: 1}
    assert ledger_of(Merge(1, 2, ()), Merge(2, 1, ())).aliases() == {2: 1}
    assert ledger_of(Merge(1, 2, ()), Merge(2, 3, ())).aliases() == {2: 1, 3: 1}
    assert ledger_of(Merge(1, 2, ()), Undo(1)).aliases() == {}


def test_locks_and_names_follow_their_last_event():
    ledger = ledger_of(Name(1, "a"), Lock(1, "", (1,)), Unlock(1), Lock(2, "", (2,)), Name(1, "b"))
    assert list(ledger.locks()) == [2]
    assert ledger.names() == {1: "b"}


moves = st.lists(st.tuples(st.sampled_from("ab"), st.integers(0, 3), st.integers(0, 3), st.booleans()), max_size=40)


@given(moves)
def test_undoing_everything_leaves_nothing_and_each_step_is_that_of_the_rest(steps):
    """Against an oracle: replay what was not undone."""
    ledger, stacks, number = Ledger(), {"a": [], "b": []}, 0
    for who, first, second, undo in steps:
        number += 1
        if undo and stacks[who]:
            target, _ = stacks[who].pop()
            action = Undo(target)
        elif first != second:
            action = Answer(*ordered(first, second), "same" if first < second else "different")
            stacks[who].append((number, action))
        else:
            number -= 1
            continue
        ledger.take(Event(number, str(number), 0.0, who, action))
        expected = {}
        for name, stack in stacks.items():
            for _, action in stack:
                expected[(ordered(action.first, action.second), name)] = action.relation
        assert relations(ledger) == expected
