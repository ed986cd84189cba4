"""Long chains of links, node after node, compiled by numba; imported only where level by level would take too long.

Results equal those of :mod:`sidelight.couplings.link_graph.exact.trees` to rounding.
"""

import math

import numpy as np
from numba import njit

from sidelight._typing import BoolArray, FloatArray, IntArray


@njit(cache=True, nogil=True)
def peel(
    leaves: IntArray, degree: IntArray, neighbour: IntArray, edge: IntArray, remaining: BoolArray
) -> tuple[IntArray, IntArray, IntArray]:
    """Take leaves off one by one; see :func:`~.trees.peel`, whose sums these are."""
    n = len(degree)
    children, parents, edges = np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n, np.int64)
    waiting = np.empty(n, np.int64)
    count, last = 0, len(leaves)
    waiting[:last] = leaves
    place = 0
    while place < last:
        leaf = waiting[place]
        place += 1
        if degree[leaf] != 1:
            continue
        parent, link = neighbour[leaf], edge[leaf]
        children[count], parents[count], edges[count] = leaf, parent, link
        count += 1
        remaining[link] = False
        degree[leaf] = 0
        degree[parent] -= 1
        neighbour[parent] -= leaf
        edge[parent] -= link
        if degree[parent] == 1 and last < n:
            waiting[last] = parent
            last += 1
    return children[:count].copy(), parents[:count].copy(), edges[:count].copy()


@njit(cache=True, nogil=True, error_model="numpy")
def _summed(scores: FloatArray, log_equal: float, log_different: float, out: FloatArray) -> None:
    """Fill ``out`` with the message of :func:`sidelight.couplings.link_graph.exact.trees.summed` of one link."""
    m = len(scores)
    best = 0
    for c in range(1, m):
        if scores[c] > scores[best]:
            best = c
    second = -np.inf
    for c in range(m):
        if c != best:
            second = max(second, scores[c])
    rest = 0.0
    if second > -np.inf:
        for c in range(m):
            if c != best:
                rest += math.exp(scores[c] - second)
    log_rest = second + math.log(rest) if rest > 0.0 else -np.inf
    for c in range(m):
        if c == best:
            others = log_rest
        else:
            own = math.exp(scores[c] - scores[best])
            others = scores[best] + math.log(1.0 - own + math.exp(log_rest - scores[best]))
        low, high = others + log_different, scores[c] + log_equal
        if low > high:
            low, high = high, low
        out[c] = high + math.log1p(math.exp(low - high)) if low > -np.inf else high


@njit(cache=True, nogil=True, error_model="numpy")
def _log_sum(scores: FloatArray) -> float:
    largest = scores.max()
    if largest == -np.inf:
        return largest
    total = 0.0
    for score in scores:
        total += math.exp(score - largest)
    return largest + math.log(total)


@njit(cache=True, nogil=True)
def _maximal(scores: FloatArray, log_equal: float, log_different: float, out: FloatArray) -> None:
    """Fill ``out`` with the message of :func:`sidelight.couplings.link_graph.exact.trees.maximal` of one link."""
    best = scores.argmax()
    second = -np.inf
    for c in range(len(scores)):
        if c != best:
            second = max(second, scores[c])
    for c in range(len(scores)):
        others = second if c == best else scores[best]
        out[c] = max(others + log_different, scores[c] + log_equal)


@njit(cache=True, nogil=True, error_model="numpy")
def pass_upward(
    children: IntArray,
    parents: IntArray,
    log_equal: FloatArray,
    log_different: FloatArray,
    summing: bool,
    gathered: FloatArray,
    messages: FloatArray,
) -> float:
    """Add to ``gathered`` the messages of children to their parents, in order; return the log of their scale.

    Messages are those of :func:`~.trees.summed` or, where not summing, of ``maximal``.
    """
    log_scale = 0.0
    for i in range(len(children)):
        if summing:
            _summed(gathered[children[i]], log_equal[i], log_different[i], messages[i])
        else:
            _maximal(gathered[children[i]], log_equal[i], log_different[i], messages[i])
        largest = messages[i].max()
        if largest > -np.inf:
            log_scale += largest
            messages[i] -= largest
        gathered[parents[i]] += messages[i]
    return log_scale


@njit(cache=True, nogil=True, error_model="numpy")
def pass_downward(
    children: IntArray,
    parents: IntArray,
    log_equal: FloatArray,
    log_different: FloatArray,
    gathered: FloatArray,
    messages: FloatArray,
    beliefs: FloatArray,
    same: FloatArray,
) -> None:
    """Fill in the log marginals of children given those of their parents, in reverse order, and ``same`` (links,)."""
    m = gathered.shape[1]
    above, sent = np.empty(m), np.empty(m)
    for i in range(len(children) - 1, -1, -1):
        own, parent = gathered[children[i]], beliefs[parents[i]]
        for c in range(m):
            above[c] = parent[c] - messages[i, c] if messages[i, c] > -np.inf else -np.inf
        _summed(above, log_equal[i], log_different[i], sent)
        sent += own
        log_total = _log_sum(sent)
        beliefs[children[i]] = sent - log_total
        above += own
        same[i] = math.exp(_log_sum(above) + log_equal[i] - log_total)


@njit(cache=True, nogil=True)
def decide_downward(
    children: IntArray,
    parents: IntArray,
    log_equal: FloatArray,
    log_different: FloatArray,
    gathered: FloatArray,
    classes: IntArray,
) -> None:
    """Fill in the best classes of children given those of their parents, in reverse order."""
    for i in range(len(children) - 1, -1, -1):
        own, given = gathered[children[i]], classes[parents[i]]
        best, highest = given, own[given] + log_equal[i]
        for c in range(len(own)):
            if c != given and own[c] + log_different[i] > highest:
                best, highest = c, own[c] + log_different[i]
        classes[children[i]] = best
