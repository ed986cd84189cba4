"""Two classes: certain links leave one choice to all the nodes they connect.

A node of a connected component has the class of its first node or the other one, so the component is one node with two
classes, and uncertain links become links between components.
"""

from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from sidelight._typing import AnyArray, FloatArray, IntArray
from sidelight.couplings.link_graph.problem import LinkProblem, merge


class Contraction(NamedTuple):
    """Nodes of a problem with two classes, divided into groups whose members determine each other's class.

    Parameters
    ----------
    graph : LinkProblem
        The groups and the links between them.
    groups : (g,)
        The group of each node.
    flipped : (g,)
        1 where the class of a node is the other one than its group's.
    edges : (q,)
        The edge between groups that each edge became, or -1.
    swapped : (q,)
        1 where equal ends of an edge mean different groups; for edges within a group, where its ends differ.
    constant : float
        Log potential of the edges within groups.
    """

    graph: LinkProblem
    groups: IntArray
    flipped: IntArray
    edges: IntArray
    swapped: IntArray
    constant: float


def double_cover(problem: LinkProblem) -> "coo_array[Any]":
    """Return the graph of (node, class) under two classes: what a choice implies through certain links.

    Node v in class c is number v + c · n_nodes.
    """
    certain = problem.is_certain
    ends = problem.edges[certain]
    other = np.isneginf(problem.log_equal[certain])
    tails = np.concatenate([ends[:, 0], ends[:, 0] + problem.n_nodes])
    heads = np.concatenate([ends[:, 1] + problem.n_nodes * other, ends[:, 1] + problem.n_nodes * ~other])
    size = 2 * problem.n_nodes
    return coo_array((np.ones(len(tails)), (tails.astype(np.int32), heads.astype(np.int32))), shape=(size, size))


def contract(problem: LinkProblem) -> Contraction | None:
    """Contract the nodes that certain links connect; None where no assignment respects them and the labels."""
    n = problem.n_nodes
    _, component = connected_components(double_cover(problem), directed=False)
    first, second = component[:n], component[n:]
    if (first == second).any() or (np.isneginf(problem.log_equal) & np.isneginf(problem.log_different)).any():
        return None
    _, groups = np.unique(np.minimum(first, second), return_inverse=True)
    n_groups = int(groups.max(initial=-1)) + 1
    flipped = (first > second).astype(np.int64)

    swapped = flipped[problem.edges[:, 0]] ^ flipped[problem.edges[:, 1]]
    log_equal = np.where(swapped, problem.log_different, problem.log_equal)
    log_different = np.where(swapped, problem.log_equal, problem.log_different)
    merged = merge(n_groups, groups[problem.edges], log_equal, log_different)
    labels = np.full(n_groups, -1, dtype=np.int64)
    labelled = problem.labels >= 0
    labels[groups[labelled]] = problem.labels[labelled] ^ flipped[labelled]
    if (labels[groups[labelled]] != problem.labels[labelled] ^ flipped[labelled]).any():
        return None
    graph = LinkProblem(n_groups, merged.edges, merged.log_equal, merged.log_different, labels)
    inside = merged.became < 0
    return Contraction(graph, groups, flipped, merged.became, swapped, float(log_equal[inside].sum()))


def gather(contraction: Contraction, unary: FloatArray) -> FloatArray:
    """Return the scores (groups, 2) that those of the nodes add up to."""
    own = np.where(contraction.flipped, unary[:, 1], unary[:, 0])
    other = np.where(contraction.flipped, unary[:, 0], unary[:, 1])
    n_groups = contraction.graph.n_nodes
    return np.column_stack([np.bincount(contraction.groups, part, n_groups) for part in (own, other)])


def spread_shares(contraction: Contraction, shares: FloatArray) -> FloatArray:
    """Return the shares (nodes, 2) from those of the groups."""
    own = shares[contraction.groups]
    return np.where(contraction.flipped[:, None], own[:, ::-1], own)


def spread_classes(contraction: Contraction, classes: IntArray) -> IntArray:
    """Return the classes of the nodes from those of the groups."""
    return classes[contraction.groups] ^ contraction.flipped


def spread_pairs(contraction: Contraction, pairs: FloatArray, node_shares: FloatArray, edges: IntArray) -> FloatArray:
    """Return pair marginals (edges, 2, 2) of the nodes from those of edges between groups and of the nodes."""
    first, second = edges.T
    out = np.zeros((len(edges), 2, 2))
    outside = contraction.edges >= 0
    inside = np.flatnonzero(~outside)
    for c in range(2):
        out[inside, c, c ^ contraction.swapped[inside]] = node_shares[first[inside], c]
    between = pairs[contraction.edges[outside]]
    # Merging put the lower group first.
    turned = contraction.groups[first[outside]] > contraction.groups[second[outside]]
    between = np.where(turned[:, None, None], between.swapaxes(1, 2), between)
    between = np.where(contraction.flipped[first[outside], None, None], between[:, ::-1], between)
    out[outside] = np.where(contraction.flipped[second[outside], None, None], between[:, :, ::-1], between)
    return out


def spread_same(contraction: Contraction, same: FloatArray) -> FloatArray:
    """Return the probability that the ends of each edge are equal from that of the edges between groups."""
    inside = contraction.edges < 0
    equal: AnyArray = np.where(inside, 1.0, 0.0)
    equal[~inside] = same[contraction.edges[~inside]]
    return np.where(contraction.swapped == 1, 1.0 - equal, equal)
