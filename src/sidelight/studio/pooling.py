"""From what annotators said to the side information that the model takes.

This is the one place that knows how answers of several people are weighed: `pool` turns them into links with
confidences, by how reliable people are where they disagree.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import NamedTuple

import numpy as np

from sidelight._typing import IntArray
from sidelight.exceptions import ContradictionError
from sidelight.side import SideInformation
from sidelight.studio.judging import Judged, LabelAnswer, PairAnswer, agreed_labels, judge

# The confidence of a link in a chain of answers that contradict each other.
_DOUBTFUL = 0.9
# Where people disagree, a link is at most this sure, and there is none where neither answer is likelier than this.
_SUREST_DISPUTED, _UNDECIDED = 0.99, 0.501
_MOST_ROUNDS = 50


class Pooled(NamedTuple):
    """Side information, the pairs whose answers contradict others, and how reliable people are.

    Pairs whose answers contradict others count with a lower confidence.
    """

    side: SideInformation
    contradictions: list[tuple[int, int]]
    judged: Judged


class Extra(NamedTuple):
    """What was said beside answers: labels, labels that are one, links between merged clusters, blocks.

    ``same_label`` maps a label to the one that it counts as, after a merge.
    """

    labels: Sequence[LabelAnswer]
    same_label: Mapping[str, str]
    merged: Sequence[tuple[int, int]]
    blocks: Sequence[Sequence[int]]


def pool(given: SideInformation, answers: Sequence[PairAnswer], extra: Extra) -> Pooled:
    """Return what is given and what was answered as one object that can be closed.

    The answer of one person, or of several who agree, is a link as certain as they are. Where people disagree, the link
    has the probability that their reliabilities and the model's guess give; a pair of which both answers are equally
    probable gives no link. Chains of answers that contradict each other, or labels, become links with a confidence
    below one.
    """
    links: dict[tuple[int, int], tuple[bool, float]] = {}
    doubted: list[tuple[int, int]] = []
    by_pair: dict[tuple[int, int], list[PairAnswer]] = {}
    for answer in answers:
        by_pair.setdefault(answer.pair, []).append(answer)
    judged = judge(answers)
    for pair, group in by_pair.items():
        if len({answer.same for answer in group}) == 1:
            links[pair] = (group[0].same, max(answer.confidence for answer in group))
            continue
        doubted.append(pair)
        chance = judged.same[pair]
        if max(chance, 1 - chance) > _UNDECIDED:
            links[pair] = (chance > 0.5, min(max(chance, 1 - chance), _SUREST_DISPUTED))
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
        return Pooled(side, doubted, judged)
    # Contradictions everywhere: no answer is certain.
    links = {pair: (same, min(sure, _DOUBTFUL)) for pair, (same, sure) in links.items()}
    doubted.extend(links)
    return Pooled(_build(_uncertain(given, None), links, labels, ()), list(dict.fromkeys(doubted)), judged)


def _labels(given: SideInformation, extra: Extra) -> list[str | None]:
    names = [str(name) for name in given.label_names]
    labels = [names[code] if code >= 0 else None for code in given.labels.tolist()]
    for row, label in agreed_labels(extra.labels).items():
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
