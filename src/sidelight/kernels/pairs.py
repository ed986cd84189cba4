"""Links that share no node with another, compiled by numba; imported only where there is enough to do.

Results equal those of the NumPy form to rounding. Scores stay (nodes, classes) as they come: what is done class by
class runs along the classes of a node, and the exponentials, most of the work, along all the nodes of a block at once.
"""

import math

import numpy as np
from numba import njit

from sidelight.kernels.arrays import FloatArray, IntArray
from sidelight.kernels.compiled import FAST, exp_of_nonpositive

# Sums along a node are vectorised only if they may be reassociated; nothing else may be, see _weigh.
_SUMS = FAST | {"reassoc"}

# Exponentials of a block at both ends stay in the nearest cache.
_BLOCK_SCORES = 1280


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
    """Fill in the marginals of the nodes of pairs, and what each pair sums to.

    Parameters
    ----------
    ends : (p, 2)
        The nodes of each pair.
    log_equal, log_different : (p,)
        Log potentials of equal and of different classes.
    scores : (nodes, classes)
        Log scores; -inf where a class is impossible.
    tiny : float
        A sum below this, in units of the product of the largest terms, may have lost parts to underflow.
    marginals : (nodes, classes)
        Written where a pair ends.
    log_partition : (p,)
        -inf where the sum is below ``tiny``; nothing else is written of such a pair.
    same : (p,)
        Probability that the ends are equal.

    Returns
    -------
    int
        How many pairs sum to less than ``tiny``.
    """
    n, k = len(ends), scores.shape[1]
    size = max(_BLOCK_SCORES // k, 1)
    first, second = np.zeros((size, k)), np.zeros((size, k))
    unsure = 0
    for start in range(0, n, size):
        m = min(size, n - start)
        for b in range(m):
            largest = _load(scores, ends[start + b, 0], first, b) + _load(scores, ends[start + b, 1], second, b)
            log_partition[start + b] = largest
        _exponentiate(first.reshape(-1), m * k)
        _exponentiate(second.reshape(-1), m * k)
        for b in range(m):
            pair = start + b
            scale = max(log_equal[pair], log_different[pair])
            equal, different = math.exp(log_equal[pair] - scale), math.exp(log_different[pair] - scale)
            both = equal * _product(first, second, b)
            _weigh(first, second, b, equal, different, _beyond_one(first, b), _beyond_one(second, b))
            total, other_total = _sum(first, b), _sum(second, b)
            # Nothing at all is possible for a node whose scores are all -inf; its sum is below tiny, too.
            if total < tiny:
                unsure += 1
                log_partition[pair] = -np.inf
                continue
            log_partition[pair] += scale + math.log(total)
            same[pair] = both / total
            _store(first, b, 1.0 / total, marginals, ends[pair, 0])
            _store(second, b, 1.0 / other_total, marginals, ends[pair, 1])
    return unsure


@njit(cache=True, nogil=True, fastmath=_SUMS)
def _load(scores: FloatArray, node: int, out: FloatArray, b: int) -> float:
    """Fill a row of ``out`` with the scores of a node less the largest; return what was subtracted."""
    k = scores.shape[1]
    largest = -np.inf
    for c in range(k):
        largest = max(largest, scores[node, c])
    if largest == -np.inf:
        largest = 0.0
    for c in range(k):
        out[b, c] = scores[node, c] - largest
    return largest


@njit(cache=True, nogil=True, fastmath=FAST)
def _exponentiate(numbers: FloatArray, n: int) -> None:
    for i in range(n):
        numbers[i] = exp_of_nonpositive(numbers[i])


@njit(cache=True, nogil=True, fastmath=_SUMS)
def _beyond_one(exponentials: FloatArray, b: int) -> float:
    """Return the sum over all classes but the largest, whose exponential is 1, without subtracting it."""
    rest, others_as_large = 0.0, -1.0
    for c in range(exponentials.shape[1]):
        exponential = exponentials[b, c]
        rest += exponential if exponential < 1.0 else 0.0
        others_as_large += 0.0 if exponential < 1.0 else 1.0
    return rest + others_as_large


@njit(cache=True, nogil=True, fastmath=_SUMS)
def _product(first: FloatArray, second: FloatArray, b: int) -> float:
    total = 0.0
    for c in range(first.shape[1]):
        total += first[b, c] * second[b, c]
    return total


@njit(cache=True, nogil=True, fastmath=FAST)
def _weigh(
    first: FloatArray,
    second: FloatArray,
    b: int,
    equal: float,
    different: float,
    beyond_first: float,
    beyond_second: float,
) -> None:
    """Multiply the exponentials of either end by what the other end makes of each class.

    The brackets must stay: where an exponential is 1, what is beyond it may be far below rounding.
    """
    for c in range(first.shape[1]):
        own, other = first[b, c], second[b, c]
        first[b, c] = own * (different * ((1.0 - other) + beyond_second) + equal * other)
        second[b, c] = other * (different * ((1.0 - own) + beyond_first) + equal * own)


@njit(cache=True, nogil=True, fastmath=_SUMS)
def _sum(numbers: FloatArray, b: int) -> float:
    total = 0.0
    for c in range(numbers.shape[1]):
        total += numbers[b, c]
    return total


@njit(cache=True, nogil=True, fastmath=FAST)
def _store(numbers: FloatArray, b: int, factor: float, out: FloatArray, node: int) -> None:
    for c in range(numbers.shape[1]):
        out[node, c] = numbers[b, c] * factor
