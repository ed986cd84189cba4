"""Rows that certain must-links and blocks make one, and what is said about these atoms."""

from dataclasses import dataclass

import numpy as np
from scipy.sparse import coo_array, csr_array

from sidelight._typing import FloatArray, IntArray
from sidelight.side import SideInformation
from sidelight.side.closure import certain_constraints, components, number_by_first


@dataclass(frozen=True, eq=False)
class Atoms:
    """Rows that anything is said about; those that must share a component stand together.

    Parameters
    ----------
    rows : (m,)
        Row numbers, atom after atom.
    starts : (g,)
        Where each atom starts in ``rows``.
    labels : (g,)
        Label code of each atom, -1 unknown.
    affinity : (g, g)
        Signed strengths of the links between atoms: positive for must-links that may be wrong, negative for
        cannot-links. Symmetric, without a diagonal.
    """

    rows: IntArray
    starts: IntArray
    labels: IntArray
    affinity: "csr_array[np.float64]"

    @property
    def sizes(self) -> IntArray:
        """Number of rows of each atom."""
        return np.diff(np.append(self.starts, len(self.rows)))


def atoms_of(side: SideInformation, *, certain: float) -> Atoms | None:
    """Collect the rows that something is said about; None where nothing is.

    Certain must-links and blocks join rows to atoms. A link of confidence q weighs ln(q / (1 − q)), at most
    ``certain``, which is also the weight of a certain cannot-link.
    """
    bonds = certain_constraints(side, labels=False)
    joined = number_by_first(components(bonds)[: side.n_rows])
    sizes = np.bincount(joined)
    said = (side.labels >= 0) | (sizes[joined] > 1)
    for links in (side.must_link, side.cannot_link):
        said[links] = True
    rows = np.flatnonzero(said)
    if not len(rows):
        return None
    # An atom that something is said about brings all its rows: they were joined, so each of them was mentioned.
    rows = rows[np.argsort(joined[rows], kind="stable")]
    starts = np.flatnonzero(np.diff(joined[rows], prepend=-1))
    number = np.full(len(sizes), -1)
    number[joined[rows[starts]]] = np.arange(len(starts))
    labels = np.maximum.reduceat(side.labels[rows], starts)
    return Atoms(rows, starts, labels, _affinity(side, number[joined], len(starts), certain))


def _affinity(side: SideInformation, atom: IntArray, n_atoms: int, certain: float) -> "csr_array[np.float64]":
    pairs = np.concatenate([side.must_link, side.cannot_link])
    strength = np.concatenate(
        [
            _strengths(side.must_link_confidence, certain),
            -_strengths(side.cannot_link_confidence, certain),
        ]
    )
    ends = atom[pairs]
    between = ends[:, 0] != ends[:, 1]
    ends, strength = ends[between].astype(np.int32), strength[between]
    upper = coo_array((strength, (ends[:, 0], ends[:, 1])), shape=(n_atoms, n_atoms)).tocsr()
    return csr_array(upper + upper.T)


def _strengths(confidence: FloatArray, certain: float) -> FloatArray:
    wrong = np.maximum(1.0 - confidence, np.finfo(float).tiny)
    return np.minimum(np.log(confidence / wrong), certain)
