"""Sums over pairs while rows change one after the other, those without a pair among them at once."""

from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
from scipy.sparse import csr_array

from sidelight._typing import FloatArray, IntArray
from sidelight.couplings.class_penalty.pair_sums import PairSums, label_sums
from sidelight.graphs.independent_sets import first_fit_sets


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

    Sums over labels and blocks are kept up to date, so that those of a few rows do not take a pass over all rows.

    Parameters
    ----------
    pairs : PairSums
    values : (m, q)
    by_label : (labels, q)
    by_block : (blocks, q)
        Weighted sums over the rows of each label and block. The three arrays change as rows do.
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
