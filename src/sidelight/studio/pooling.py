"""From what annotators said to the side information that the model takes.

This is the one place that knows how answers of several people are weighed. `reliabilities` estimates how often each of
them is right; `pool` turns answers into links with confidences. A model of annotators replaces these two functions.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import NamedTuple

import numpy as np

from sidelight._typing import IntArray
from sidelight.exceptions import ContradictionError
from sidelight.side import SideInformation

# The confidence of a link in a chain of answers that contradict each other.
_DOUBTFUL = 0.9
# Before anything is seen, an annotator counts as right in this many of that many pairs answered twice.
_PRIOR_RIGHT, _PRIOR_PAIRS = 9.5, 10.0
_MOST_ROUNDS = 50


class PairAnswer(NamedTuple):
    """An annotator's answer about two rows; "unsure" ones are not among these."""

    first: int
    second: int
    annotator: str
    same: bool


class Reliability(NamedTuple):
    """How often an annotator is right, estimated from pairs that others answered too."""

    value: float
    n_compared: int


class Pooled(NamedTuple):
    """Side information, and the pairs whose answers contradict others, which count with a lower confidence."""

    side: SideInformation
    contradictions: list[tuple[int, int]]


class Extra(NamedTuple):
    """What was said beside answers: labels by row, labels that are one, links between merged clusters, blocks.

    ``same_label`` maps a label to the one that it counts as, after a merge.
    """

    labels: Mapping[int, str]
    same_label: Mapping[str, str]
    merged: Sequence[tuple[int, int]]
    blocks: Sequence[Sequence[int]]


def reliabilities(answers: Sequence[PairAnswer]) -> dict[str, Reliability]:
    """Estimate how often each annotator is right, by the one-coin model of Dawid and Skene with a prior.

    Two annotators with reliabilities p and q agree with probability pq + (1 − p)(1 − q). A few rounds of
    expectation–maximisation on the pairs that several people answered give the p; a person without such pairs has the
    prior.
    """
    by_pair: dict[tuple[int, int], list[PairAnswer]] = {}
    for answer in answers:
        by_pair.setdefault((answer.first, answer.second), []).append(answer)
    compared = [group for group in by_pair.values() if len(group) > 1]
    names = list(dict.fromkeys(answer.annotator for answer in answers))
    right = dict.fromkeys(names, _PRIOR_RIGHT / _PRIOR_PAIRS)
    counts = dict.fromkeys(names, 0)
    for group in compared:
        for answer in group:
            counts[answer.annotator] += 1
    for _ in range(20 if compared else 0):
        hits = dict.fromkeys(names, _PRIOR_RIGHT)
        for group in compared:
            chance = _chance_same(group, right)
            for answer in group:
                hits[answer.annotator] += chance if answer.same else 1 - chance
        right = {name: hits[name] / (_PRIOR_PAIRS + counts[name]) for name in names}
    return {name: Reliability(right[name], counts[name]) for name in names}


def _chance_same(group: Sequence[PairAnswer], right: Mapping[str, float]) -> float:
    odds = sum(
        (1 if answer.same else -1) * np.log(right[answer.annotator] / (1 - right[answer.annotator])) for answer in group
    )
    return float(1 / (1 + np.exp(-odds)))


