"""Sums over the pairs of rows in side information, without listing the pairs that labels and blocks imply.

Rows may change one after the other, those without a pair among them at once; `RunningSums` follows them.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, Self

import numpy as np
from scipy.sparse import coo_array, csr_array
from scipy.sparse.csgraph import connected_components

from sidelight._typing import FloatArray, IntArray
from sidelight.graphs.independent_sets import first_fit_sets
from sidelight.side import SideInformation


@dataclass(frozen=True, eq=False)
class PairSums:
    """The signed matrix C over m rows: −1 for a pair that must link, +1 for one that cannot, 0 for any other.

    Links are a sparse matrix. All pairs of labelled rows (−1 with the same label, +1 with different ones) and all pairs
    within blocks (−1) are never listed: with S_c the sum over the rows of label c and T that over all labelled rows,
    such a row has the sum T − 2 S_c, plus itself once, because it forms no pair with itself. A row of weight w stands
    for w rows, each with the same links, labels and blocks. A pair stated twice, as a link and by labels, counts twice.

    The links (m, m) are symmetric; labels and blocks (m,) are codes, -1 for none; the weights are (m,).
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


class IndependentSet(NamedTuple):
    """Rows that form no pair among themselves, the rows they are linked with, and the links, (rows, partners)."""

    rows: IntArray
    partners: IntArray
    links: "csr_array[Any]"


def independent_sets(pairs: PairSums) -> list[IndependentSet]:
    """Divide the rows into sets without a pair inside: each row of a block, and each labelled row, needs its own."""
    chosen = first_fit_sets(pairs.links, (np.minimum(pairs.labels, 0), pairs.blocks))
    order = np.argsort(chosen, kind="stable")
    return [_set_of(pairs, rows) for rows in np.split(order, np.flatnonzero(np.diff(chosen[order])) + 1)]


def _set_of(pairs: PairSums, rows: IntArray) -> IndependentSet:
    links = pairs.links[rows]
    partners, columns = np.unique(links.indices, return_inverse=True)
    shape = (len(rows), len(partners))
    return IndependentSet(rows, partners, csr_array((links.data, columns, links.indptr), shape=shape))


@dataclass(frozen=True, eq=False)
class RunningSums:
    """Sums over pairs of values (m, q) that change a few rows at a time.

    Weighted sums over the rows of each label and block, (labels, q) and (blocks, q), are kept up to date, so that those
    of a few rows do not take a pass over all rows. All three arrays change as rows do.
    """

    pairs: PairSums
    values: FloatArray
    by_label: FloatArray
    by_block: FloatArray

    @classmethod
    def of(cls, pairs: PairSums, values: FloatArray) -> Self:
        """Return the sums of these values, which are copied."""
        weighted = pairs.weights[:, None] * values
        return cls(pairs, values.copy(), pairs.labelled.T @ weighted, pairs.blocked.T @ weighted)

    def sums(self, some: IndependentSet) -> FloatArray:
        """Return Σ_j C_ij values_j of some rows."""
        pairs, rows = self.pairs, some.rows
        sums = some.links @ (pairs.weights[some.partners, None] * self.values[some.partners])
        labelled, blocked = pairs.labels[rows] >= 0, pairs.blocks[rows] >= 0
        if labelled.any():
            sums[labelled] += label_sums(self.by_label)[pairs.labels[rows[labelled]]]
        if blocked.any():
            sums[blocked] -= self.by_block[pairs.blocks[rows[blocked]]]
        return np.asarray(sums + pairs.memberships[rows][:, None] * self.values[rows])

    def replace(self, some: IndependentSet, values: FloatArray) -> None:
        """Give some rows new values, (some, q)."""
        pairs, rows = self.pairs, some.rows
        change = pairs.weights[rows][:, None] * (values - self.values[rows])
        self.values[rows] = values
        for codes, sums in ((pairs.labels[rows], self.by_label), (pairs.blocks[rows], self.by_block)):
            np.add.at(sums, codes[codes >= 0], change[codes >= 0])
