"""Sums over the pairs of rows in side information, without listing the pairs that labels and blocks imply."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
from scipy.sparse import coo_array, csr_array
from scipy.sparse.csgraph import connected_components

from sidelight._typing import FloatArray, IntArray
from sidelight.side import SideInformation


@dataclass(frozen=True, eq=False)
class PairSums:
    """The signed matrix C over m rows: −1 for a pair that must link, +1 for one that cannot, 0 for any other.

    Links are a sparse matrix. All pairs of labelled rows (−1 with the same label, +1 with different ones) and all pairs
    within blocks (−1) are never listed: with S_c the sum over the rows of label c and T that over all labelled rows,
    such a row has the sum T − 2 S_c, plus itself once, because it forms no pair with itself. A row of weight w stands
    for w rows, each with the same links, labels and blocks. A pair stated twice, as a link and by labels, counts twice.

    Parameters
    ----------
    links : (m, m) sparse
        Symmetric.
    labels, blocks : (m,)
        Codes, -1 for none.
    weights : (m,)
    """

    links: "csr_array[Any]"
    labels: IntArray
    blocks: IntArray
    weights: FloatArray

    @classmethod
    def stated(cls, side: SideInformation, weights: FloatArray | None) -> Self:
        """Return the pairs among the rows that are mentioned, in their order; a link of confidence q weighs 2q − 1."""
        rows = np.flatnonzero(side.mentioned)
        pairs = np.searchsorted(rows, np.concatenate([side.must_link, side.cannot_link]))
        values = np.concatenate([1 - 2 * side.must_link_confidence, 2 * side.cannot_link_confidence - 1])
        ends = (np.concatenate([pairs[:, 0], pairs[:, 1]]), np.concatenate([pairs[:, 1], pairs[:, 0]]))
        links = coo_array((np.tile(values, 2), ends), shape=(len(rows), len(rows))).tocsr()
        counts = np.ones(len(rows)) if weights is None else weights[rows]
        return cls(links, side.labels[rows], side.blocks[rows], counts)

    def __call__(self, values: FloatArray) -> FloatArray:
        """Return Σ_j C_ij values_j of values (m, q), a row of weight w counting as w rows."""
        weighted = self.weights[:, None] * values
        sums = self.links @ weighted
        if self.labelled.nnz:
            sums += self.labelled @ label_sums(self.labelled.T @ weighted)
        if self.blocked.nnz:
            sums -= self.blocked @ (self.blocked.T @ weighted)
        sums += self.memberships[:, None] * values
        return np.asarray(sums)

    @cached_property
    def labelled(self) -> "csr_array[Any]":
        """One where a row has a label, (m, labels)."""
        return _indicator(self.labels)

    @cached_property
    def blocked(self) -> "csr_array[Any]":
        """One where a row is in a block, (m, blocks)."""
        return _indicator(self.blocks)

    @cached_property
    def memberships(self) -> FloatArray:
        """Number of sums, of a label and of a block, that a row stands in itself, (m,)."""
        return (self.labels >= 0) + (self.blocks >= 0).astype(float)

    @cached_property
    def degrees(self) -> FloatArray:
        """Sum of the absolute weights of the pairs of each row: Σ_j |C_ij|, (m,)."""
        absolute = abs(self.links) @ self.weights
        by_block = self.blocked @ (self.blocked.T @ self.weights)
        n_labelled = float(self.weights[self.labels >= 0].sum())
        return np.asarray(absolute + by_block + n_labelled * (self.labels >= 0) - self.memberships)

    @cached_property
    def groups(self) -> IntArray:
        """Numbers of the groups of rows that pairs connect, (m,)."""
        m, n_blocks = len(self.labels), self.blocked.shape[1]
        labelled, blocked = np.flatnonzero(self.labels >= 0), np.flatnonzero(self.blocks >= 0)
        # All labelled rows are connected, and all rows of a block: each set is linked to a node of its own.
        nodes = np.concatenate([np.full(len(labelled), m), m + 1 + self.blocks[blocked]])
        links = self.links.tocoo()
        ends = np.concatenate([labelled, blocked, links.row]), np.concatenate([nodes, links.col])
        graph = coo_array((np.ones(len(ends[0])), ends), shape=(m + 1 + n_blocks,) * 2)
        found = connected_components(graph, directed=False)[1][:m]
        return np.unique(found, return_inverse=True)[1].astype(np.int64)


def label_sums(by_label: FloatArray) -> FloatArray:
    """Return the signed sum over labelled rows for a row of each label, T − 2 S_c, from the sums S_c (labels, q)."""
    return by_label.sum(axis=0) - 2 * by_label


def _indicator(codes: IntArray) -> "csr_array[Any]":
    inside = np.flatnonzero(codes >= 0)
    shape = (len(codes), int(codes.max(initial=-1)) + 1)
    return coo_array((np.ones(len(inside)), (inside, codes[inside])), shape=shape).tocsr()
