"""Everything said about the rows as weighted pairs, for methods that may break a link at a price."""

from typing import NamedTuple

import numpy as np

from sidelight._typing import FloatArray, IntArray
from sidelight.side import SideInformation
from sidelight.side.closure import chain


class SoftLinks(NamedTuple):
    """Pairs of rows and what each weighs, from 0 to 1."""

    must: IntArray
    must_weight: FloatArray
    cannot: IntArray
    cannot_weight: FloatArray


def soft_links(side: SideInformation) -> SoftLinks:
    """Return links as stated, with labels and blocks turned into links.

    A link with confidence q weighs 2q − 1: nothing for a guess, 1 where certain. Rows of a label or block are joined
    in a chain. Of two labels, each row is kept apart from one row of the other, so that L labels of m rows take about
    L²m/2 links and not (Lm)²/2.
    """
    labelled, blocked = np.flatnonzero(side.labels >= 0), np.flatnonzero(side.blocks >= 0)
    joined = np.concatenate([chain(side.labels[labelled], labelled), chain(side.blocks[blocked], blocked)])
    apart = _labels_apart(side.labels, labelled)
    return SoftLinks(
        np.concatenate([side.must_link, joined]),
        np.concatenate([2 * side.must_link_confidence - 1, np.ones(len(joined))]),
        np.concatenate([side.cannot_link, apart]),
        np.concatenate([2 * side.cannot_link_confidence - 1, np.ones(len(apart))]),
    )


def _labels_apart(labels: IntArray, labelled: IntArray) -> IntArray:
    groups = [labelled[labels[labelled] == code] for code in np.unique(labels[labelled])]
    pairs = [np.empty((0, 2), dtype=np.int64)]
    for position, first in enumerate(groups):
        for second in groups[position + 1 :]:
            number = np.arange(max(len(first), len(second)))
            pairs.append(np.column_stack([first[number % len(first)], second[number % len(second)]]))
    return np.concatenate(pairs)
