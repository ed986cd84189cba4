"""The rows that questions can be about: rows with statements, in groups, and a sample of the others."""

from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array

from sidelight._typing import BoolArray, FloatArray, IntArray
from sidelight.side import SideInformation
from sidelight.side.sampling.labels import rank_within

# Similarities are kept for all pairs of candidates; 2000 rows take 32 MB.
_MAX_FREE = 1500
_MAX_GROUPED = 500
_MAX_PER_GROUP = 20


class Candidates(NamedTuple):
    """Rows that questions can be about.

    Parameters
    ----------
    rows : (m,) int
        Row numbers: rows of groups, then free rows, those without statements, in random order.
    group : (m,) int
        The group of each row, -1 for free rows. Rows of a group certainly share a class.
    settled : (groups, groups) bool
        True where it is stated or entailed whether two groups share a class; and on the diagonal.
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
    """Divide the rows into groups, which are chunklets with statements, and free rows.

    Only the largest groups, some rows of a large group and a sample of the free rows are kept, so that the work does
    not grow with the table.
    """
    closure = side.closure()
    grouped = random.permutation(np.flatnonzero(side.mentioned))
    grouped = grouped[rank_within(closure.chunklets[grouped]) < _MAX_PER_GROUP]
    sizes = closure.sizes[closure.chunklets[grouped]]
    grouped = np.sort(grouped[np.argsort(-sizes, kind="stable")][:_MAX_GROUPED])
    kept, group = np.unique(closure.chunklets[grouped], return_inverse=True)
    free = random.permutation(np.flatnonzero(~side.mentioned))[:_MAX_FREE]
    return Candidates(
        rows=np.concatenate([grouped, free]),
        group=np.concatenate([group, np.full(len(free), -1)]),
        settled=_settled(side, kept),
    )


def _settled(side: SideInformation, kept: IntArray) -> BoolArray:
    """Return for which of the kept chunklets it is stated or entailed whether they share a class."""
    closure = side.closure()
    n_chunklets = len(closure.sizes)
    # Uncertain links entail nothing, but they need not be asked again.
    stated = closure.chunklets[np.concatenate([side.must_link, side.cannot_link])]
    pairs = np.concatenate([closure.cannot, stated])
    table = csr_array((np.ones(len(pairs), dtype=bool), (pairs[:, 0], pairs[:, 1])), shape=(n_chunklets, n_chunklets))
    settled: BoolArray = table[kept][:, kept].toarray()
    labelled = closure.labels[kept] >= 0
    return settled | settled.T | np.outer(labelled, labelled) | np.eye(len(kept), dtype=bool)
