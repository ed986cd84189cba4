"""Who answered what, and how far the annotators agree."""

from collections.abc import Sequence
from itertools import combinations
from typing import NamedTuple

from sidelight.studio.ledger import Given, Ledger, Pair
from sidelight.studio.pooling import PairAnswer, reliabilities


class Person(NamedTuple):
    """An annotator: what they gave, and how often they are right as far as pairs answered twice tell."""

    name: str
    n_answers: int
    n_unsure: int
    n_labels: int
    n_undone: int
    n_compared: int
    reliability: float


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


def pair_answers(ledger: Ledger) -> list[PairAnswer]:
    """Return the answers that say same or different."""
    return [
        PairAnswer(*pair, given.annotator, given.answer.relation == "same")
        for pair, given in ledger.answers()
        if given.answer.relation != "unsure"
    ]


def people_of(ledger: Ledger, *, most: int = 50) -> People:
    """Return the annotators, their agreement, and the last pairs that they disagree about."""
    found = reliabilities(pair_answers(ledger))
    given: dict[str, list[Given]] = {name: [] for name in ledger.annotators}
    by_pair: dict[Pair, dict[str, str]] = {}
    for pair, one in ledger.answers():
        given[one.annotator].append(one)
        by_pair.setdefault(pair, {})[one.annotator] = one.answer.relation
    authors = list(ledger.label_authors().values())
    people = []
    for name in ledger.annotators:
        unsure = sum(one.answer.relation == "unsure" for one in given[name])
        reliability = found.get(name)
        people.append(
            Person(
                name,
                len(given[name]),
                unsure,
                authors.count(name),
                ledger.n_undone.get(name, 0),
                0 if reliability is None else reliability.n_compared,
                0.95 if reliability is None else reliability.value,
            )
        )
    several = {pair: relations for pair, relations in by_pair.items() if len(relations) > 1}
    disagreements = [
        Disagreement(pair, relations)
        for pair, relations in several.items()
        if {"same", "different"} <= set(relations.values())
    ]
    return People(people, _concords(list(several.values())), disagreements[-most:])


def _concords(several: Sequence[dict[str, str]]) -> list[Concord]:
    counted: dict[tuple[str, str], list[int]] = {}
    for relations in several:
        decided = sorted(name for name, relation in relations.items() if relation != "unsure")
        for first, second in combinations(decided, 2):
            tally = counted.setdefault((first, second), [0, 0])
            tally[0] += relations[first] == relations[second]
            tally[1] += 1
    return [Concord(*names, *tally) for names, tally in sorted(counted.items())]
