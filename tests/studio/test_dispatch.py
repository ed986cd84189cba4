"""Who is asked what: repetitions of doubtful answers."""

import numpy as np

from sidelight.studio.choosing import Prepared
from sidelight.studio.dispatch import Dispatcher
from sidelight.studio.events import Answer, Event, Undo
from sidelight.studio.ledger import Ledger

NO_PAIRS = np.empty((0, 2), dtype=np.int64)


class Desk:
    """A ledger and its dispatcher, with a hundred informative questions and one doubtful answer, about rows 0 and 1."""

    def __init__(self):
        self.ledger = Ledger()
        self.dispatcher = Dispatcher(self.ledger)
        pairs = np.array([(2 * n, 2 * n + 1) for n in range(1, 101)])
        again = np.array([(0, 1)])
        self.dispatcher.take(Prepared(pairs, np.ones(100), NO_PAIRS, {}, NO_PAIRS, again))

    def act(self, who, action):
        number = self.ledger.last_event + 1
        self.ledger.take(Event(number, f"key-{number}", float(number), who, action))

    def answer(self, who, relation="same"):
        (question,) = self.dispatcher.next(who, 1)
        self.act(who, Answer(*question.pair, relation, question.purpose))
        return question


def test_an_own_doubtful_answer_is_asked_again_once():
    desk = Desk()
    desk.act("ada", Answer(0, 1, "same"))
    asked = [desk.answer("ada", "different") for _ in range(30)]
    assert [(one.pair, one.purpose) for one in asked if one.purpose == "again"] == [((0, 1), "again")]
    assert desk.ledger.answers_about((0, 1))["ada"].answer.relation == "different"


def test_undoing_the_second_answer_brings_the_first_back_and_asks_again():
    desk = Desk()
    desk.act("ada", Answer(0, 1, "same"))
    while (question := desk.answer("ada", "different")).purpose != "again":
        pass
    desk.act("ada", Undo(desk.ledger.last_event))
    desk.dispatcher.put_back("ada", question)
    assert desk.ledger.answers_about((0, 1))["ada"].answer.relation == "same"
    assert desk.dispatcher.next("ada", 1) == [question]


def test_a_doubtful_answer_of_another_is_the_first_to_be_repeated():
    desk = Desk()
    desk.act("ben", Answer(0, 1, "same"))
    for _ in range(3):
        desk.answer("ben")
    asked = [desk.answer("ada") for _ in range(6)]
    assert [one.pair for one in asked if one.purpose == "repeat"] == [(0, 1)]
    assert not any(one.purpose == "again" for one in asked)
