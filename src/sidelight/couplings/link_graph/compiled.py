"""Trees and large loops of a link graph in place, node after node, compiled by numba; imported only where worth it.

Tree passes equal those of :mod:`sidelight.couplings.link_graph.exact.trees` to rounding. Messages of belief propagation
are ratios, 1 + (equal / different − 1) p with the shares p of the classes, of single precision: the Bethe estimate is
stationary in them. A node is visited again only while messages to it change, and sees what its neighbours have sent
just before; this takes about half as many visits as all messages at once, and converges to the same fixed points.
"""

import math

import numpy as np
from numba import njit

from sidelight._typing import AnyArray, BoolArray, FloatArray, IntArray
from sidelight.couplings.link_graph.exact.compiled import _log_sum, _summed
from sidelight.kernels.compiled import _fetch
from sidelight.kernels.elementary import FAST_SUMS, exp_of_nonpositive, log_of_normal

# Below this, terms of a sum may have been lost to underflow.
_TINY = 1e-200
# How many visits ahead loops ask for what they will look up, which is all over the memory.
_AHEAD = 4
_CACHE_LINE = 64


@njit(inline="always")
def _fetch_row(table: AnyArray, row: int) -> None:
    """Ask for a row of a table."""
    address, size = table.ctypes.data + row * table.strides[0], table.strides[0]
    for offset in range(0, size, _CACHE_LINE):
        _fetch(address + offset)  # type: ignore[call-arg]


@njit(cache=True, nogil=True, fastmath=FAST_SUMS, error_model="numpy")
def _exponentials(scores: FloatArray, out: FloatArray) -> float:
    """Fill ``out`` with exp(score − largest); return the largest."""
    largest = scores[0]
    for c in range(1, len(scores)):
        largest = max(largest, scores[c])
    for c in range(len(scores)):
        out[c] = exp_of_nonpositive(scores[c] - largest)
    return largest


@njit(cache=True, nogil=True, fastmath=FAST_SUMS, error_model="numpy")
def _ratios(exponentials: FloatArray, equal: float, different: float, out: FloatArray) -> float:
    """Fill ``out`` with the message of a link in linear terms; return its smallest entry.

    The largest of ``exponentials`` is one. There the others are summed by themselves, since a difference would cancel.
    """
    k = len(exponentials)
    best = 0
    total = 0.0
    for c in range(k):
        total += exponentials[c]
        if exponentials[c] > exponentials[best]:
            best = c
    rest = 0.0
    for c in range(k):
        if c != best:
            rest += exponentials[c]
    for c in range(k):
        out[c] = different * (total - exponentials[c]) + equal * exponentials[c]
    out[best] = different * rest + equal * exponentials[best]
    lowest = out[0]
    for c in range(1, k):
        lowest = min(lowest, out[c])
    return lowest


@njit(cache=True, nogil=True, error_model="numpy")
def pass_upward(
    children: IntArray,
    parents: IntArray,
    log_equal: FloatArray,
    log_different: FloatArray,
    scores: FloatArray,
    messages: FloatArray,
) -> float:
    """Add to the scores (nodes, classes) of parents what their children say, in order; return the log of the scale.

    ``messages`` (children, classes) receives the log messages, the largest of each zero.
    """
    k = scores.shape[1]
    exponentials = np.empty(k)
    log_scale = 0.0
    for i in range(len(children)):
        if i + _AHEAD < len(children):
            _fetch_row(scores, children[i + _AHEAD])
            _fetch_row(scores, parents[i + _AHEAD])
        own, sent, above = scores[children[i]], messages[i], scores[parents[i]]
        scale = max(log_equal[i], log_different[i])
        equal, different = math.exp(log_equal[i] - scale), math.exp(log_different[i] - scale)
        largest = _exponentials(own, exponentials)
        if _ratios(exponentials, equal, different, sent) < _TINY:
            _summed(own, log_equal[i], log_different[i], sent)
            highest = sent.max()
            if highest > -np.inf:
                log_scale += highest
                sent -= highest
        else:
            highest = sent.max()
            log_scale += largest + scale + math.log(highest)
            for c in range(k):
                sent[c] = log_of_normal(sent[c] / highest)
        for c in range(k):
            above[c] += sent[c]
    return log_scale


