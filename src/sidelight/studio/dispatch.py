"""Who is asked what: the next questions of each annotator, without a wait and without asking two people at once."""

import random
import time
from collections import deque
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from sidelight.studio.choosing import Prepared
from sidelight.studio.events import Answer, Purpose
from sidelight.studio.ledger import Ledger, Pair, ordered

# For so many seconds a question that is on an annotator's screen is not put on another's.
_LEASE = 180.0
# Of an annotator's questions, every so many-th is a random check, and the other a repeat: of another annotator's, or of
# an own one whose answer is doubtful.
_CHECK_EVERY, _FIRST_CHECK = 20, 9
_REPEAT_EVERY, _FIRST_REPEAT = 10, 4
_MOST_HELD = 20
_MOST_DRAWS = 50


class Question(NamedTuple):
    """Do these two rows belong together? And why it is asked."""

    first: int
    second: int
    purpose: Purpose

    @property
    def pair(self) -> Pair:
        """The rows, in order."""
        return ordered(self.first, self.second)


class Dispatcher:
    """Hands out the prepared questions; not safe for threads by itself."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._prepared: Prepared | None = None
        self._informative: list[Pair] = []
        self._reserve: list[Pair] = []
        self._checks: deque[Pair] = deque()
        self._doubtful: list[int] = []
        self._again: list[Pair] = []
        # The answer, by its event, that an annotator was asked to think over; each once.
        self._thought_over: dict[tuple[str, Pair], int] = {}
        self._random = random.Random(0)
        self._held: dict[str, list[Question]] = {}
        self._wished: dict[str, deque[Question]] = {}
        self._leases: dict[Pair, tuple[str, float]] = {}
        self._served: dict[str, int] = {}

    @property
    def ready(self) -> bool:
        """Whether questions have been prepared."""
        return self._prepared is not None

    def take(self, prepared: Prepared) -> None:
        """Ask these questions from now on; what is on a screen stays there."""
        self._prepared = prepared
        self._informative = _as_pairs(prepared.pairs.tolist())
        self._reserve = _as_pairs(prepared.reserve.tolist())
        self._checks = deque(_as_pairs(prepared.checks.tolist()))
        self._again = _as_pairs(prepared.again.tolist())
        self._doubtful = sorted(set(prepared.reserve.ravel().tolist()))
        for annotator, held in self._held.items():
            for question in held[1:]:
                self._leases.pop(question.pair, None)
            self._held[annotator] = held[:1]

    def wish(self, annotator: str, pairs: Iterable[Pair], purpose: Purpose) -> int:
        """Ask an annotator these questions first; return how many there are."""
        asked = [Question(first, second, purpose) for first, second in pairs]
        asked = [question for question in asked if annotator not in self._ledger.answers_about(question.pair)]
        for question in self._held.pop(annotator, []):
            self._leases.pop(question.pair, None)
        self._wished[annotator] = deque(asked)
        return len(asked)

    def next(self, annotator: str, number: int) -> list[Question]:
        """Return the next questions of an annotator; the same ones until they are answered."""
        now = time.monotonic()
        held = [question for question in self._held.get(annotator, []) if self._is_open(question, annotator)]
        while len(held) < min(number, _MOST_HELD):
            question = self._choose(annotator, now, {one.pair for one in held})
            if question is None:
                break
            held.append(question)
            self._leases[question.pair] = (annotator, now + _LEASE)
            self._served[annotator] = self._served.get(annotator, 0) + 1
        self._held[annotator] = held
        return held[:number]

    def put_back(self, annotator: str, question: Question) -> None:
        """Ask a question again at once, after its answer was undone."""
        held = [one for one in self._held.get(annotator, []) if one.pair != question.pair]
        self._held[annotator] = [question, *held]

    def _is_open(self, question: Question, annotator: str) -> bool:
        given = self._ledger.answers_about(question.pair).get(annotator)
        if question.purpose == "again":
            return given is not None and given.event == self._thought_over.get((annotator, question.pair))
        return given is None

    def _choose(self, annotator: str, now: float, held: set[Pair]) -> Question | None:
        wished = self._wished.get(annotator)
        while wished:
            question = wished.popleft()
            if self._is_open(question, annotator):
                return question
        turn = self._served.get(annotator, 0)
        if turn % _REPEAT_EVERY == _FIRST_REPEAT:
            for pair in self._answered_by_others(annotator):
                if pair not in held:
                    return Question(*pair, "repeat")
            for pair in self._again:
                given = self._ledger.answers_about(pair).get(annotator)
                if given is not None and (annotator, pair) not in self._thought_over:
                    self._thought_over[annotator, pair] = given.event
                    return Question(*pair, "again")
        if turn % _CHECK_EVERY == _FIRST_CHECK:
            while self._checks:
                pair = self._checks.popleft()
                if not self._ledger.answers_about(pair):
                    return Question(*pair, "check")
        for pair in self._free(annotator, now, held):
            return Question(*pair, "informative")
        return self._any(held)

    def _free(self, annotator: str, now: float, held: set[Pair]) -> Iterator[Pair]:
        for pairs in (self._informative, self._reserve):
            done = 0
            for at, pair in enumerate(pairs):
                if self._ledger.answers_about(pair):
                    done += at == done
                    continue
                leased = self._leases.get(pair)
                if pair not in held and (leased is None or leased[0] == annotator or leased[1] < now):
                    del pairs[:done]
                    yield pair
                    return
            del pairs[:done]

    def _any(self, held: set[Pair]) -> Question | None:
        """Return a random question about doubtful rows, when all prepared ones are used up before the next refit."""
        rows = self._doubtful
        for _ in range(_MOST_DRAWS if len(rows) > 1 else 0):
            pair = ordered(*self._random.sample(rows, 2))
            if pair not in held and pair not in self._leases and not self._ledger.answers_about(pair):
                return Question(*pair, "informative")
        return None

    def _answered_by_others(self, annotator: str) -> Iterator[Pair]:
        """Yield pairs that one other person answered, and this one did not: doubtful ones, then recent ones."""
        others = [name for name in self._ledger.annotators if name != annotator]
        if not others:
            return
        for pair in self._again:
            about = self._ledger.answers_about(pair)
            if len(about) == 1 and annotator not in about:
                yield pair
        looked_at = 0
        for event in self._ledger.events():
            if looked_at == 200:
                return
            looked_at += 1
            action = event.action
            if event.annotator == annotator or not isinstance(action, Answer):
                continue
            pair = ordered(action.first, action.second)
            about = self._ledger.answers_about(pair)
            if len(about) == 1 and annotator not in about:
                yield pair


def _as_pairs(rows: list[list[int]]) -> list[Pair]:
    return [ordered(first, second) for first, second in rows]
