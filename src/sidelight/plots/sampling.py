"""Which rows and links of a large table are drawn."""

from typing import NamedTuple

import numpy as np

from sidelight._typing import BoolArray, IntArray
from sidelight.side import SideInformation

# Lines drawn for each kind of link; more of them would hide the points.
MOST_LINKS = 60


class LinkLines(NamedTuple):
    """The links of one kind that are drawn as lines: their rows (m, 2), which of them the clusters violate (m,).

    The numbers of links respected and violated count those that are not drawn too.
    """

    kind: str
    pairs: IntArray
    broken: BoolArray
    n_kept: int
    n_broken: int


def choose_links(
    side: SideInformation, labels: IntArray, random: np.random.RandomState, *, noise: int | None = None
) -> list[LinkLines]:
    """Return the links to draw of each kind: violated ones first, then others at random.

    ``noise`` is the label of rows that belong to no cluster, which do not share one.
    """
    kinds = {
        "must-link": (side.must_link, False),
        "cannot-link": (side.cannot_link, True),
        "block": (_chains(side.blocks), False),
    }
    lines = []
    for kind, (pairs, apart) in kinds.items():
        if not len(pairs):
            continue
        broken = (labels[pairs[:, 0]] == labels[pairs[:, 1]]) == apart
        if apart and noise is not None:
            broken &= labels[pairs[:, 0]] != noise
        order = random.permutation(len(pairs))
        drawn = np.sort(order[np.argsort(~broken[order], kind="stable")][:MOST_LINKS])
        lines.append(LinkLines(kind, pairs[drawn], broken[drawn], int((~broken).sum()), int(broken.sum())))
    return lines


def _chains(blocks: IntArray) -> IntArray:
    """Return pairs of consecutive rows of each block, (m, 2)."""
    rows = np.flatnonzero(blocks >= 0)
    rows = rows[np.argsort(blocks[rows], kind="stable")]
    follows = blocks[rows[1:]] == blocks[rows[:-1]]
    return np.column_stack([rows[:-1][follows], rows[1:][follows]])


def choose_rows(n: int, first: list[IntArray], most: int, random: np.random.RandomState) -> IntArray:
    """Return at most ``most`` of n rows, in order: those of ``first``, list by list, then others at random."""
    if n <= most:
        return np.arange(n)
    taken = np.zeros(n, dtype=bool)
    room = most
    for wanted in first:
        room -= _take(taken, np.unique(wanted[~taken[wanted]]), room, random)
    _take(taken, np.flatnonzero(~taken), room, random)
    return np.flatnonzero(taken)


def _take(taken: BoolArray, new: IntArray, room: int, random: np.random.RandomState) -> int:
    """Mark rows as taken, at random as many as there is room for; return their number."""
    drawn = random.choice(new, room, replace=False) if len(new) > room else new
    taken[drawn] = True
    return len(drawn)
