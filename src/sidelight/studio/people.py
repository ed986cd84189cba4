"""Who answered what, and how far the annotators agree."""

from collections import Counter
from collections.abc import Sequence
from itertools import combinations
from typing import NamedTuple

from sidelight.studio.judging import Doubt, Judged, LabelAnswer, PairAnswer
from sidelight.studio.ledger import Given, Ledger, Pair


class Person(NamedTuple):
    """An annotator: what they gave, how many pairs others answered too, and how often they are right.

    Reliability, its bounds and the remark are those of the last fit, None where it does not know the annotator.
    """

    name: str
    n_answers: int
    n_unsure: int
    n_labels: int
    n_undone: int
    n_compared: int
    reliability: float | None
    low: float | None
    high: float | None
    remark: str


class Concord(NamedTuple):
    """How many of the pairs that two people answered, both decided, they answered alike."""

    first: str
    second: str
    alike: int
    of: int


class Disagreement(NamedTuple):
    """A pair that people answered differently."""

    pair: Pair
    relations: dict[str, str]


class People(NamedTuple):
    """All annotators."""

    people: list[Person]
    concords: list[Concord]
    disagreements: list[Disagreement]
    doubts: list[Doubt]


def pair_answers(ledger: Ledger) -> list[PairAnswer]:
    """Return the answers that say same or different."""
    return [
        PairAnswer(
            *pair,
            given.annotator,
            given.answer.relation == "same",
            given.answer.confidence,
            None if given.answer.saw_guess else given.answer.chance_same,
        )
        for pair, given in ledger.answers()
        if given.answer.relation != "unsure"
    ]


def label_answers(ledger: Ledger) -> list[LabelAnswer]:
    """Return the labels that annotators gave to rows."""
    return [LabelAnswer(row, label, annotator) for (row, annotator), label in ledger.label_answers().items()]


def people_of(ledger: Ledger, judged: Judged, *, most: int = 50) -> People:
    """Return the annotators, their agreement, and the last pairs that they disagree about.

    ``judged`` is what the last fit learned about them.
    """
    found = {one.annotator: one for one in judged.people}
    given: dict[str, list[Given]] = {name: [] for name in ledger.annotators}
    by_pair: dict[Pair, dict[str, str]] = {}
    for pair, one in ledger.answers():
        given[one.annotator].append(one)
        by_pair.setdefault(pair, {})[one.annotator] = one.answer.relation
    several = {pair: relations for pair, relations in by_pair.items() if len(relations) > 1}
    compared = Counter(name for relations in several.values() for name in relations)
    labels = Counter(annotator for _, annotator in ledger.label_answers())
    people = []
    for name in ledger.annotators:
        known = found.get(name)
        people.append(
            Person(
                name,
                len(given[name]),
                sum(one.answer.relation == "unsure" for one in given[name]),
                labels[name],
                ledger.n_undone.get(name, 0),
                compared[name],
                None if known is None else known.value,
                None if known is None else known.low,
                None if known is None else known.high,
                "" if known is None else known.remark,
            )
        )
    disagreements = [
        Disagreement(pair, relations)
        for pair, relations in several.items()
        if {"same", "different"} <= set(relations.values())
    ]
    standing = [doubt for doubt in judged.doubts if by_pair.get(doubt.pair, {}).get(doubt.annotator) == doubt.said]
    return People(people, _concords(list(several.values())), disagreements[-most:], standing)


def _concords(several: Sequence[dict[str, str]]) -> list[Concord]:
    counted: dict[tuple[str, str], list[int]] = {}
    for relations in several:
        decided = sorted(name for name, relation in relations.items() if relation != "unsure")
        for first, second in combinations(decided, 2):
            tally = counted.setdefault((first, second), [0, 0])
            tally[0] += relations[first] == relations[second]
            tally[1] += 1
    return [Concord(*names, *tally) for names, tally in sorted(counted.items())]
