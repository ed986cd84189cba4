"""Parts of a link graph that are summed directly: nodes without links, single links, and what certain links fix.

Nodes and links that share no node with another are taken all at once, block after block. Exponentials are taken once
per score, (classes, pairs) at a time so that the loops run along pairs; what a link adds is a sum over the other
classes, as in Yu et al. (2015, eq. 14). Pairs in which all but one class underflow at both ends are computed again in
log space.

With two classes, certain links leave one choice to all the nodes they connect: a node of a connected component has the
class of its first node or the other one, so the component is one node with two classes, and uncertain links become
links between components.
"""

from collections.abc import Callable
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from sidelight._typing import AnyArray, FloatArray, IntArray
from sidelight.couplings.link_graph.exact.trees import best_given, maximal, summed
from sidelight.couplings.link_graph.problem import LinkProblem, merge
from sidelight.kernels.loops import log_sum, shares, worth_compiling

# Scores of a block at each end: fewer spend the time between the loops, more leave the cache.
_BLOCK_SCORES = 60_000
_BLOCK_NODES = 4096
_TINY = 1e-200
# Loading the compiled form takes about a second; NumPy needs about 15 ns more per score.
_SCORES_WORTH_COMPILING = 60_000_000


class Pairs(NamedTuple):
    """Single links: the nodes they join (p, 2), their log potentials (p,), and their numbers (p,) among the edges."""

    ends: IntArray
    log_equal: FloatArray
    log_different: FloatArray
    edges: IntArray


class PairTotals(NamedTuple):
    """Log partition (p,) of each pair, and the probability (p,) that its ends are equal."""

    log_partition: FloatArray
    same: FloatArray


class PairBackend(NamedTuple):
    """The sums over single nodes and pairs, `infer_singles` and `infer_pairs`, in NumPy or compiled."""

    singles: Callable[[IntArray, FloatArray, FloatArray], float]
    pairs: Callable[[Pairs, FloatArray, FloatArray], PairTotals]


def pair_backend_for(n_scores: int) -> PairBackend:
    """Return the form that is quicker for about ``n_scores`` scores in all."""
    return COMPILED if worth_compiling(n_scores, _SCORES_WORTH_COMPILING) else NUMPY


def infer_singles(nodes: IntArray, scores: FloatArray, marginals: FloatArray) -> float:
    """Write the marginals (nodes, classes) of nodes without links; return their log partition."""
    log_partition = 0.0
    for start in range(0, len(nodes), _BLOCK_NODES):
        block = nodes[start : start + _BLOCK_NODES]
        marginals[block], log_totals = shares(scores[block])
        log_partition += float(log_totals.sum())
    return log_partition


