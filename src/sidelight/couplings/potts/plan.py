"""The stages in which the atoms of a field are updated, laid out once for all E-steps."""

from itertools import pairwise
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array

from sidelight._typing import AnyArray, FloatArray, IntArray
from sidelight.couplings.potts.atoms import Atoms
from sidelight.graphs.independent_sets import independent_sets
from sidelight.kernels.loops import Neighbours


class Stage(NamedTuple):
    """Atoms that are updated at once: all of one label, or of none, and without links among them.

    Parameters
    ----------
    label : int
        -1 for atoms without one.
    rows : (m,)
        Row numbers, atom after atom.
    starts : (g,)
        Where each atom starts in ``rows``.
    row_weights : (m,)
        How many rows of its atom each row stands for.
    weights : (g,)
        How much each atom counts.
    place : int
        Number of the first of these atoms among the linked ones, -1 where they have no links.
    early, late : Neighbours, optional
        Links to atoms of earlier stages, which have been updated when the stage's turn comes, and of later ones. None
        where there are no links.
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
    """Stages in their order, the number of linked atoms, and what all must-links between atoms weigh."""

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
        within = np.repeat(atoms.starts[members], sizes[members]) + _counted(sizes[members])
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
                starts=np.concatenate([[0], np.cumsum(sizes[members])[:-1]]),
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


def _counted(sizes: IntArray) -> IntArray:
    """Return 0, 1, … within each group of these sizes."""
    ends = np.cumsum(sizes)
    return np.arange(ends[-1]) - np.repeat(ends - sizes, sizes)


def _neighbours(links: "csr_array[np.float64]", chosen: AnyArray, place: IntArray, strengths: FloatArray) -> Neighbours:
    counted = np.concatenate([[0], np.cumsum(chosen)])
    return Neighbours(counted[links.indptr], place[links.indices[chosen]].astype(np.int32), strengths[chosen])
