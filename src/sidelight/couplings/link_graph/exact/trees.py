"""Belief propagation on the trees of a graph, exact in two passes.

Leaves are taken off level by level (`peel`) until only loops are left. The pass upward collects what each tree says
about the node it hangs on: a root, or a node of a loop. The pass downward gives every node what the rest of the graph
says about it.

A link only asks whether the classes of its ends are equal, so that a message needs, for each class, the sum (or the
maximum) over the other classes; this takes time linear in the number of classes. The total minus the class's own term
would cancel where one class has nearly all; there the other classes are summed by themselves.
"""

from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np

from sidelight._typing import FloatArray, IntArray
from sidelight.kernels.loops import finite, log, log_sum, log_sum_of_others, quotient

Message = Callable[[FloatArray, FloatArray, FloatArray], FloatArray]

# Deeper trees are passed over node after node, by compiled loops.
MAX_LEVELS = 1000
# Below this, terms of a sum may have been lost to underflow.
_TINY = 1e-200
_BLOCK_ROWS = 4096


def summed(scores: FloatArray, log_equal: FloatArray, log_different: FloatArray) -> FloatArray:
    """Return the sum-product messages ln Σ_c' exp(score_c' + link(c, c')) for each class c, (links, classes).

    ``scores`` (links, classes) are the log scores of one end of each link; each has a class that is possible.
    """
    messages = np.empty_like(scores)
    for start in range(0, len(scores), _BLOCK_ROWS):
        block = slice(start, start + _BLOCK_ROWS)
        messages[block] = _summed(scores[block], log_equal[block], log_different[block])
    return messages


def _summed(scores: FloatArray, log_equal: FloatArray, log_different: FloatArray) -> FloatArray:
    largest = scores.max(axis=1)
    scale = np.maximum(log_equal, log_different)
    exponentials = np.exp(scores - largest[:, None])
    others = _sums_of_others(exponentials)
    others *= np.exp(log_different - scale)[:, None]
    exponentials *= np.exp(log_equal - scale)[:, None]
    others += exponentials
    underflow = np.flatnonzero(others.min(axis=1) < _TINY)
    messages = log(others)
    messages += (largest + scale)[:, None]
    if underflow.size:
        in_log_space = log_sum_of_others(scores[underflow]) + log_different[underflow, None]
        messages[underflow] = np.logaddexp(in_log_space, scores[underflow] + log_equal[underflow, None])
    return messages


def _sums_of_others(exponentials: FloatArray) -> FloatArray:
    """Return for each class the sum over the others, where the largest of a row is exactly 1."""
    small = np.where(exponentials < 1.0, exponentials, 0.0)
    n_largest = (exponentials == 1.0).sum(axis=1)
    beyond_one = small.sum(axis=1) + (n_largest - 1)
    return (1.0 - exponentials) + beyond_one[:, None]


def maximal(scores: FloatArray, log_equal: FloatArray, log_different: FloatArray) -> FloatArray:
    """Return the max-product messages max_c' score_c' + link(c, c'); arguments as of :func:`summed`."""
    rows, best = np.arange(len(scores)), scores.argmax(axis=1)
    rest = scores.copy()
    rest[rows, best] = -np.inf
    others = np.repeat(scores[rows, best][:, None], scores.shape[1], axis=1)
    others[rows, best] = rest.max(axis=1)
    return np.maximum(others + log_different[:, None], scores + log_equal[:, None])


def best_given(scores: FloatArray, other: IntArray, log_equal: FloatArray, log_different: FloatArray) -> IntArray:
    """Return the best class of one end of each link given the class of the other."""
    joint = scores + log_different[:, None]
    rows = np.arange(len(scores))
    joint[rows, other] = scores[rows, other] + log_equal
    return joint.argmax(axis=1)


class Level(NamedTuple):
    """Nodes (c,) that can be taken off together, each with the one neighbour it has left, its parent, and their edge.

    Siblings are consecutive; ``siblings`` (f,) has where the children of each parent start.
    """

    children: IntArray
    parents: IntArray
    edges: IntArray
    siblings: IntArray


class Peeling(NamedTuple):
    """Levels of a forest in the order in which they come off, and the edges left: those of the loops.

    What is deeper than the allowed number of levels is one last level whose nodes go one after the other (``chain``),
    where numba is installed.
    """

    levels: tuple[Level, ...]
    chain: Level
    loop_edges: IntArray


def peel(n_nodes: int, ends: IntArray, *, max_levels: int = MAX_LEVELS) -> Peeling:
    """Take off nodes with one neighbour again and again; what is left of a tree is one node, its root.

    ``ends`` (q, 2) are the nodes of each edge. ``max_levels`` limits the levels, where numba is installed.
    """
    first, second = ends.T
    numbers = np.arange(len(ends))
    degree = np.bincount(ends.ravel(), minlength=n_nodes)
    # Where one neighbour is left, the sum over neighbours is that neighbour, and the sum over edges that edge.
    neighbour, edge = np.zeros(n_nodes, dtype=np.int64), np.zeros(n_nodes, dtype=np.int64)
    for own, other in ((first, second), (second, first)):
        np.add.at(neighbour, own, other)
        np.add.at(edge, own, numbers)
    remaining = np.ones(len(ends), dtype=bool)
    levels: list[Level] = []
    leaves = np.flatnonzero(degree == 1)
    limit = max_levels if find_spec("numba") is not None else n_nodes
    while leaves.size and len(levels) < limit:
        parents = neighbour[leaves]
        # Two leaves that have each other left: the lower one stays, as the root.
        going = (degree[parents] > 1) | (leaves > parents)
        leaves, parents = leaves[going], parents[going]
        order = np.argsort(parents, kind="stable")
        leaves, parents = leaves[order], parents[order]
        levels.append(Level(leaves, parents, edge[leaves], np.flatnonzero(np.diff(parents, prepend=-1))))
        remaining[edge[leaves]] = False
        np.subtract.at(degree, parents, 1)
        np.subtract.at(neighbour, parents, leaves)
        np.subtract.at(edge, parents, edge[leaves])
        degree[leaves] = 0
        waiting = parents[levels[-1].siblings]
        leaves = waiting[degree[waiting] == 1]
    empty = leaves[:0]
    chain = Level(empty, empty, empty, empty)
    if leaves.size:
        children, parents, links = _compiled().peel(leaves, degree, neighbour, edge, remaining)
        chain = Level(children, parents, links, empty)
    return Peeling(tuple(levels), chain, np.flatnonzero(remaining))


