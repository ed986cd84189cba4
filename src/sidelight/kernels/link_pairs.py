"""Nodes without links and links that share no node, compiled by numba; imported only where there is enough to do.

Results equal those of the NumPy form to rounding. Scores stay (nodes, classes) as they come: what is done class by
class runs along the classes of a node, and the exponentials, most of the work, along all the nodes of a block at once.
"""

import math

import numpy as np
from numba import njit

from sidelight._typing import FloatArray, IntArray
from sidelight.kernels.elementary import FAST, FAST_SUMS, exp_of_nonpositive

# Exponentials of two blocks, one for each end of a link, stay in the nearest cache.
_BLOCK_SCORES = 1280


@njit(cache=True, nogil=True, error_model="numpy")
def infer_singles(nodes: IntArray, scores: FloatArray, marginals: FloatArray) -> float:
    """Fill in the marginals of nodes (s,) without links; return the sum of their log partitions.

    Log scores and marginals are (all nodes, classes); a score is -inf where a class is impossible.
    """
    n, k = len(nodes), scores.shape[1]
    size = max(_BLOCK_SCORES // k, 1)
    exponentials = np.empty((size, k))
    log_partition = 0.0
    for start in range(0, n, size):
        m = min(size, n - start)
        for b in range(m):
            log_partition += _load(scores[nodes[start + b]], exponentials[b])
        _exponentiate(exponentials[:m].reshape(-1))
        for b in range(m):
            total = _sum(exponentials[b])
            log_partition += math.log(total)
            _scale(exponentials[b], 1.0 / total, marginals[nodes[start + b]])
    return log_partition


@njit(cache=True, nogil=True, error_model="numpy")
def infer_pairs(
    ends: IntArray,
    log_equal: FloatArray,
    log_different: FloatArray,
    scores: FloatArray,
    tiny: float,
    marginals: FloatArray,
    log_partition: FloatArray,
    same: FloatArray,
) -> int:
    """Fill in the marginals of the nodes of pairs, and what each pair sums to; return how many sums are below ``tiny``.

    Such a sum, in units of the largest scores and potential, may have lost parts to underflow: its ``log_partition`` is
    -inf, and nothing else is written of the pair.

    Parameters
    ----------
    ends, log_equal, log_different : (p, 2), (p,), (p,)
        The nodes of each pair, and its log potentials of equal and of different classes.
    scores, marginals : (nodes, classes)
        Log scores, -inf where a class is impossible; marginals are written at the nodes of the pairs.
    log_partition, same : (p,)
        ``same`` is the probability that the ends are equal.
    """
    n, k = len(ends), scores.shape[1]
    size = max(_BLOCK_SCORES // k, 1)
    first, second = np.empty((size, k)), np.empty((size, k))
    unsure = 0
    for start in range(0, n, size):
        m = min(size, n - start)
        for b in range(m):
            top_first = _load(scores[ends[start + b, 0]], first[b])
            log_partition[start + b] = top_first + _load(scores[ends[start + b, 1]], second[b])
        _exponentiate(first[:m].reshape(-1))
        _exponentiate(second[:m].reshape(-1))
        for b in range(m):
            pair = start + b
            scale = max(log_equal[pair], log_different[pair])
            equal, different = math.exp(log_equal[pair] - scale), math.exp(log_different[pair] - scale)
            both = equal * _product(first[b], second[b])
            _weigh(first[b], second[b], equal, different, _beyond_one(first[b]), _beyond_one(second[b]))
            total, other_total = _sum(first[b]), _sum(second[b])
            if total < tiny:
                unsure += 1
                log_partition[pair] = -np.inf
                continue
            log_partition[pair] += scale + math.log(total)
            same[pair] = both / total
            _scale(first[b], 1.0 / total, marginals[ends[pair, 0]])
            _scale(second[b], 1.0 / other_total, marginals[ends[pair, 1]])
    return unsure


@njit(cache=True, nogil=True, fastmath=FAST_SUMS)
def _load(scores: FloatArray, out: FloatArray) -> float:
    """Fill ``out`` with the scores less the largest of them; return what was subtracted."""
    largest = -np.inf
    for c in range(len(scores)):
        largest = max(largest, scores[c])
    if largest == -np.inf:
        # Nothing is possible: zeros in place of exponentials, and a sum of zero in the end.
        largest = 0.0
    for c in range(len(scores)):
        out[c] = scores[c] - largest
    return largest


@njit(cache=True, nogil=True, fastmath=FAST)
def _exponentiate(numbers: FloatArray) -> None:
    for i in range(len(numbers)):
        numbers[i] = exp_of_nonpositive(numbers[i])


@njit(cache=True, nogil=True, fastmath=FAST_SUMS)
def _beyond_one(exponentials: FloatArray) -> float:
    """Return the sum over all classes but the largest, whose exponential is 1, without subtracting it."""
    rest, others_as_large = 0.0, -1.0
    for c in range(len(exponentials)):
        rest += exponentials[c] if exponentials[c] < 1.0 else 0.0
        others_as_large += 0.0 if exponentials[c] < 1.0 else 1.0
    return rest + others_as_large


@njit(cache=True, nogil=True, fastmath=FAST)
def _weigh(
    first: FloatArray, second: FloatArray, equal: float, different: float, beyond_first: float, beyond_second: float
) -> None:
    """Multiply the exponentials of either end by what the other end makes of each class.

    The brackets must stay: where an exponential is 1, what is beyond it may be far below rounding.
    """
    for c in range(len(first)):
        own, other = first[c], second[c]
        first[c] = own * (different * ((1.0 - other) + beyond_second) + equal * other)
        second[c] = other * (different * ((1.0 - own) + beyond_first) + equal * own)


@njit(cache=True, nogil=True, fastmath=FAST_SUMS)
def _product(first: FloatArray, second: FloatArray) -> float:
    total = 0.0
    for c in range(len(first)):
        total += first[c] * second[c]
    return total


@njit(cache=True, nogil=True, fastmath=FAST_SUMS)
def _sum(numbers: FloatArray) -> float:
    total = 0.0
    for c in range(len(numbers)):
        total += numbers[c]
    return total


@njit(cache=True, nogil=True, fastmath=FAST)
def _scale(numbers: FloatArray, factor: float, out: FloatArray) -> None:
    for c in range(len(numbers)):
        out[c] = numbers[c] * factor
