"""Answers that may be wrong: which of them questions are chosen by.

People err. Nothing follows from a must-link that the model, which knows it, still finds more probably wrong than right,
so that the two groups it would join are asked about again, by other rows. Certain links may also contradict each other.
They are then taken one after the other, those first that the model finds most probable. One that contradicts those
before it is kept as an uncertain link, from which nothing follows, and which is not asked again.
"""

from dataclasses import replace

import numpy as np

from sidelight._typing import BoolArray, FloatArray, IntArray
from sidelight.exceptions import ContradictionError
from sidelight.side import SideInformation

# Any confidence below one says that nothing follows from a link.
_UNCERTAIN = 0.9


def without_disbelieved(side: SideInformation, posterior: FloatArray) -> SideInformation:
    """Return the statements, with must-links uncertain that are more probably wrong than right by the posterior.

    A wrong must-link joins two groups, and every answer about one then counts for the other. Cannot-links are kept:
    a model with too few clusters breaks many that are right.
    """
    same = _probability_same(posterior, side.must_link)
    confidence = np.where((side.must_link_confidence == 1) & (same < 0.5), _UNCERTAIN, side.must_link_confidence)
    return replace(side, must_link_confidence=confidence)


def without_contradictions(side: SideInformation, posterior: FloatArray) -> SideInformation:
    """Return the statements, with links uncertain that contradict more probable ones; labels and blocks are kept."""
    try:
        side.closure()
    except ContradictionError:
        return _with_some_uncertain(side, posterior)
    return side


def _with_some_uncertain(side: SideInformation, posterior: FloatArray) -> SideInformation:
    pairs = np.concatenate([side.must_link, side.cannot_link])
    must = np.arange(len(pairs)) < len(side.must_link)
    confidence = np.concatenate([side.must_link_confidence, side.cannot_link_confidence])
    alone = replace(
        side,
        must_link_confidence=np.where(side.must_link_confidence == 1, _UNCERTAIN, side.must_link_confidence),
        cannot_link_confidence=np.where(side.cannot_link_confidence == 1, _UNCERTAIN, side.cannot_link_confidence),
    )
    closure = alone.closure()
    same = _probability_same(posterior, pairs)
    order = np.argsort(-np.where(must, same, 1 - same), kind="stable")
    certain = order[confidence[order] == 1]
    confidence[certain[~_accepted(closure.chunklets[pairs[certain]], must[certain], closure.labels)]] = _UNCERTAIN
    return replace(side, must_link_confidence=confidence[must], cannot_link_confidence=confidence[~must])


def _probability_same(posterior: FloatArray, pairs: IntArray) -> FloatArray:
    """Return the probability (q,) that the rows of each pair are in one cluster."""
    return np.asarray((posterior[pairs[:, 0]] * posterior[pairs[:, 1]]).sum(axis=1))


def _accepted(pairs: IntArray, must: BoolArray, labels: IntArray) -> BoolArray:
    """Return which links (q,) between groups contradict none of those accepted before; ``labels`` are the groups'."""
    joined = list(range(len(labels)))
    label = labels.tolist()
    apart: list[set[int]] = [set() for _ in joined]

    def root(group: int) -> int:
        while joined[group] != group:
            joined[group] = joined[joined[group]]
            group = joined[group]
        return group

    accepted = np.zeros(len(must), dtype=bool)
    for place, ((first, second), together) in enumerate(zip(pairs.tolist(), must.tolist(), strict=True)):
        one, other = root(first), root(second)
        differ = other in apart[one] or (label[one] >= 0 and label[other] >= 0 and label[one] != label[other])
        accepted[place] = not differ if together else one != other
        if not accepted[place] or (together and one == other):
            continue
        if together:
            if len(apart[one]) < len(apart[other]):
                one, other = other, one
            joined[other] = one
            label[one] = max(label[one], label[other])
            for third in apart[other]:
                apart[third].discard(other)
                apart[third].add(one)
            apart[one] |= apart[other]
        else:
            apart[one].add(other)
            apart[other].add(one)
    return accepted