def _compiled() -> Any:
    """Return the loops for long chains; numba is imported only where they are needed."""
    return import_module("sidelight.couplings.link_graph.exact.compiled")


class Forest(NamedTuple):
    """Trees that hang on roots or on loops.

    Parameters
    ----------
    nodes : (f,)
        The nodes of the trees and of the loops; all other fields number them by their places here.
    levels, chain : tuple of Level, Level
        Leaves first, and the nodes above the levels, which go one after the other.
    roots : (r,)
        Roots of the trees that hang on no loop.
    edges, log_equal, log_different : (q,)
        Numbers in the graph of the edges that the levels refer to, and their log potentials.
    """

    nodes: IntArray
    levels: tuple[Level, ...]
    chain: Level
    roots: IntArray
    edges: IntArray
    log_equal: FloatArray
    log_different: FloatArray

    def links(self, level: Level) -> tuple[FloatArray, FloatArray]:
        """Return the log potentials (c,) of the edges of a level."""
        return self.log_equal[level.edges], self.log_different[level.edges]


class UpwardPass(NamedTuple):
    """Log scores (f, classes) of the nodes given their subtrees, messages of each level, and the log of their scale.

    The messages of the chain come last.
    """

    scores: FloatArray
    messages: list[FloatArray]
    log_scale: float


def pass_upward(forest: Forest, scores: FloatArray, message: Message) -> UpwardPass:
    """Collect the messages of the trees, leaves first; ``message`` is `summed` or `maximal`."""
    gathered = scores[forest.nodes]
    messages = []
    log_scale = 0.0
    for level in forest.levels:
        sent = message(gathered[level.children], *forest.links(level))
        # Scaled, so that scores stay of the size of a neighbourhood's however deep the tree.
        largest = finite(sent.max(axis=1))
        sent -= largest[:, None]
        log_scale += float(largest.sum())
        gathered[level.parents[level.siblings]] += np.add.reduceat(sent, level.siblings, axis=0)
        messages.append(sent)
    chain = forest.chain
    messages.append(np.empty((len(chain.children), scores.shape[1])))
    if chain.children.size:
        ends, links = (chain.children, chain.parents), forest.links(chain)
        log_scale += _compiled().pass_upward(*ends, *links, message is summed, gathered, messages[-1])
    return UpwardPass(gathered, messages, log_scale)


def pass_downward(forest: Forest, upward: UpwardPass, beliefs: FloatArray, same: FloatArray) -> None:
    """Fill in the log marginals (f, classes) of the nodes below those that have them, and ``same`` (q,)."""
    chain = forest.chain
    if chain.children.size:
        equal = np.empty(len(chain.children))
        ends, links = (chain.children, chain.parents), forest.links(chain)
        _compiled().pass_downward(*ends, *links, upward.scores, upward.messages[-1], beliefs, equal)
        same[chain.edges] = equal
    for level, sent in zip(reversed(forest.levels), reversed(upward.messages[:-1]), strict=True):
        log_equal, log_different = forest.links(level)
        above = quotient(beliefs[level.parents], sent)
        own = upward.scores[level.children]
        joint = own + summed(above, log_equal, log_different)
        log_total = log_sum(joint)
        beliefs[level.children] = joint - log_total[:, None]
        same[level.edges] = np.exp(log_sum(own + above) + log_equal - log_total)


def cavities_of_trees(
    forest: Forest, upward: UpwardPass, beliefs: FloatArray
) -> tuple[IntArray, FloatArray, FloatArray]:
    """Return the edges, and the log scores of their first and second ends, the lower node first, without the edge."""
    levels = (*forest.levels, forest.chain)
    children = np.concatenate([level.children for level in levels])
    parents = np.concatenate([level.parents for level in levels])
    edges = np.concatenate([level.edges for level in levels])
    below, above = upward.scores[children], quotient(beliefs[parents], np.concatenate(upward.messages))
    turned = (forest.nodes[children] > forest.nodes[parents])[:, None]
    return forest.edges[edges], np.where(turned, above, below), np.where(turned, below, above)


def decide_downward(forest: Forest, upward: UpwardPass, classes: IntArray) -> None:
    """Fill in the most probable classes (f,) of the nodes given those of the nodes they hang on."""
    chain = forest.chain
    if chain.children.size:
        _compiled().decide_downward(chain.children, chain.parents, *forest.links(chain), upward.scores, classes)
    for level in reversed(forest.levels):
        given = classes[level.parents]
        classes[level.children] = best_given(upward.scores[level.children], given, *forest.links(level))
