"""Take the trees off a graph, leaf after leaf, so that only its loops are left."""

from importlib import import_module
from importlib.util import find_spec
from typing import NamedTuple

import numpy as np

from sidelight._typing import IntArray

_MOST_LEVELS = 1000


class Level(NamedTuple):
    """Nodes that can be taken off together, each with the one neighbour it has left; siblings stand together.

    Parameters
    ----------
    children, parents : (c,)
    edges : (c,)
        The edge of each child to its parent.
    families : (f,)
        Where the children of each parent start.
    """

    children: IntArray
    parents: IntArray
    edges: IntArray
    families: IntArray


class Peeling(NamedTuple):
    """Levels of a forest in the order in which they come off, and the edges left: those of the loops.

    What is deeper than a thousand levels is one last level whose nodes go one after the other (``chain``), where numba
    is installed.
    """

    levels: tuple[Level, ...]
    chain: Level
    loop_edges: IntArray


def peel(n_nodes: int, ends: IntArray) -> Peeling:
    """Take off nodes with one neighbour again and again; what is left of a tree is one node, its root.

    Parameters
    ----------
    n_nodes : int
    ends : (q, 2)
        The nodes of each edge.
    """
    first, second = ends.T
    numbers = np.arange(len(ends))
    degree = np.bincount(ends.ravel(), minlength=n_nodes)
    # Where one neighbour is left, the sum over neighbours is that neighbour, and the sum over edges that edge.
    neighbour, edge = np.zeros(n_nodes, dtype=np.int64), np.zeros(n_nodes, dtype=np.int64)
    for own, other in ((first, second), (second, first)):
        np.add.at(neighbour, own, other)
        np.add.at(edge, own, numbers)
    there = np.ones(len(ends), dtype=bool)
    levels: list[Level] = []
    leaves = np.flatnonzero(degree == 1)
    most = _MOST_LEVELS if find_spec("numba") is not None else n_nodes
    while leaves.size and len(levels) < most:
        parents = neighbour[leaves]
        # Two leaves that have each other left: the lower one stays, as the root.
        going = (degree[parents] > 1) | (leaves > parents)
        leaves, parents = leaves[going], parents[going]
        order = np.argsort(parents, kind="stable")
        leaves, parents = leaves[order], parents[order]
        levels.append(Level(leaves, parents, edge[leaves], np.flatnonzero(np.diff(parents, prepend=-1))))
        there[edge[leaves]] = False
        np.subtract.at(degree, parents, 1)
        np.subtract.at(neighbour, parents, leaves)
        np.subtract.at(edge, parents, edge[leaves])
        degree[leaves] = 0
        waiting = parents[levels[-1].families]
        leaves = waiting[degree[waiting] == 1]
    nobody = leaves[:0]
    chain = Level(nobody, nobody, nobody, nobody)
    if leaves.size:
        one_by_one = import_module("sidelight.couplings.link_graph.exact.compiled").peel
        children, parents, links = one_by_one(leaves, degree, neighbour, edge, there)
        chain = Level(children, parents, links, nobody)
    return Peeling(tuple(levels), chain, np.flatnonzero(there))