def pool(given: SideInformation, answers: Sequence[PairAnswer], extra: Extra) -> Pooled:
    """Return what is given and what was answered as one object that can be closed.

    The answer of one person, or of several who agree, is a certain link. Where people disagree, the link has the
    probability that their reliabilities give; a pair of which both answers are equally probable gives no link. Chains
    of answers that contradict each other, or labels, become links with a confidence below one.
    """
    links: dict[tuple[int, int], tuple[bool, float]] = {}
    doubted: list[tuple[int, int]] = []
    by_pair: dict[tuple[int, int], list[PairAnswer]] = {}
    for answer in answers:
        by_pair.setdefault((answer.first, answer.second), []).append(answer)
    right = {name: found.value for name, found in reliabilities(answers).items()}
    for pair, group in by_pair.items():
        if len({answer.same for answer in group}) == 1:
            links[pair] = (group[0].same, 1.0)
            continue
        doubted.append(pair)
        chance = _chance_same(group, right)
        if max(chance, 1 - chance) > 0.501:
            links[pair] = (chance > 0.5, float(min(max(chance, 1 - chance), 0.99)))
    for first, second in extra.merged:
        links.setdefault((first, second) if first < second else (second, first), (True, 0.95))
    labels, blocks = _labels(given, extra), extra.blocks
    for _ in range(_MOST_ROUNDS):
        side = _build(given, links, labels, blocks)
        try:
            side.closure()
        except ContradictionError as error:
            given, demoted = _demoted(given, links, error.chain)
            doubted.extend(demoted)
            # Labels are certain, so what contradicts them without a link is a locked cluster.
            blocks = blocks if demoted else ()
            continue
        return Pooled(side, doubted)
    # Contradictions everywhere: no answer is certain.
    links = {pair: (same, min(sure, _DOUBTFUL)) for pair, (same, sure) in links.items()}
    doubted.extend(links)
    return Pooled(_build(_uncertain(given, None), links, labels, ()), list(dict.fromkeys(doubted)))


def _labels(given: SideInformation, extra: Extra) -> list[str | None]:
    names = [str(name) for name in given.label_names]
    labels = [names[code] if code >= 0 else None for code in given.labels.tolist()]
    for row, label in extra.labels.items():
        labels[row] = label
    return [None if label is None else extra.same_label.get(label, label) for label in labels]


def _build(
    given: SideInformation,
    links: Mapping[tuple[int, int], tuple[bool, float]],
    labels: list[str | None],
    blocks: Sequence[Sequence[int]],
) -> SideInformation:
    """Return everything as one object; an answer about a pair replaces the link that was given for it."""
    parts = {}
    confidence = {}
    for kind, wanted in (("must_link", True), ("cannot_link", False)):
        pairs = getattr(given, kind)
        kept = np.array([tuple(sorted(pair)) not in links for pair in pairs.tolist()], dtype=bool)
        added = [(pair, sure) for pair, (same, sure) in links.items() if same is wanted]
        parts[kind] = np.concatenate(
            [pairs[kept], np.array([pair for pair, _ in added], dtype=np.int64).reshape(-1, 2)]
        )
        confidence[kind] = np.concatenate(
            [getattr(given, f"{kind}_confidence")[kept], np.array([sure for _, sure in added], dtype=float)]
        )
    return SideInformation.build(
        given.n_rows,
        y=labels,
        confidence=confidence,
        blocks=[list(block) for block in blocks] or None,
        must_link=parts["must_link"],
        cannot_link=parts["cannot_link"],
    )


def _demoted(
    given: SideInformation, links: dict[tuple[int, int], tuple[bool, float]], chain: Sequence[int] | None
) -> tuple[SideInformation, list[tuple[int, int]]]:
    """Make the links of a chain uncertain, in place; those of the input too, in a copy."""
    rows = set(chain or ())
    demoted = []
    for pair in combinations(sorted(rows), 2):
        if pair in links and links[pair][1] == 1:
            links[pair] = (links[pair][0], _DOUBTFUL)
            demoted.append(pair)
    return (given, demoted) if demoted else (_uncertain(given, rows or None), [])


def _uncertain(given: SideInformation, rows: set[int] | None) -> SideInformation:
    """Return side information whose links (between some rows) are not certain."""
    changed = {}
    for kind in ("must_link", "cannot_link"):
        pairs: IntArray = getattr(given, kind)
        inside = np.ones(len(pairs), dtype=bool) if rows is None else np.isin(pairs, list(rows)).all(axis=1)
        sure = getattr(given, f"{kind}_confidence")
        changed[f"{kind}_confidence"] = np.where(inside, np.minimum(sure, _DOUBTFUL), sure)
    return replace(given, **changed)
