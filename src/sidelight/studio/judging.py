"""How reliable people are: their answers about pairs, and what the model foresaw, in the model of annotators.

Every pair is a row of that model, of the class "same" or "different". What the fit that asked a question believed,
before it knew the answer, is the opinion on the row; a fit that is less often right than it believes counts less.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from sidelight._typing import FloatArray
from sidelight.couplings.annotators import Beliefs, Resolved, StatementGraph, annotator_report, resolve, statement_graph
from sidelight.side import SideInformation
from sidelight.studio.ledger import Pair

_RELATIONS = ("different", "same")
# How sure the model's guess may be at most.
_SUREST_GUESS = 0.99
# A disputed label counts where it is at least so likely.
_LIKELY_LABEL = 0.75
_MOST_DOUBTS = 50


class PairAnswer(NamedTuple):
    """An annotator's answer about two rows; "unsure" ones are not among these.

    ``confidence`` is how sure the annotator is, ``foreseen`` the probability of "same" by the fit that asked: None
    where there was no fit yet, or where the annotator saw its guess.
    """

    first: int
    second: int
    annotator: str
    same: bool
    confidence: float = 1.0
    foreseen: float | None = None

    @property
    def pair(self) -> Pair:
        """The two rows."""
        return self.first, self.second


class LabelAnswer(NamedTuple):
    """A label that an annotator gave to a row."""

    row: int
    label: str
    annotator: str


class Reliability(NamedTuple):
    """How often an annotator is right, between which bounds with a probability of 95 %, and what stands out."""

    annotator: str
    value: float
    low: float
    high: float
    remark: str


class Doubt(NamedTuple):
    """An answer that is probably wrong, and the odds of that."""

    pair: Pair
    annotator: str
    said: str
    odds: float


class Judged(NamedTuple):
    """Reliability of each annotator, the probability of "same" of each pair, and answers that are probably wrong."""

    people: list[Reliability]
    same: dict[Pair, float]
    doubts: list[Doubt]


def judge(answers: Sequence[PairAnswer]) -> Judged:
    """Learn how reliable annotators are from what they and the model say of the same pairs."""
    if not answers:
        return Judged([], {}, [])
    task = {pair: number for number, pair in enumerate(dict.fromkeys(answer.pair for answer in answers))}
    given = [LabelAnswer(task[one.pair], _RELATIONS[one.same], one.annotator) for one in answers]
    chances = _opinions(answers)
    shares = np.array([chances[pair] for pair in task])
    model = _Model.of(given, _RELATIONS, np.log(np.column_stack([1 - shares, shares])))
    found = model.found
    beliefs = Beliefs(found.shares, found.same, found.reliability, found.mixtures, model.graph.prior(len(_RELATIONS)))
    report = annotator_report(model.graph, beliefs, model.side, np.array(_RELATIONS))
    pairs = list(task)
    return Judged(
        [Reliability(one.annotator, one.reliability, one.low, one.high, one.remark) for one in report.annotators],
        {pair: float(share[1]) for pair, share in zip(task, model.shares(len(task)), strict=True)},
        [Doubt(pairs[one.rows[0]], one.annotator, one.said, one.odds) for one in report.doubtful[:_MOST_DOUBTS]],
    )


def agreed_labels(given: Sequence[LabelAnswer]) -> dict[int, str]:
    """Return the labels of rows; where annotators differ, the one that is likely given how reliable they are.

    A row of which no label is likely enough has none.
    """
    said: dict[int, set[str]] = {}
    for one in given:
        said.setdefault(one.row, set()).add(one.label)
    if all(len(labels) == 1 for labels in said.values()):
        return {row: label for row, (label,) in said.items()}
    place = {row: number for number, row in enumerate(said)}
    names = sorted({one.label for one in given})
    even = np.full((len(place), len(names)), -np.log(len(names)))
    model = _Model.of([one._replace(row=place[one.row]) for one in given], names, even)
    likely = zip(place, model.shares(len(place)), strict=True)
    return {row: names[int(share.argmax())] for row, share in likely if share.max() > _LIKELY_LABEL}


class _Model(NamedTuple):
    """Statements, and what the model of annotators believes given opinions."""

    side: SideInformation
    graph: StatementGraph
    found: Resolved

    @classmethod
    def of(cls, given: Sequence[LabelAnswer], names: Sequence[str], log_shares: FloatArray) -> "_Model":
        """Resolve labels with these names, given the log probabilities (rows, names) of rows before."""
        n, n_names = log_shares.shape
        labels = {
            "row": [one.row for one in given],
            "label": [one.label for one in given],
            "annotator": [one.annotator for one in given],
        }
        # A further row of each name makes all of them classes: in the studio a name means the same to everybody.
        named = SideInformation.build(n + n_names, y=[*[None] * n, *names])
        side = named | SideInformation.from_annotations(n + n_names, labels=labels)
        graph = statement_graph(side)
        return cls(side, graph, resolve(graph, np.vstack([log_shares, np.zeros((n_names, n_names))])))

    def shares(self, n: int) -> FloatArray:
        """Return the probabilities (n, names) of the first rows; all of them have statements."""
        found = np.empty((n, self.found.shares.shape[1]))
        inside = self.found.rows < n
        found[self.found.rows[inside]] = self.found.shares[inside]
        return found


def _opinions(answers: Sequence[PairAnswer]) -> dict[Pair, float]:
    """Return the probability of "same" of each pair by the fit that asked first; a half where it has no opinion."""
    first: dict[Pair, PairAnswer] = {}
    for answer in answers:
        # Later fits have learned from the first answer about a pair: what they foresee is no opinion of their own.
        first.setdefault(answer.pair, answer)
    foreseen = [(one.foreseen, one.same) for one in first.values() if one.foreseen is not None]
    believed = sum(max(chance, 1 - chance) - 0.5 for chance, _ in foreseen)
    right = sum(((chance > 0.5) == same) - 0.5 for chance, same in foreseen)
    trust = min(max(right / believed, 0.0), 1.0) if believed > 0 else 0.0
    return {
        pair: 0.5 if one.foreseen is None else _guess(0.5 + trust * (one.foreseen - 0.5)) for pair, one in first.items()
    }


def _guess(chance: float) -> float:
    return min(max(chance, 1 - _SUREST_GUESS), _SUREST_GUESS)
