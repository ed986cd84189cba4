"""Belief propagation on the trees of a graph, exact in two passes, level by level.

The pass upward gathers what each tree says about the node it hangs on: a root, or a node of a loop. The pass downward
tells every node what the rest of the graph says about it.
"""

from importlib import import_module
from typing import NamedTuple

import numpy as np

from sidelight._typing import FloatArray, IntArray
from sidelight.couplings.link_graph.exact.messages import Message, summed
from sidelight.couplings.link_graph.exact.pairs import best_given
from sidelight.couplings.link_graph.exact.peeling import Level
from sidelight.kernels.logspace import finite, log_sum, quotient


class Forest(NamedTuple):
    """Trees that hang on roots or on loops.

    Parameters
    ----------
    nodes : (f,)
        The nodes of the trees and of the loops; the rest of this is in places among them.
    levels : tuple of Level
        Leaves first.
    chain : Level
        Nodes above the levels, which go one after the other.
    roots : (r,)
        Roots of the trees that hang on no loop.
    edges : (q,)
        Numbers of the edges that the levels speak of.
    log_equal, log_different : (q,)
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


class Upward(NamedTuple):
    """Log scores (f, classes) of the nodes given their subtrees, messages of each level, and what was scaled away.

    The messages of the chain come last.
    """

    scores: FloatArray
    messages: list[FloatArray]
    log_scale: float


def pass_upward(forest: Forest, scores: FloatArray, message: Message) -> Upward:
    """Gather what the trees say, leaves first; ``message`` is `summed` or `maximal`."""
    gathered = scores[forest.nodes]
    messages = []
    log_scale = 0.0
    for level in forest.levels:
        told = message(gathered[level.children], *forest.links(level))
        # Scaled, so that scores stay of the size of a neighbourhood's however deep the tree.
        largest = finite(told.max(axis=1))
        told -= largest[:, None]
        log_scale += float(largest.sum())
        gathered[level.parents[level.families]] += np.add.reduceat(told, level.families, axis=0)
        messages.append(told)
    chain = forest.chain
    messages.append(np.empty((len(chain.children), scores.shape[1])))
    if chain.children.size:
        one_by_one = import_module("sidelight.couplings.link_graph.exact.compiled").pass_upward
        ends, links = (chain.children, chain.parents), forest.links(chain)
        log_scale += one_by_one(*ends, *links, message is summed, gathered, messages[-1])
    return Upward(gathered, messages, log_scale)


def pass_downward(forest: Forest, upward: Upward, beliefs: FloatArray, same: FloatArray) -> None:
    """Fill in the log marginals (f, classes) of the trees' nodes below those that are there, and ``same`` (q,)."""
    chain = forest.chain
    if chain.children.size:
        one_by_one = import_module("sidelight.couplings.link_graph.exact.compiled").pass_downward
        equal = np.empty(len(chain.children))
        ends, links = (chain.children, chain.parents), forest.links(chain)
        one_by_one(*ends, *links, upward.scores, upward.messages[-1], beliefs, equal)
        same[chain.edges] = equal
    for level, told in zip(reversed(forest.levels), reversed(upward.messages[:-1]), strict=True):
        log_equal, log_different = forest.links(level)
        above = quotient(beliefs[level.parents], told)
        own = upward.scores[level.children]
        joint = own + summed(above, log_equal, log_different)
        log_total = log_sum(joint)
        beliefs[level.children] = joint - log_total[:, None]
        same[level.edges] = np.exp(log_sum(own + above) + log_equal - log_total)


def cavities_of_trees(forest: Forest, upward: Upward, beliefs: FloatArray) -> tuple[IntArray, FloatArray, FloatArray]:
    """Return the edges, and the log scores of their first and second ends, the lower node first, without the edge."""
    levels = (*forest.levels, forest.chain)
    children = np.concatenate([level.children for level in levels])
    parents = np.concatenate([level.parents for level in levels])
    edges = np.concatenate([level.edges for level in levels])
    below, above = upward.scores[children], quotient(beliefs[parents], np.concatenate(upward.messages))
    turned = (forest.nodes[children] > forest.nodes[parents])[:, None]
    return forest.edges[edges], np.where(turned, above, below), np.where(turned, below, above)


def decide_downward(forest: Forest, upward: Upward, classes: IntArray) -> None:
    """Fill in the most probable classes (f,) of the trees' nodes given those of the nodes they hang on."""
    chain = forest.chain
    if chain.children.size:
        one_by_one = import_module("sidelight.couplings.link_graph.exact.compiled").decide_downward
        one_by_one(chain.children, chain.parents, *forest.links(chain), upward.scores, classes)
    for level in reversed(forest.levels):
        given = classes[level.parents]
        classes[level.children] = best_given(upward.scores[level.children], given, *forest.links(level))
