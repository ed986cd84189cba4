"""Transitive closure: which rows are bound together, which groups of rows are kept apart."""

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from sidelight.side.bonds import Bonds, IntArray, components, number_by_first
from sidelight.side.contradictions import GroupWords, Wording, refuse_contradictions

if TYPE_CHECKING:
    from sidelight.side.information import SideInformation


class Closure(NamedTuple):
    """Everything that certain statements entail.

    Attributes
    ----------
    chunklets : (n,) int
        Chunklet of each row, numbered 0, 1, … by first row. A row nobody speaks of is a chunklet of one;
        rows of one label are in one chunklet.
    labels : (C,) int
        Label code of each chunklet, -1 unknown.
    cannot : (q, 2) int
        Chunklets a < b that a certain cannot-link keeps apart, each pair once and in order. Chunklets that
        only their labels keep apart are not listed; `separated` gives them too.
    sizes : (C,) int
        Number of rows of each chunklet.
    """

    chunklets: IntArray
    labels: IntArray
    cannot: IntArray
    sizes: IntArray

    def separated(self) -> IntArray:
        """Give the pairs of chunklets a < b kept apart by cannot-links or by different labels."""
        labelled = np.flatnonzero(self.labels >= 0)
        first, second = np.triu_indices(len(labelled), k=1)
        by_label = np.column_stack([labelled[first], labelled[second]])
        return np.unique(np.concatenate([self.cannot, by_label]), axis=0)


def certain_bonds(side: "SideInformation", *, labels: bool = True) -> Bonds:
    """Collect the certain statements; the groups are the labels, then the blocks.

    Without ``labels``, rows of one label are not bound together.
    """
    n_labels = len(side.label_names)
    labelled = np.flatnonzero((side.labels >= 0) & labels)
    blocked = np.flatnonzero(side.blocks >= 0)
    members = np.concatenate(
        [
            np.column_stack([labelled, side.labels[labelled]]),
            np.column_stack([blocked, side.blocks[blocked] + n_labels]),
        ]
    )
    factions = np.concatenate([np.zeros(n_labels, np.int64), np.full(len(side.block_names), -1, np.int64)])
    return Bonds(
        side.n_rows,
        side.must_link[side.must_link_confidence == 1],
        members,
        factions,
        side.cannot_link[side.cannot_link_confidence == 1],
    )


def close(side: "SideInformation") -> Closure:
    """Work out what the certain statements entail.

    Parameters
    ----------
    side : SideInformation
        What is known. Links with a confidence below 1 take no part.

    Returns
    -------
    Closure
        Chunklets, their labels, and the pairs of them that cannot-links keep apart.

    Raises
    ------
    ContradictionError
        If the certain statements contradict each other; the message gives the chain that proves it.
    """
    bonds = certain_bonds(side)
    component = components(bonds)
    refuse_contradictions(bonds, component, _wording(side))
    chunklets = number_by_first(component[: side.n_rows])
    n_chunklets = int(chunklets.max(initial=-1)) + 1
    labels = np.full(n_chunklets, -1, dtype=np.int64)
    labelled = side.labels >= 0
    labels[chunklets[labelled]] = side.labels[labelled]
    sizes = np.bincount(chunklets, minlength=n_chunklets).astype(np.int64)
    closure = Closure(chunklets, labels, _distinct_pairs(chunklets[bonds.apart], n_chunklets), sizes)
    for array in closure:
        array.setflags(write=False)
    return closure


def _distinct_pairs(pairs: IntArray, size: int) -> IntArray:
    # One number per pair: sorting numbers is an order of magnitude faster than sorting rows of a table.
    key = np.unique(pairs.min(axis=1) * size + pairs.max(axis=1))
    return np.column_stack(np.divmod(key, max(size, 1))).astype(np.int64)


def _wording(side: "SideInformation") -> Wording:
    n_labels = len(side.label_names)

    def group(number: int) -> GroupWords:
        if number < n_labels:
            name = repr(side.label_names[number : number + 1].tolist()[0])
            return GroupWords(f"are both labelled {name}", f"label {name}")
        block = number - n_labels
        name = repr(side.block_names[block : block + 1].tolist()[0])
        return GroupWords(f"share block {name}", f"block {name}")

    remedy = "remove one of these statements, or give the links among them a confidence below 1"
    return Wording(side.ids, group, remedy)
