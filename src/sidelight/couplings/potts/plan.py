"""The atoms of a Potts field, rows that certain must-links and blocks join, and the stages in which they are updated.

Both are laid out once for all E-steps.
"""

from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from scipy.sparse import coo_array, csr_array

from sidelight._typing import AnyArray, FloatArray, IntArray
from sidelight.graphs.independent_sets import independent_sets
from sidelight.kernels.loops import Neighbours
from sidelight.side import SideInformation
from sidelight.side.closure import certain_constraints, components, number_by_first


@dataclass(frozen=True, eq=False)
class Atoms:
    """Rows that side information mentions; those that must share a component are one atom.

    Parameters
    ----------
    rows, starts : (m,), (g,)
        Row numbers, atom after atom, and where each atom starts in them.
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
    """Collect the rows that side information mentions; None where it is empty.

    Certain must-links and blocks join rows to atoms. A link of confidence q weighs ln(q / (1 − q)), at most
    ``certain``, which is also the weight of a certain cannot-link.
    """
    constraints = certain_constraints(side, labels=False)
    joined = number_by_first(components(constraints)[: side.n_rows])
    sizes = np.bincount(joined)
    mentioned = (side.labels >= 0) | (sizes[joined] > 1)
    for links in (side.must_link, side.cannot_link):
        mentioned[links] = True
    rows = np.flatnonzero(mentioned)
    if not len(rows):
        return None
    # An atom that is mentioned has all its rows among them: they were joined by statements.
    rows = rows[np.argsort(joined[rows], kind="stable")]
    starts = np.flatnonzero(np.diff(joined[rows], prepend=-1))
    number = np.full(len(sizes), -1)
    number[joined[rows[starts]]] = np.arange(len(starts))
    labels = np.maximum.reduceat(side.labels[rows], starts)
    return Atoms(rows, starts, labels, _affinity(side, number[joined], len(starts), certain))


def _affinity(side: SideInformation, atom: IntArray, n_atoms: int, certain: float) -> "csr_array[np.float64]":
    pairs = np.concatenate([side.must_link, side.cannot_link])
    confidence = np.concatenate([side.must_link_confidence, side.cannot_link_confidence])
    wrong = np.maximum(1.0 - confidence, np.finfo(float).tiny)
    strength = np.minimum(np.log(confidence / wrong), certain)
    strength[len(side.must_link) :] *= -1.0
    ends = atom[pairs]
    between = ends[:, 0] != ends[:, 1]
    ends, strength = ends[between].astype(np.int32), strength[between]
    upper = coo_array((strength, (ends[:, 0], ends[:, 1])), shape=(n_atoms, n_atoms)).tocsr()
    return csr_array(upper + upper.T)


class Stage(NamedTuple):
    """Atoms that are updated at once: all of one label, or of none, and without links among them.

    Parameters
    ----------
    label : int
        -1 for atoms without one.
    rows, starts : (m,), (g,)
        Row numbers, atom after atom, and where each atom starts in them.
    row_weights, weights : (m,), (g,)
        Rows of its atom that each row stands for, and the weight of each atom.
    place : int
        Number of the first of these atoms among the linked ones, -1 where they have no links.
    early, late : Neighbours, optional
        Links to atoms of earlier stages, which are updated before this one, and of later ones; None without links.
    """

    label: int
    rows: IntArray
    starts: IntArray
    row_weights: FloatArray
    weights: FloatArray
    place: int
    early: Neighbours | None
    late: Neighbours | None


class Plan(NamedTuple):
    """Stages in their order, the number of linked atoms, and the total weight of must-links between atoms."""

    stages: tuple[Stage, ...]
    n_linked: int
    must_weight: float


def lay_stages(atoms: Atoms, sample_weight: FloatArray | None) -> Plan:
    """Order the atoms: label after label, then those without; within a label by sets without links among them.

    An atom of one row that stands for w rows counts w times, links and all. Rows of larger atoms enter it with their
    weights, and the atom counts once.
    """
    sets = independent_sets(atoms.affinity)
    labels = np.where(atoms.labels < 0, atoms.labels.max() + 1, atoms.labels)
    sizes = atoms.sizes
    # Atoms of one row apart from larger ones: they need no sums. And those with as many links one after the other, so
    # that the processor foresees where a loop over links ends.
    order = np.lexsort((np.diff(atoms.affinity.indptr), sizes > 1, sets, labels))
    key = np.column_stack([labels, sets, sizes > 1])[order]
    first = np.flatnonzero(np.any(np.diff(key, axis=0, prepend=-2) != 0, axis=1))

    linked = order[sets[order] >= 0]
    place = np.full(len(order), -1)
    place[linked] = np.arange(len(linked))
    own = np.ones(len(atoms.rows)) if sample_weight is None else sample_weight[atoms.rows]
    weights = np.where(sizes == 1, own[atoms.starts], 1.0)
    turn = np.empty(len(order), dtype=np.int64)  # the stage of each atom

    stages = []
    bounds = np.append(first, len(order))
    for number, (start, stop) in enumerate(pairwise(bounds)):
        turn[order[start:stop]] = number
    for number, (start, stop) in enumerate(pairwise(bounds)):
        members = order[start:stop]
        several = sizes[members[0]] > 1
        starts = np.cumsum(sizes[members]) - sizes[members]
        within = np.repeat(atoms.starts[members] - starts, sizes[members]) + np.arange(sizes[members].sum())
        early = late = None
        if sets[members[0]] >= 0:
            links = atoms.affinity[members]
            before = turn[links.indices] < number
            strengths = links.data * weights[links.indices]
            early = _neighbours(links, before, place, strengths)
            late = _neighbours(links, ~before, place, strengths)
        stages.append(
            Stage(
                label=int(atoms.labels[members[0]]),
                rows=atoms.rows[within],
                starts=starts,
                row_weights=own[within] if several else np.ones(len(members)),
                weights=weights[members],
                place=int(place[members[0]]),
                early=early,
                late=late,
            )
        )
    tails = np.repeat(np.arange(len(order)), np.diff(atoms.affinity.indptr))
    both = weights[tails] * weights[atoms.affinity.indices] * np.maximum(atoms.affinity.data, 0.0)
    return Plan(tuple(stages), len(linked), float(both.sum() / 2))


def _neighbours(links: "csr_array[np.float64]", chosen: AnyArray, place: IntArray, strengths: FloatArray) -> Neighbours:
    counted = np.concatenate([[0], np.cumsum(chosen)])
    return Neighbours(counted[links.indptr], place[links.indices[chosen]].astype(np.int32), strengths[chosen])