def infer_pairs(pairs: Pairs, scores: FloatArray, marginals: FloatArray) -> PairTotals:
    """Write the marginals (nodes, classes) of the pairs' nodes; return the totals of the pairs."""
    n, n_classes = len(pairs.ends), scores.shape[1]
    found = PairTotals(np.empty(n), np.zeros(n))
    scale = np.maximum(pairs.log_equal, pairs.log_different)
    equal, different = np.exp(pairs.log_equal - scale), np.exp(pairs.log_different - scale)
    block_pairs = min(n, _BLOCK_SCORES // n_classes + 1)
    rows = np.empty((block_pairs, n_classes))
    buffers = np.empty((3, n_classes * block_pairs))
    for start in range(0, n, max(block_pairs, 1)):
        block = slice(start, min(start + block_pairs, n))
        size = block.stop - start
        first, second, weights = (buffer[: n_classes * size].reshape(n_classes, size) for buffer in buffers)
        ends = pairs.ends[block]
        top_first = _load(scores, ends[:, 0], rows[:size], first)
        top_second = _load(scores, ends[:, 1], rows[:size], second)
        beyond_first, beyond_second = _beyond_one(first), _beyond_one(second)

        soft = equal[block].any()
        if soft:
            found.same[block] = equal[block] * np.einsum("cp,cp->p", first, second)
        _weigh(second, beyond_second, equal[block] if soft else None, different[block], weights)
        weights *= first
        total = weights.sum(axis=0)
        underflow = np.flatnonzero(total < _TINY)
        safe = np.where(total < _TINY, 1.0, total)
        weights *= 1.0 / safe
        marginals[ends[:, 0]] = weights.T
        _weigh(first, beyond_first, equal[block] if soft else None, different[block], weights)
        weights *= second
        weights *= 1.0 / np.where(total < _TINY, 1.0, weights.sum(axis=0))
        marginals[ends[:, 1]] = weights.T
        found.same[block] /= safe
        found.log_partition[block] = np.log(safe) + top_first + top_second + scale[block]
        if underflow.size:
            _in_log_space(pairs, start + underflow, scores, marginals, found)
    return found


def _load(scores: FloatArray, nodes: IntArray, rows: FloatArray, out: FloatArray) -> FloatArray:
    """Fill ``out`` (classes, pairs) with exponentials of the scores, the largest 1; return the largest scores."""
    np.take(scores, nodes, axis=0, out=rows, mode="clip")
    out[...] = rows.T
    largest = out.max(axis=0)
    out -= largest
    np.exp(out, out=out)
    return largest


def _beyond_one(exponentials: FloatArray) -> FloatArray:
    """Return the sum over all classes but the largest, whose exponential is 1, without subtracting it."""
    top, rest = exponentials[0].copy(), np.zeros(exponentials.shape[1])
    lower = np.empty_like(top)
    for row in exponentials[1:]:
        rest += np.minimum(top, row, out=lower)
        np.maximum(top, row, out=top)
    return rest


def _weigh(
    exponentials: FloatArray, beyond: FloatArray, equal: FloatArray | None, different: FloatArray, out: FloatArray
) -> None:
    """Fill ``out`` with the message of one end to each class of the other: equal classes, and different ones."""
    np.subtract(1.0, exponentials, out=out)
    out += beyond
    out *= different
    if equal is not None:
        out += equal * exponentials


def _in_log_space(pairs: Pairs, which: IntArray, scores: FloatArray, marginals: FloatArray, found: PairTotals) -> None:
    first, second = pairs.ends[which].T
    log_equal, log_different = pairs.log_equal[which], pairs.log_different[which]
    for own, other in ((first, second), (second, first)):
        joint = scores[own] + summed(scores[other], log_equal, log_different)
        log_total = log_sum(joint)
        marginals[own] = np.exp(joint - log_total[:, None])
    found.log_partition[which] = log_total
    found.same[which] = np.exp(log_sum(scores[first] + scores[second]) + log_equal - log_total)


def _infer_singles_compiled(nodes: IntArray, scores: FloatArray, marginals: FloatArray) -> float:
    loops = import_module("sidelight.kernels.link_pairs")
    log_partition: float = loops.infer_singles(nodes, _in_order(scores), marginals)
    return log_partition


def _infer_pairs_compiled(pairs: Pairs, scores: FloatArray, marginals: FloatArray) -> PairTotals:
    loops = import_module("sidelight.kernels.link_pairs")
    found = PairTotals(np.empty(len(pairs.ends)), np.empty(len(pairs.ends)))
    links = (pairs.ends, pairs.log_equal, pairs.log_different)
    if loops.infer_pairs(*links, _in_order(scores), _TINY, marginals, *found):
        _in_log_space(pairs, np.flatnonzero(np.isneginf(found.log_partition)), scores, marginals, found)
    return found


def _in_order(scores: FloatArray) -> FloatArray:
    """Return one layout and type for the compiled loops, which would else be compiled again for each."""
    return np.require(scores, np.float64, ["C", "W"])


NUMPY = PairBackend(infer_singles, infer_pairs)
COMPILED = PairBackend(_infer_singles_compiled, _infer_pairs_compiled)


def decide_pairs(pairs: Pairs, scores: FloatArray, classes: IntArray) -> None:
    """Write the most probable classes of the pairs' nodes."""
    first, second = pairs.ends.T
    best = scores[second] + maximal(scores[first], pairs.log_equal, pairs.log_different)
    classes[second] = best.argmax(axis=1)
    classes[first] = best_given(scores[first], classes[second], pairs.log_equal, pairs.log_different)


class Contraction(NamedTuple):
    """Nodes of a problem with two classes, divided into groups whose members determine each other's class.

    ``graph`` has the groups and the links between them, ``groups`` (g,) the group of each node.

    Parameters
    ----------
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

    def gather(self, unary: FloatArray) -> FloatArray:
        """Return the scores (groups, 2) that those of the nodes add up to."""
        own = np.where(self.flipped, unary[:, 1], unary[:, 0])
        other = np.where(self.flipped, unary[:, 0], unary[:, 1])
        n_groups = self.graph.n_nodes
        return np.column_stack([np.bincount(self.groups, part, n_groups) for part in (own, other)])

    def spread_shares(self, shares: FloatArray) -> FloatArray:
        """Return the shares (nodes, 2) from those of the groups."""
        own = shares[self.groups]
        return np.where(self.flipped[:, None], own[:, ::-1], own)

    def spread_classes(self, classes: IntArray) -> IntArray:
        """Return the classes of the nodes from those of the groups."""
        return classes[self.groups] ^ self.flipped

    def spread_pairs(self, pairs: FloatArray, node_shares: FloatArray, edges: IntArray) -> FloatArray:
        """Return pair marginals (edges, 2, 2) of the nodes from those of edges between groups and of the nodes."""
        first, second = edges.T
        out = np.zeros((len(edges), 2, 2))
        outside = self.edges >= 0
        inside = np.flatnonzero(~outside)
        for c in range(2):
            out[inside, c, c ^ self.swapped[inside]] = node_shares[first[inside], c]
        between = pairs[self.edges[outside]]
        # Merging put the lower group first.
        turned = self.groups[first[outside]] > self.groups[second[outside]]
        between = np.where(turned[:, None, None], between.swapaxes(1, 2), between)
        between = np.where(self.flipped[first[outside], None, None], between[:, ::-1], between)
        out[outside] = np.where(self.flipped[second[outside], None, None], between[:, :, ::-1], between)
        return out

    def spread_same(self, same: FloatArray) -> FloatArray:
        """Return the probability that the ends of each edge are equal from that of the edges between groups."""
        inside = self.edges < 0
        equal: AnyArray = np.where(inside, 1.0, 0.0)
        equal[~inside] = same[self.edges[~inside]]
        return np.where(self.swapped == 1, 1.0 - equal, equal)


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
