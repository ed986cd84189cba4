"""Large loops approximately: damped belief propagation, with the Bethe free energy as log partition.

What links forbid is only made improbable here, by a factor of 1000: messages of zero and one do not come back from a
wrong turn. Mean field would be cheaper and is far off where links repel.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array

from sidelight._typing import FloatArray, IntArray
from sidelight.couplings.link_graph.exact.messages import Message, maximal
from sidelight.graphs.colouring import OutOfBudgetError, UncolourableError, colour, neighbour_lists
from sidelight.kernels.logspace import finite, log_sum

SOFTENING = 1e-3
# Share of an old message, in the logarithm, that is kept once messages do not settle by themselves within some sweeps.
_KEPT, _PATIENCE = 0.4, 12
_MOST_SWEEPS = 300
_TOLERANCE = 1e-5
_BLOCK_LINKS = 2048
_MOST_TRIES = 100_000


@dataclass(frozen=True, eq=False)
class Loops:
    """A graph with loops.

    Parameters
    ----------
    nodes : (l,)
        Places of its nodes in the arrays of scores and beliefs.
    ends : (q, 2)
        Places among ``nodes``.
    edges : (q,)
        Numbers of its edges.
    log_equal, log_different : (q,)
        As stated; what is forbidden is softened on the way.
    """

    nodes: IntArray
    ends: IntArray
    edges: IntArray
    log_equal: FloatArray
    log_different: FloatArray

    @cached_property
    def softened(self) -> tuple[FloatArray, FloatArray]:
        """Log potentials (q,) of equal and different classes with nothing forbidden."""
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
    """Where belief propagation ended: log beliefs (l, classes), normalised; messages; sweeps; whether it settled."""

    beliefs: FloatArray
    messages: Messages
    n_sweeps: int
    settled: bool


def propagate(loops: Loops, scores: FloatArray, messages: Messages | None, tell: Message) -> Propagation:
    """Exchange messages until they settle.

    Parameters
    ----------
    loops : Loops
    scores : (l, classes)
        Log scores of its nodes.
    messages : Messages, optional
        Where to start; silence where absent.
    tell : Message
        `probable` or `boldest`; may overwrite the scores it is given.
    """
    n_links, n_classes = len(loops.edges), scores.shape[1]
    if messages is None:
        messages = Messages(np.zeros((n_links, n_classes)), np.zeros((n_links, n_classes)))
    else:
        messages = Messages(messages.to_first.copy(), messages.to_second.copy())
    sweep, change, earlier, kept = 0, np.inf, np.inf, 0.0
    while sweep < _MOST_SWEEPS and change > _TOLERANCE:
        totals = _totals(loops, scores, messages)
        totals -= totals.max(axis=1, keepdims=True)
        change = _sweep(loops, totals, messages, tell, kept)
        sweep += 1
        if sweep % _PATIENCE == 0:
            # Large sparse graphs settle soonest undamped; loops that swing need damping.
            kept = _KEPT if change > earlier / 4 else kept
            earlier = change
    totals = _totals(loops, scores, messages)
    return Propagation(totals - log_sum(totals)[:, None], messages, sweep, change <= _TOLERANCE)


def _totals(loops: Loops, scores: FloatArray, messages: Messages) -> FloatArray:
    first, second = loops.incidence
    totals = first @ messages.to_first
    totals += second @ messages.to_second
    totals += scores
    return totals


def _sweep(loops: Loops, totals: FloatArray, messages: Messages, tell: Message, kept: float) -> float:
    """Renew all messages in place; return by how much the messages changed at most."""
    change = 0.0
    log_equal, log_different = loops.softened
    for start in range(0, len(loops.edges), _BLOCK_LINKS):
        block = slice(start, start + _BLOCK_LINKS)
        first, second = loops.ends[block].T
        to_first, to_second = messages.to_first[block], messages.to_second[block]
        from_first = tell(totals[first] - to_first, log_equal[block], log_different[block])
        from_second = tell(totals[second] - to_second, log_equal[block], log_different[block])
        for old, new in ((to_second, from_first), (to_first, from_second)):
            new -= old
            change = max(change, float(np.abs(new).max()))
            new *= 1.0 - kept
            old += new
    return change


def probable(scores: FloatArray, log_equal: FloatArray, log_different: FloatArray) -> FloatArray:
    """Return the messages of :func:`summed` up to a constant for each, where nothing is forbidden.

    With shares p of the classes they are ln(1 + (equal / different − 1) p), which needs no scaling. Nor do the scores:
    the largest total of a node is zero, and what a single link adds to it is bounded.
    """
    p = np.exp(scores, out=scores)
    p *= (np.expm1(log_equal - log_different) / (p @ np.ones(p.shape[1])))[:, None]
    p += 1.0
    return np.log(p, out=p)


def boldest(scores: FloatArray, log_equal: FloatArray, log_different: FloatArray) -> FloatArray:
    """Return the messages of :func:`maximal`, the largest of each zero."""
    messages = maximal(scores, log_equal, log_different)
    messages -= messages.max(axis=1, keepdims=True)
    return messages


def bethe(loops: Loops, scores: FloatArray, found: Propagation) -> tuple[float, FloatArray]:
    """Return the Bethe estimate of ln Z, and the probability (q,) that the ends of each edge are equal."""
    log_equal, log_different = loops.softened
    log_partition = float(log_sum(_totals(loops, scores, found.messages)).sum())
    same = np.empty(len(loops.edges))
    for start in range(0, len(loops.edges), _BLOCK_LINKS):
        block = slice(start, start + _BLOCK_LINKS)
        first, second = cavities(loops, found, block)
        together = np.exp(log_equal[block]) * np.einsum("pc,pc->p", first, second)
        apart = np.exp(log_different[block]) * (1.0 - np.einsum("pc,pc->p", first, second))
        same[block] = together / (together + apart)
        log_partition += float(np.log(together + apart).sum())
        for cavity, message in ((first, found.messages.to_first[block]), (second, found.messages.to_second[block])):
            log_partition -= float(np.log(np.einsum("pc,pc->p", cavity, np.exp(message))).sum())
    return log_partition, same


def cavities(loops: Loops, found: Propagation, block: slice) -> tuple[FloatArray, FloatArray]:
    """Return the shares (links, classes) of both ends of some edges without what the edge tells them."""
    first, second = loops.ends[block].T
    messages = found.messages
    return (
        _normalised(found.beliefs[first] - messages.to_first[block]),
        _normalised(found.beliefs[second] - messages.to_second[block]),
    )


def _normalised(scores: FloatArray) -> FloatArray:
    exponentials = np.exp(scores - finite(scores.max(axis=1, keepdims=True)))
    return exponentials / exponentials.sum(axis=1, keepdims=True)


def decide_loops(loops: Loops, scores: FloatArray) -> IntArray:
    """Return the classes (l,) that max-product prefers, improved node by node until no single change pays.

    A forbidden pair costs more than any gain, so changes first undo what is forbidden. Where single changes cannot,
    they start again from a colouring of the certain cannot-links, if one is found.
    """
    beliefs = propagate(loops, scores, None, boldest).beliefs
    classes = improve(loops, scores, beliefs.argmax(axis=1))
    if not _breaks_certain_links(loops, classes):
        return classes
    apart = loops.ends[np.isneginf(loops.log_equal)]
    try:
        start = colour(neighbour_lists(apart, len(scores)), -beliefs, max_tries=_MOST_TRIES)
    except (OutOfBudgetError, UncolourableError):
        return classes
    return improve(loops, scores, start)


def _breaks_certain_links(loops: Loops, classes: IntArray) -> bool:
    equal = classes[loops.ends[:, 0]] == classes[loops.ends[:, 1]]
    return bool(np.isneginf(np.where(equal, loops.log_equal, loops.log_different)).any())


def improve(loops: Loops, scores: FloatArray, classes: IntArray) -> IntArray:
    """Change the classes of nodes as long as that pays; of neighbours, only the one that gains most changes at once."""
    n, n_classes = scores.shape
    classes = classes.copy()
    everyone = np.arange(n)
    first, second = loops.ends.T
    own, other = np.concatenate([first, second]), np.concatenate([second, first])
    dear, dearest = _prices(loops, scores)
    log_equal = np.where(np.isneginf(loops.log_equal), -dear, loops.log_equal)
    log_different = np.where(np.isneginf(loops.log_different), -dear, loops.log_different)
    bonus = np.tile(log_equal - log_different, 2)
    possible = np.where(np.isneginf(scores), -dearest, scores)
    while True:
        worth = possible + csr_array((bonus, (own, classes[other])), shape=(n, n_classes)).toarray()
        best = worth.argmax(axis=1)
        gain = worth[everyone, best] - worth[everyone, classes]
        # Ties between neighbours go to the lower one, so that one of them does change.
        rank = np.empty(n, dtype=np.int64)
        rank[np.lexsort((-everyone, gain))] = everyone
        outdone = np.zeros(n, dtype=bool)
        outdone[np.where(rank[first] < rank[second], first, second)] = True
        changing = np.flatnonzero((gain > 1e-12 * dearest) & ~outdone)
        if not changing.size:
            return classes
        classes[changing] = best[changing]


def _prices(loops: Loops, scores: FloatArray) -> tuple[float, float]:
    """Return the prices of a forbidden pair, above any other gain of a node, and of a forbidden class, above those."""
    allowed = np.where(np.isneginf(scores), 0.0, scores)
    spread = float((allowed.max(axis=1) - allowed.min(axis=1)).max(initial=0.0))
    weights = np.concatenate([loops.log_equal, loops.log_different])
    heaviest = float(np.abs(weights[np.isfinite(weights)]).max(initial=0.0))
    most = int(np.bincount(loops.ends.ravel()).max(initial=1))
    dear = 1.0 + spread + 2.0 * heaviest * most
    return dear, dear * (most + 2)
