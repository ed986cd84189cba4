"""Nodes whose class is known: their links become evidence about their neighbours, and they leave the graph.

A label may be linked to by many, and would be in the way of exact inference if it stayed.
"""

from typing import NamedTuple

import numpy as np

from sidelight._typing import BoolArray, FloatArray, IntArray
from sidelight.couplings.link_graph.problem import LinkProblem


class Known(NamedTuple):
    """Nodes of known class and what follows from them.

    Parameters
    ----------
    nodes, classes : (k,)
    near : (h,)
        Unknown nodes linked to known ones.
    offsets : (h, classes)
        What these links add to the scores of ``near``.
    edges : (e,)
        Edges with a known end.
    constant : float
        Log potential of the edges between known nodes.
    """

    nodes: IntArray
    classes: IntArray
    near: IntArray
    offsets: FloatArray
    edges: IntArray
    constant: float


def take_out(graph: LinkProblem, n_classes: int) -> tuple[Known, BoolArray]:
    """Return the known nodes with what follows from them, and which edges are left between the others."""
    labels = graph.labels[graph.edges]
    known_ends = (labels >= 0).sum(axis=1)
    settled = np.flatnonzero(known_ends == 2)
    equal = labels[settled, 0] == labels[settled, 1]
    constant = np.where(equal, graph.log_equal[settled], graph.log_different[settled]).sum()

    half = np.flatnonzero(known_ends == 1)
    near, place = np.unique(np.where(labels[half] < 0, graph.edges[half], -1).max(axis=1), return_inverse=True)
    classes = labels[half].max(axis=1)
    offsets = np.empty((len(near), n_classes))
    for c in range(n_classes):
        terms = np.where(classes == c, graph.log_equal[half], graph.log_different[half])
        offsets[:, c] = np.bincount(place, terms, len(near))
    nodes = np.flatnonzero(graph.labels >= 0)
    known = Known(nodes, graph.labels[nodes], near, offsets, np.flatnonzero(known_ends), float(constant))
    return known, known_ends == 0


def add_evidence(known: Known, scores: FloatArray) -> FloatArray:
    """Return the scores with what is known added; unchanged where nothing is."""
    if not known.near.size:
        return scores
    informed = scores.copy()
    informed[known.near] += known.offsets
    return informed