@njit(cache=True, nogil=True, error_model="numpy")
def pass_downward(
    children: IntArray,
    parents: IntArray,
    edges: IntArray,
    log_equal: FloatArray,
    log_different: FloatArray,
    beliefs: FloatArray,
    messages: FloatArray,
    same: FloatArray,
) -> None:
    """Turn the scores of children into log marginals, in reverse order, and fill in ``same`` of their edges.

    ``beliefs`` (nodes, classes) has log marginals of all nodes without a parent, and scores given their subtrees of
    the others.
    """
    k = beliefs.shape[1]
    above, own_shares, above_shares, joint = np.empty(k), np.empty(k), np.empty(k), np.empty(k)
    for i in range(len(children) - 1, -1, -1):
        if i >= _AHEAD:
            _fetch_row(beliefs, children[i - _AHEAD])
            _fetch_row(beliefs, parents[i - _AHEAD])
        own, parent = beliefs[children[i]], beliefs[parents[i]]
        for c in range(k):
            above[c] = parent[c] - messages[i, c] if messages[i, c] > -np.inf else -np.inf
        scale = max(log_equal[i], log_different[i])
        equal, different = math.exp(log_equal[i] - scale), math.exp(log_different[i] - scale)
        _exponentials(above, above_shares)
        _exponentials(own, own_shares)
        lowest = _ratios(above_shares, equal, different, joint)
        total, together = 0.0, 0.0
        for c in range(k):
            joint[c] *= own_shares[c]
            total += joint[c]
            together += own_shares[c] * above_shares[c]
            lowest = min(lowest, joint[c])
        if lowest > _TINY:
            same[edges[i]] = equal * together / total
            for c in range(k):
                own[c] = log_of_normal(joint[c] / total)
            continue
        _summed(above, log_equal[i], log_different[i], joint)
        joint += own
        log_total = _log_sum(joint)
        above += own
        same[edges[i]] = math.exp(_log_sum(above) + log_equal[i] - log_total)
        for c in range(k):
            own[c] = joint[c] - log_total


@njit(cache=True, nogil=True, fastmath=FAST_SUMS, error_model="numpy")
def _product(scores: FloatArray, incoming: AnyArray, is_heavy: bool, out: FloatArray) -> float:
    """Fill ``out`` with the unnormalised belief of a node; return the logarithm of its scale.

    Where the messages together span more than a double does, they are added up in logarithms.
    """
    k = len(scores)
    if is_heavy:
        for c in range(k):
            out[c] = scores[c]
        for s in range(len(incoming)):
            for c in range(k):
                out[c] += math.log(incoming[s, c])
        largest = out[0]
        for c in range(1, k):
            largest = max(largest, out[c])
        for c in range(k):
            out[c] = exp_of_nonpositive(out[c] - largest)
        return largest
    largest = _exponentials(scores, out)
    for s in range(len(incoming)):
        for c in range(k):
            out[c] *= incoming[s, c]
    return largest


@njit(cache=True, nogil=True, fastmath=FAST_SUMS, error_model="numpy")
def exchange(
    scores: FloatArray,
    nodes: IntArray,
    starts: IntArray,
    neighbours: IntArray,
    reverse: IntArray,
    excess: FloatArray,
    heavy: BoolArray,
    messages: AnyArray,
    waiting: BoolArray,
    damping: float,
    tolerance: float,
) -> float:
    """Visit all nodes that wait for it, in order, and update what they send; return the largest relative change.

    ``messages`` (slots, classes) are those into a node, from ``starts[i]`` to ``starts[i + 1]``; what the node sends
    along a slot is at its ``reverse``. ``excess`` (slots,) is equal / different − 1 of the link.
    """
    k = scores.shape[1]
    total, cavity = np.empty(k), np.empty(k)
    change = 0.0
    for i in range(len(nodes)):
        if not waiting[i]:
            continue
        waiting[i] = False
        if i + 1 < len(nodes):
            _fetch_row(scores, nodes[i + 1])
            for s in range(starts[i + 1], starts[i + 2]):
                _fetch_row(messages, reverse[s])
        _product(scores[nodes[i]], messages[starts[i] : starts[i + 1]], heavy[i], total)
        for s in range(starts[i], starts[i + 1]):
            come, sent = messages[s], messages[reverse[s]]
            z = 0.0
            for c in range(k):
                cavity[c] = total[c] / come[c]
                z += cavity[c]
            factor = excess[s] / z
            moved = 0.0
            for c in range(k):
                cavity[c] = 1.0 + factor * cavity[c]
                moved = max(moved, abs(cavity[c] - sent[c]) / sent[c])
            if damping > 0.0:
                for c in range(k):
                    cavity[c] = sent[c] * math.exp((1.0 - damping) * math.log(cavity[c] / sent[c]))
            for c in range(k):
                sent[c] = cavity[c]
            if moved > tolerance:
                waiting[neighbours[s]] = True
                change = max(change, moved)
    return change


