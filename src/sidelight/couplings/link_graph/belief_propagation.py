"""Large loops approximately: damped loopy belief propagation, with the Bethe free energy as log partition.

A forbidden pair of classes is only made improbable here, by a factor of 1000: messages of zero and one do not recover
from a wrong turn. Mean field would be cheaper, but has large errors where links repel.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array

from sidelight._typing import FloatArray, IntArray
from sidelight.couplings.link_graph.exact.elimination import Loop
from sidelight.couplings.link_graph.exact.trees import Message, maximal
from sidelight.graphs.colouring import OutOfBudgetError, UncolourableError, colour, neighbour_lists
from sidelight.kernels.loops import log_sum, shares

SOFTENING = 1e-3
# Damping: the share of an old message, in the logarithm, that is kept once messages do not converge within some sweeps.
DAMPING, PATIENCE = 0.4, 12
MAX_SWEEPS = 300
TOLERANCE = 1e-5
_BLOCK_LINKS = 2048
_MAX_TRIES = 100_000


@dataclass(frozen=True, eq=False)
class LoopyGraph:
    """A graph with loops too large for exact inference.

    ``nodes`` (l,) are the places of its nodes in the arrays of scores and beliefs, ``ends`` (q, 2) places among them,
    ``edges`` (q,) the numbers of its edges. Log potentials (q,) are as stated; -inf is softened on the way.
    """

    nodes: IntArray
    ends: IntArray
    edges: IntArray
    log_equal: FloatArray
    log_different: FloatArray

    @classmethod
    def of(cls, loops: list[Loop], log_equal: FloatArray, log_different: FloatArray) -> "LoopyGraph":
        """Return several loops as one graph, from the log potentials of all edges."""
        before = np.cumsum([0] + [len(loop.nodes) for loop in loops])
        edges = np.concatenate([loop.edges for loop in loops])
        ends = np.concatenate([loop.ends + start for loop, start in zip(loops, before[:-1].tolist(), strict=True)])
        nodes = np.concatenate([loop.nodes for loop in loops])
        return cls(nodes, ends, edges, log_equal[edges], log_different[edges])

    @cached_property
    def softened(self) -> tuple[FloatArray, FloatArray]:
        """Log potentials (q,) of equal and different classes without forbidden pairs."""
        least = np.maximum(self.log_equal, self.log_different) + np.log(SOFTENING)
        equal = np.where(np.isneginf(self.log_equal), least, self.log_equal)
        return equal, np.where(np.isneginf(self.log_different), least, self.log_different)

    @cached_property
    def incidence(self) -> tuple["csr_array[Any]", "csr_array[Any]"]:
        """Sums (nodes, q) over the edges whose first, and whose second end a node is."""
        n, q = len(self.nodes), len(self.edges)
        ones, numbers = np.ones(q), np.arange(q)
        first, second = (csr_array((ones, (end, numbers)), shape=(n, q)) for end in self.ends.T)
        return first, second


class Messages(NamedTuple):
    """Log messages (q, classes) to the first and to the second end of each edge, up to a constant for each."""

    to_first: FloatArray
    to_second: FloatArray


class Propagation(NamedTuple):
    """Normalised log beliefs (l, classes), the messages behind them, sweeps taken, and whether messages converged."""

    beliefs: FloatArray
    messages: Messages
    n_sweeps: int
    converged: bool


def propagate(graph: LoopyGraph, scores: FloatArray, messages: Messages | None, message: Message) -> Propagation:
    """Exchange messages, from uniform ones where there are none, until they converge.

    ``scores`` (l, classes) are the log scores of the nodes; ``message`` is `sum_product` or `max_product`, and may
    overwrite the scores it is given.
    """
    n_links, n_classes = len(graph.edges), scores.shape[1]
    if messages is None:
        messages = Messages(np.zeros((n_links, n_classes)), np.zeros((n_links, n_classes)))
    else:
        messages = Messages(messages.to_first.copy(), messages.to_second.copy())
    sweep, change, earlier, damping = 0, np.inf, np.inf, 0.0
    while sweep < MAX_SWEEPS and change > TOLERANCE:
        totals = _totals(graph, scores, messages)
        totals -= totals.max(axis=1, keepdims=True)
        change = _sweep(graph, totals, messages, message, damping)
        sweep += 1
        if sweep % PATIENCE == 0:
            # Large sparse graphs converge soonest undamped; loops that oscillate need damping.
            damping = DAMPING if change > earlier / 4 else damping
            earlier = change
    totals = _totals(graph, scores, messages)
    return Propagation(totals - log_sum(totals)[:, None], messages, sweep, change <= TOLERANCE)


def _totals(graph: LoopyGraph, scores: FloatArray, messages: Messages) -> FloatArray:
    first, second = graph.incidence
    totals = first @ messages.to_first
    totals += second @ messages.to_second
    totals += scores
    return totals


def _sweep(graph: LoopyGraph, totals: FloatArray, messages: Messages, message: Message, damping: float) -> float:
    """Update all messages in place; return their largest change."""
    change = 0.0
    log_equal, log_different = graph.softened
    for start in range(0, len(graph.edges), _BLOCK_LINKS):
        block = slice(start, start + _BLOCK_LINKS)
        first, second = graph.ends[block].T
        to_first, to_second = messages.to_first[block], messages.to_second[block]
        from_first = message(totals[first] - to_first, log_equal[block], log_different[block])
        from_second = message(totals[second] - to_second, log_equal[block], log_different[block])
        for old, new in ((to_second, from_first), (to_first, from_second)):
            new -= old
            change = max(change, float(np.abs(new).max()))
            new *= 1.0 - damping
            old += new
    return change


def sum_product(scores: FloatArray, log_equal: FloatArray, log_different: FloatArray) -> FloatArray:
    """Return the messages of :func:`summed` up to a constant for each, where no pair is forbidden.

    With shares p of the classes they are ln(1 + (equal / different − 1) p), which needs no scaling. Nor do the scores:
    the largest total of a node is zero, and what a single link adds to it is bounded.
    """
    p = np.exp(scores, out=scores)
    p *= (np.expm1(log_equal - log_different) / (p @ np.ones(p.shape[1])))[:, None]
    p += 1.0
    return np.log(p, out=p)


def max_product(scores: FloatArray, log_equal: FloatArray, log_different: FloatArray) -> FloatArray:
    """Return the messages of :func:`maximal`, the largest of each zero."""
    messages = maximal(scores, log_equal, log_different)
    messages -= messages.max(axis=1, keepdims=True)
    return messages


def bethe(graph: LoopyGraph, scores: FloatArray, found: Propagation) -> tuple[float, FloatArray]:
    """Return the Bethe estimate of ln Z, and the probability (q,) that the ends of each edge are equal."""
    log_equal, log_different = graph.softened
    log_partition = float(log_sum(_totals(graph, scores, found.messages)).sum())
    same = np.empty(len(graph.edges))
    for start in range(0, len(graph.edges), _BLOCK_LINKS):
        block = slice(start, start + _BLOCK_LINKS)
        first, second = cavities(graph, found, block)
        together = np.exp(log_equal[block]) * np.einsum("pc,pc->p", first, second)
        apart = np.exp(log_different[block]) * (1.0 - np.einsum("pc,pc->p", first, second))
        same[block] = together / (together + apart)
        log_partition += float(np.log(together + apart).sum())
        for cavity, sent in ((first, found.messages.to_first[block]), (second, found.messages.to_second[block])):
            log_partition -= float(np.log(np.einsum("pc,pc->p", cavity, np.exp(sent))).sum())
    return log_partition, same


def cavities(graph: LoopyGraph, found: Propagation, block: slice) -> tuple[FloatArray, FloatArray]:
    """Return the shares (links, classes) of both ends of some edges without the message along the edge."""
    first, second = graph.ends[block].T
    to_first, to_second = found.messages
    return shares(found.beliefs[first] - to_first[block])[0], shares(found.beliefs[second] - to_second[block])[0]


def decide(graph: LoopyGraph, scores: FloatArray) -> IntArray:
    """Return the classes (l,) that max-product prefers, improved node by node until no single change pays.

    A forbidden pair costs more than any gain, so changes first resolve forbidden pairs. Where single changes cannot,
    they start again from a colouring of the certain cannot-links, if one is found.
    """
    beliefs = propagate(graph, scores, None, max_product).beliefs
    classes = improve(graph, scores, beliefs.argmax(axis=1))
    if not _breaks_certain_links(graph, classes):
        return classes
    apart = graph.ends[np.isneginf(graph.log_equal)]
    try:
        start = colour(neighbour_lists(apart, len(scores)), -beliefs, max_tries=_MAX_TRIES)
    except (OutOfBudgetError, UncolourableError):
        return classes
    return improve(graph, scores, start)


def _breaks_certain_links(graph: LoopyGraph, classes: IntArray) -> bool:
    equal = classes[graph.ends[:, 0]] == classes[graph.ends[:, 1]]
    return bool(np.isneginf(np.where(equal, graph.log_equal, graph.log_different)).any())


def improve(graph: LoopyGraph, scores: FloatArray, classes: IntArray) -> IntArray:
    """Change the classes of nodes as long as that pays; of neighbours, only the one that gains most changes at once."""
    n, n_classes = scores.shape
    classes = classes.copy()
    everyone = np.arange(n)
    first, second = graph.ends.T
    own, other = np.concatenate([first, second]), np.concatenate([second, first])
    pair_price, class_price = _prices(graph, scores)
    log_equal = np.where(np.isneginf(graph.log_equal), -pair_price, graph.log_equal)
    log_different = np.where(np.isneginf(graph.log_different), -pair_price, graph.log_different)
    bonus = np.tile(log_equal - log_different, 2)
    possible = np.where(np.isneginf(scores), -class_price, scores)
    while True:
        worth = possible + csr_array((bonus, (own, classes[other])), shape=(n, n_classes)).toarray()
        best = worth.argmax(axis=1)
        gain = worth[everyone, best] - worth[everyone, classes]
        # Ties between neighbours go to the lower one, so that one of them does change.
        rank = np.empty(n, dtype=np.int64)
        rank[np.lexsort((-everyone, gain))] = everyone
        outdone = np.zeros(n, dtype=bool)
        outdone[np.where(rank[first] < rank[second], first, second)] = True
        changing = np.flatnonzero((gain > 1e-12 * class_price) & ~outdone)
        if not changing.size:
            return classes
        classes[changing] = best[changing]


def _prices(graph: LoopyGraph, scores: FloatArray) -> tuple[float, float]:
    """Return the prices of a forbidden pair, above any other gain of a node, and of a forbidden class, above those."""
    allowed = np.where(np.isneginf(scores), 0.0, scores)
    spread = float((allowed.max(axis=1) - allowed.min(axis=1)).max(initial=0.0))
    weights = np.concatenate([graph.log_equal, graph.log_different])
    heaviest = float(np.abs(weights[np.isfinite(weights)]).max(initial=0.0))
    most = int(np.bincount(graph.ends.ravel()).max(initial=1))
    pair_price = 1.0 + spread + 2.0 * heaviest * most
    return pair_price, pair_price * (most + 2)
