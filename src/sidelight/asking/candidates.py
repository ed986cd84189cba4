"""The rows that questions can be about: those already spoken of, in groups, and a sample of the others."""

from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array

from sidelight._typing import BoolArray, FloatArray, IntArray
from sidelight.side import SideInformation

# Likenesses are kept for all pairs of candidates; 2000 rows take 32 MB.
_MOST_FREE = 1500
_MOST_SPOKEN_OF = 500
_MOST_PER_GROUP = 20


class Candidates(NamedTuple):
    """Rows that questions can be about.

    Parameters
    ----------
    rows : (m,) int
        Row numbers: those of the groups, then those that nothing is known about, in random order.
    group : (m,) int
        The group of each, -1 where nothing is known about it. Rows of a group share a class for certain.
    settled : (groups, groups) bool
        True where it is known, entailed or already stated whether two groups share a class; and on the diagonal.
    """

    rows: IntArray
    group: IntArray
    settled: BoolArray

    @property
    def members(self) -> FloatArray:
        """Which candidates are in each group, (groups, m)."""
        return (self.group == np.arange(self.n_groups)[:, None]).astype(float)

    @property
    def n_groups(self) -> int:
        """Number of groups."""
        return len(self.settled)


def find_candidates(side: SideInformation, random: np.random.RandomState) -> Candidates:
    """Sort the rows into groups, chunklets that somebody spoke of, and rows that nothing is known about.

    Of many groups the largest are kept, of a large one some rows, and of many rows that nothing is known about a
    sample, so that the work does not grow with the table.
    """
    closure = side.closure()
    spoken = random.permutation(np.flatnonzero(side.mentioned))
    chunklets = closure.chunklets[spoken]
    spoken = spoken[_rank_within(chunklets) < _MOST_PER_GROUP]
    sizes = closure.sizes[closure.chunklets[spoken]]
    spoken = np.sort(spoken[np.argsort(-sizes, kind="stable")][:_MOST_SPOKEN_OF])
    kept, group = np.unique(closure.chunklets[spoken], return_inverse=True)
    free = random.permutation(np.flatnonzero(~side.mentioned))[:_MOST_FREE]
    return Candidates(
        rows=np.concatenate([spoken, free]),
        group=np.concatenate([group, np.full(len(free), -1)]),
        settled=_settled(side, kept),
    )


def _rank_within(keys: IntArray) -> IntArray:
    """Return how many equal keys stand before each."""
    order = np.argsort(keys, kind="stable")
    ordered = keys[order]
    rank = np.empty(len(keys), dtype=np.int64)
    rank[order] = np.arange(len(keys)) - np.searchsorted(ordered, ordered)
    return rank


def _settled(side: SideInformation, kept: IntArray) -> BoolArray:
    """Return which of the kept chunklets are known, or were said, to share a class or not."""
    closure = side.closure()
    n_chunklets = len(closure.sizes)
    # Links that may be wrong entail nothing, but they have been asked about.
    stated = closure.chunklets[np.concatenate([side.must_link, side.cannot_link])]
    pairs = np.concatenate([closure.cannot, stated])
    table = csr_array((np.ones(len(pairs), dtype=bool), (pairs[:, 0], pairs[:, 1])), shape=(n_chunklets, n_chunklets))
    settled: BoolArray = table[kept][:, kept].toarray()
    labelled = closure.labels[kept] >= 0
    return settled | settled.T | np.outer(labelled, labelled) | np.eye(len(kept), dtype=bool)