@njit(cache=True, nogil=True, fastmath=FAST_SUMS, error_model="numpy")
def settle(scores: FloatArray, nodes: IntArray, starts: IntArray, heavy: BoolArray, messages: AnyArray) -> float:
    """Turn the scores of nodes into their log beliefs; return the sum of their log scales."""
    k = scores.shape[1]
    total = np.empty(k)
    log_partition = 0.0
    for i in range(len(nodes)):
        own = scores[nodes[i]]
        largest = _product(own, messages[starts[i] : starts[i + 1]], heavy[i], total)
        z = 0.0
        for c in range(k):
            z += total[c]
        log_z = math.log(z)
        log_partition += largest + log_z
        for c in range(k):
            if total[c] > _TINY * z:
                own[c] = log_of_normal(total[c] / z)
                continue
            # A class that underflows stays possible, for what hangs on this node.
            own[c] -= largest + log_z
            for s in range(starts[i], starts[i + 1]):
                own[c] += math.log(messages[s, c])
    return log_partition


@njit(cache=True, nogil=True, fastmath=FAST_SUMS, error_model="numpy")
def between(
    beliefs: FloatArray,
    nodes: IntArray,
    starts: IntArray,
    neighbours: IntArray,
    reverse: IntArray,
    edges: IntArray,
    excess: FloatArray,
    messages: AnyArray,
    same: FloatArray,
) -> float:
    """Fill in ``same`` of the edges (slots,) of belief propagation; return their part of the Bethe estimate.

    It is relative to the potentials of different classes.
    """
    k = beliefs.shape[1]
    first, second = np.empty(k), np.empty(k)
    log_partition = 0.0
    for i in range(len(nodes)):
        for c in range(k):
            first[c] = exp_of_nonpositive(min(beliefs[nodes[i], c], 0.0))
        for s in range(starts[i], starts[i + 1]):
            r = reverse[s]
            if s + _AHEAD < len(reverse) and reverse[s + _AHEAD] > s + _AHEAD:
                _fetch_row(beliefs, nodes[neighbours[s + _AHEAD]])
                _fetch_row(messages, reverse[s + _AHEAD])
            if r < s:
                continue
            other = beliefs[nodes[neighbours[s]]]
            here, there, together = 0.0, 0.0, 0.0
            for c in range(k):
                second[c] = exp_of_nonpositive(min(other[c], 0.0)) / messages[r, c]
                own = first[c] / messages[s, c]
                here += own
                there += second[c]
                together += own * second[c]
            together /= here * there
            weight = 1.0 + excess[s] * together
            same[edges[s]] = (1.0 + excess[s]) * together / weight
            log_partition += math.log(weight * here * there)
    return log_partition


@njit(cache=True, nogil=True, fastmath=FAST_SUMS, error_model="numpy")
def exponentiate(beliefs: FloatArray, nodes: IntArray) -> None:
    """Turn the log beliefs of some nodes into probabilities."""
    for i in range(len(nodes)):
        own = beliefs[nodes[i]]
        for c in range(len(own)):
            own[c] = exp_of_nonpositive(min(own[c], 0.0))


@njit(cache=True, nogil=True, error_model="numpy")
def copy_rows(source: FloatArray, nodes: IntArray, out: FloatArray) -> None:
    """Copy some rows of a table to the same rows of another."""
    for i in range(len(nodes)):
        if i + _AHEAD < len(nodes):
            _fetch_row(source, nodes[i + _AHEAD])
        own, copied = source[nodes[i]], out[nodes[i]]
        for c in range(len(own)):
            copied[c] = own[c]
