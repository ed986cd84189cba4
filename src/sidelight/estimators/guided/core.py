"""The rows that experts learn from and look at: all of a small table, some of a large one."""

from typing import NamedTuple

import numpy as np

from sidelight._typing import FloatArray, IntArray
from sidelight.side import SideInformation

CORE_ROWS = 3000
# Of a large table, at most this share of the rows are mentioned ones, so that experts see the others too.
_MENTIONED_SHARE = 0.7


class Core(NamedTuple):
    """Numbers (m,) of the rows, in order, and what is known about them."""

    rows: IntArray
    side: SideInformation


def core_of(side: SideInformation, weights: FloatArray | None, random: np.random.RandomState) -> Core:
    """Return all rows of weight above zero, or a sample of them, mentioned rows first."""
    counted = np.ones(side.n_rows, dtype=bool) if weights is None else weights > 0
    if side.n_rows <= CORE_ROWS and counted.all():
        return Core(np.arange(side.n_rows), side)
    mentioned = random.permutation(np.flatnonzero(side.mentioned & counted))
    mentioned = mentioned[: int(_MENTIONED_SHARE * CORE_ROWS)]
    others = np.setdiff1d(np.flatnonzero(counted), mentioned)
    others = random.permutation(others)[: CORE_ROWS - len(mentioned)]
    rows = np.sort(np.concatenate([mentioned, others]))
    return Core(rows, statements_among(side, rows))


def statements_among(side: SideInformation, rows: IntArray) -> SideInformation:
    """Return what is stated of some rows alone; nothing is concluded through rows left out, as links may be wrong."""
    place = np.full(side.n_rows, -1)
    place[rows] = np.arange(len(rows))

    def among(pairs: IntArray, confidence: FloatArray) -> tuple[IntArray, FloatArray]:
        kept = (place[pairs] >= 0).all(axis=1)
        return place[pairs[kept]], confidence[kept]

    must, must_confidence = among(side.must_link, side.must_link_confidence)
    cannot, cannot_confidence = among(side.cannot_link, side.cannot_link_confidence)
    return SideInformation(
        n_rows=len(rows),
        labels=side.labels[rows],
        label_names=side.label_names,
        must_link=must,
        cannot_link=cannot,
        must_link_confidence=must_confidence,
        cannot_link_confidence=cannot_confidence,
        blocks=side.blocks[rows],
        block_names=side.block_names,
    )
