"""Trees and loops of a plan by compiled loops, in place in the array of marginals: for graphs with many links.

The order of the nodes and the places of the messages are found once, with the plan. Memory is linear in the number of
links: the marginals, a message per link of a tree, and two per link of a large loop.
"""

from dataclasses import dataclass
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np

from sidelight._typing import AnyArray, BoolArray, FloatArray, IntArray
from sidelight.couplings.link_graph.belief_propagation import DAMPING, MAX_SWEEPS, PATIENCE, LoopyGraph
from sidelight.couplings.link_graph.exact.elimination import Batch, infer_batch
from sidelight.couplings.link_graph.exact.trees import Forest
from sidelight.kernels.loops import log_sum, worth_compiling

# Loading the compiled form takes about a second; NumPy needs about 50 ns more per score.
_SCORES_WORTH_COMPILING = 20_000_000
# The largest relative change of messages that have converged. The Bethe estimate is stationary in them.
_TOLERANCE = 1e-4
# How far messages may spread the classes of a node, in nats, before they are added up in logarithms.
_MOST_SPREAD = 250.0


class Slots(NamedTuple):
    """Where messages into the nodes of large loops are: those into a node are consecutive.

    Parameters
    ----------
    nodes : (l,)
        Nodes of the graph.
    starts : (l + 1,)
        Where the slots of each node start.
    neighbours, reverse, edges, excess : (2q,)
        For each slot the neighbour, as a place in ``nodes``, the slot of the message the other way, the number of the
        edge, and equal / different − 1 of its potentials.
    heavy : (l,)
        Nodes whose messages span more than a double does.
    log_different : float
        Sum of the log potentials of different classes.
    """

    nodes: IntArray
    starts: IntArray
    neighbours: IntArray
    reverse: IntArray
    edges: IntArray
    excess: FloatArray
    heavy: BoolArray
    log_different: float

    @classmethod
    def of(cls, loopy: LoopyGraph, nodes: IntArray, edges: IntArray) -> "Slots":
        """Give the messages of large loops their places; ``nodes`` and ``edges`` are those of the forest."""
        q, n_nodes = len(loopy.edges), len(loopy.nodes)
        own = np.concatenate([loopy.ends[:, 0], loopy.ends[:, 1]])
        order = np.argsort(own, kind="stable")
        slot = np.empty(2 * q, dtype=np.int64)
        slot[order] = np.arange(2 * q)
        other = np.roll(np.arange(2 * q), q)[order]
        log_equal, log_different = loopy.softened
        bonus = log_equal - log_different
        starts = np.searchsorted(own[order], np.arange(n_nodes + 1))
        return cls(
            nodes[loopy.nodes],
            starts,
            own[other],
            slot[other],
            edges[loopy.edges][order % q],
            np.expm1(bonus)[order % q],
            np.bincount(own, np.tile(np.abs(bonus), 2), n_nodes) > _MOST_SPREAD,
            float(log_different.sum()),
        )


@dataclass(frozen=True, eq=False)
class InPlace:
    """Trees and loops, in the numbers of the graph.

    Parameters
    ----------
    nodes, roots : (f,), (r,)
        All nodes, and the roots of trees that hang on no loop.
    children, parents, edges : (c,)
        Nodes of trees with their parents and the edges to them, leaves first.
    log_equal, log_different : (c,)
        Log potentials of these edges.
    batches : tuple of Batch
    slots : Slots or None
    """

    nodes: IntArray
    roots: IntArray
    children: IntArray
    parents: IntArray
    edges: IntArray
    log_equal: FloatArray
    log_different: FloatArray
    batches: tuple[Batch, ...]
    slots: Slots | None

    @classmethod
    def of(cls, forest: Forest, batches: tuple[Batch, ...], loopy: LoopyGraph | None) -> "InPlace":
        """Return the order in which the nodes of a forest and its loops are visited."""
        levels = (*forest.levels, forest.chain)
        edges = np.concatenate([level.edges for level in levels])
        moved = tuple(
            batch._replace(nodes=forest.nodes[batch.nodes], edges=forest.edges[batch.edges]) for batch in batches
        )
        return cls(
            forest.nodes,
            forest.nodes[forest.roots],
            forest.nodes[np.concatenate([level.children for level in levels])],
            forest.nodes[np.concatenate([level.parents for level in levels])],
            forest.edges[edges],
            forest.log_equal[edges],
            forest.log_different[edges],
            moved,
            None if loopy is None else Slots.of(loopy, forest.nodes, forest.edges),
        )

    def infer(self, scores: FloatArray, messages: Any, marginals: FloatArray, same: FloatArray) -> tuple[float, Any]:
        """Write the marginals (nodes, classes) and ``same`` (edges,); return the log partition and the messages.

        The marginals may be written over the scores.
        """
        loops = _compiled()
        if marginals is not scores:
            loops.copy_rows(scores, self.nodes, marginals)
        sent = np.empty((len(self.children), scores.shape[1]))
        links = self.log_equal, self.log_different
        log_partition = loops.pass_upward(self.children, self.parents, *links, marginals, sent)
        at_roots = log_sum(marginals[self.roots])
        marginals[self.roots] -= at_roots[:, None]
        log_partition += float(at_roots.sum())
        for batch in self.batches:
            log_partition += infer_batch(batch, marginals, marginals, same)
        if self.slots is not None:
            messages = exchanged(self.slots, marginals, messages)
            log_partition += settled(self.slots, marginals, messages, same)
        loops.pass_downward(self.children, self.parents, self.edges, *links, marginals, sent, same)
        loops.exponentiate(marginals, self.nodes)
        return log_partition, messages


def exchanged(slots: Slots, scores: FloatArray, messages: AnyArray | None) -> AnyArray:
    """Return the messages (slots, classes) of belief propagation, from earlier ones where there are any."""
    places = (slots.nodes, slots.starts, slots.neighbours, slots.reverse, slots.excess, slots.heavy)
    shape = (len(slots.edges), scores.shape[1])
    messages = np.ones(shape, dtype=np.float32) if messages is None else messages.copy()
    waiting = np.ones(len(slots.nodes), dtype=bool)
    change, earlier, damping = np.inf, np.inf, 0.0
    for sweep in range(1, MAX_SWEEPS + 1):
        change = _compiled().exchange(scores, *places, messages, waiting, damping, _TOLERANCE)
        if change <= _TOLERANCE:
            break
        if sweep % PATIENCE == 0:
            damping = DAMPING if change > earlier / 4 else damping
            earlier = change
    return messages


def settled(slots: Slots, scores: FloatArray, messages: AnyArray, same: FloatArray) -> float:
    """Turn the scores of the nodes of large loops into log beliefs, write ``same``; return the Bethe estimate."""
    loops = _compiled()
    at_nodes = loops.settle(scores, slots.nodes, slots.starts, slots.heavy, messages)
    places = (slots.nodes, slots.starts, slots.neighbours, slots.reverse, slots.edges, slots.excess)
    return float(at_nodes + slots.log_different + loops.between(scores, *places, messages, same))


def is_worth_compiling(n_scores: int) -> bool:
    """Say whether the compiled form is quicker for about ``n_scores`` scores in all."""
    return worth_compiling(n_scores, _SCORES_WORTH_COMPILING)


def _compiled() -> Any:
    return import_module("sidelight.couplings.link_graph.compiled")
