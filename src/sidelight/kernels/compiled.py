"""The inner loops compiled by numba; imported only when numba is installed and the work is worth compiling for.

Results equal those of :mod:`sidelight.kernels.loops` to rounding.
"""

import math
from typing import Any

import numpy as np
from llvmlite import ir
from numba import njit
from numba.core import types
from numba.extending import intrinsic

from sidelight._typing import AnyArray, FloatArray, IntArray
from sidelight.kernels.elementary import FAST, FAST_SUMS, exp_of_nonpositive, log_of_normal
from sidelight.kernels.loops import Links, Neighbours
from sidelight.kernels.products import add_feature_sums, linear_scores

# How many rows ahead linked_sweep asks for what it will look up, which is all over the memory.
_ROWS_AHEAD = 4
_CACHE_LINE = 64


@intrinsic
def _fetch(typing_context: Any, address: Any) -> Any:
    """Ask for the cache line at an address, and do not wait for it."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        number, pointer = ir.IntType(32), ir.IntType(8).as_pointer()
        kind = ir.FunctionType(ir.VoidType(), [pointer, number, number, number])
        function = builder.module.declare_intrinsic("llvm.prefetch", [pointer], kind)
        # To read, to stay in all caches, data.
        builder.call(function, [builder.inttoptr(arguments[0], pointer), number(0), number(3), number(1)])
        return context.get_dummy_value()

    return types.void(types.intp), generate


@njit(cache=True, nogil=True, fastmath=FAST, error_model="numpy")
def softmax(scores: FloatArray, offsets: FloatArray, weights: FloatArray, evidence: FloatArray) -> None:
    """See :func:`sidelight.kernels.loops.softmax`."""
    k, n = scores.shape
    total = np.zeros(n)
    for b in range(n):
        evidence[b] = -np.inf
    # Four components at a time: the running maximum is loaded and stored a quarter as often.
    for c in range(0, k - 3, 4):
        first, second, third, fourth = offsets[c], offsets[c + 1], offsets[c + 2], offsets[c + 3]
        for b in range(n):
            low = max(scores[c, b] + first, scores[c + 1, b] + second)
            high = max(scores[c + 2, b] + third, scores[c + 3, b] + fourth)
            evidence[b] = max(evidence[b], max(low, high))
    for c in range(k - k % 4, k):
        offset = offsets[c]
        for b in range(n):
            evidence[b] = max(evidence[b], scores[c, b] + offset)
    for c in range(k):
        offset = offsets[c]
        for b in range(n):
            exponential = exp_of_nonpositive(scores[c, b] + offset - evidence[b])
            scores[c, b] = exponential
            total[b] += exponential
    for b in range(n):
        evidence[b] += log_of_normal(total[b])
        total[b] = weights[b] / total[b]
    for c in range(k):
        for b in range(n):
            scores[c, b] *= total[b]


@njit(cache=True, nogil=True, fastmath=FAST, error_model="numpy")
def argmax(scores: FloatArray, offsets: FloatArray, weights: FloatArray, evidence: FloatArray) -> None:
    """See :func:`sidelight.kernels.loops.argmax`."""
    k, n = scores.shape
    best = np.zeros(n, dtype=np.int64)
    for b in range(n):
        evidence[b] = -np.inf
    for c in range(k):
        for b in range(n):
            score = scores[c, b] + offsets[c]
            if score > evidence[b]:
                evidence[b] = score
                best[b] = c
            scores[c, b] = 0.0
    for b in range(n):
        scores[best[b], b] = weights[b]


@njit(cache=True, nogil=True, fastmath=FAST, error_model="numpy")
def quadratic_features(block: FloatArray, centre: FloatArray, out: FloatArray) -> None:
    """See :func:`sidelight.kernels.loops.quadratic_features`."""
    n, d = block.shape
    for b in range(n):
        out[0, b] = 1.0
    for i in range(d):
        for b in range(n):
            out[1 + i, b] = block[b, i] - centre[i]
    n_products = len(out) - d - 1
    if n_products == 1:
        for b in range(n):
            out[d + 1, b] = 0.0
        for i in range(d):
            for b in range(n):
                out[d + 1, b] += out[1 + i, b] * out[1 + i, b]
    elif n_products == d:
        for i in range(d):
            for b in range(n):
                out[1 + d + i, b] = out[1 + i, b] * out[1 + i, b]
    else:
        row = d + 1
        for i in range(d):
            for j in range(i, d):
                for b in range(n):
                    out[row, b] = out[1 + i, b] * out[1 + j, b]
                row += 1


@njit(cache=True, nogil=True, fastmath=FAST, error_model="numpy")
def add_neighbours(
    starts: IntArray, neighbours: AnyArray, strengths: FloatArray, posterior: AnyArray, out: FloatArray
) -> None:
    """See :func:`sidelight.kernels.loops.add_neighbours`."""
    n, k = out.shape
    for b in range(n):
        for link in range(starts[b], starts[b + 1]):
            neighbour, strength = neighbours[link], strengths[link]
            for c in range(k):
                out[b, c] += strength * posterior[neighbour, c]


@njit(cache=True, nogil=True, fastmath=FAST, error_model="numpy")
def quadratic_sweep(
    rows: FloatArray,
    centre: FloatArray,
    coefficients: FloatArray,
    offsets: FloatArray,
    codes: IntArray,
    classes: IntArray,
    weights: FloatArray,
    sums: FloatArray,
    block_rows: int,
    feature_buffer: FloatArray,
    score_buffer: FloatArray,
) -> float:
    """Take many rows through features, log densities, labels, softmax and statistics without returning in between.

    Parameters
    ----------
    rows : (n, d)
    centre : (d,)
    coefficients : (padded components, features)
    offsets : (components,)
        Log weights.
    codes : (n,) or (0,)
        The class of each labelled row, -1 for the others; empty where no row has a label.
    classes : (components,)
        The class of each component.
    weights : (n,)
    sums : (features, components)
        The weighted sums of features are added here.
    block_rows : int
        Rows at a time.
    feature_buffer, score_buffer : 1-D
        Room for the features and for the scores of a block.

    Returns
    -------
    float
        The weighted sum of the log evidence.
    """
    n = rows.shape[0]
    padded, n_features = coefficients.shape
    k = len(offsets)
    evidence = np.empty(block_rows)
    total = 0.0
    for start in range(0, n, block_rows):
        m = min(block_rows, n - start)
        features = feature_buffer[: n_features * m].reshape(n_features, m)
        scores = score_buffer[: padded * m].reshape(padded, m)
        quadratic_features(rows[start : start + m], centre, features)
        linear_scores(coefficients, features, scores)
        if len(codes):
            for b in range(m):
                if codes[start + b] >= 0:
                    for c in range(k):
                        if classes[c] != codes[start + b]:
                            scores[c, b] = -np.inf
        responsibilities = scores[:k]
        softmax(responsibilities, offsets, weights[start : start + m], evidence[:m])
        add_feature_sums(features, responsibilities, sums)
        for b in range(m):
            total += evidence[b] * weights[start + b]
    return total


@njit(inline="always")
def _fetch_neighbours(row: int, neighbours: Neighbours, posterior: AnyArray) -> None:
    """Ask for the posteriors of the neighbours of a row that will soon be looked up."""
    starts, places, _ = neighbours
    size = posterior.shape[1] * posterior.itemsize
    for link in range(starts[row], starts[row + 1]):
        address = posterior.ctypes.data + places[link] * size
        for line in range(0, size, _CACHE_LINE):
            _fetch(address + line)  # type: ignore[call-arg]


@njit(inline="always")
def _look_up(row: int, neighbours: Neighbours, posterior: AnyArray, out: FloatArray) -> None:
    """Add the posteriors of the neighbours of a row to ``out``, times the strengths of their links."""
    starts, places, strengths = neighbours
    for link in range(starts[row], starts[row + 1]):
        theirs, strength = posterior[places[link]], strengths[link]
        for c in range(len(out)):
            out[c] += strength * theirs[c]


@njit(cache=True, nogil=True, fastmath=FAST_SUMS, error_model="numpy")
def linked_sweep(
    rows: FloatArray,
    centre: FloatArray,
    coefficients: FloatArray,
    offsets: FloatArray,
    weights: FloatArray,
    links: Links,
    sums: FloatArray,
    block_rows: int,
    feature_buffer: FloatArray,
    score_buffer: FloatArray,
) -> float:
    """Take many linked rows through features, log densities, neighbours, softmax and statistics.

    Scores are (rows, components) here, as the posteriors are that are looked up. The arguments are those of
    :func:`quadratic_sweep`, with links instead of labels.

    Returns
    -------
    float
        The weighted sum of the log evidence, less what late neighbours add to it.
    """
    early, late, before, after, place = links
    n = rows.shape[0]
    padded, n_features = coefficients.shape
    k = len(offsets)
    product = np.empty((n_features, padded))
    from_late, padded_offsets = np.empty(padded), np.full(padded, -np.inf)
    padded_offsets[:k] = offsets
    total = 0.0
    for start in range(0, n, block_rows):
        m = min(block_rows, n - start)
        features = feature_buffer[: n_features * m].reshape(n_features, m)
        scores = score_buffer[: m * padded].reshape(m, padded)
        quadratic_features(rows[start : start + m], centre, features)
        np.dot(features.T, coefficients.T, scores)
        for b in range(m):
            if start + b + _ROWS_AHEAD < n:
                _fetch_neighbours(start + b + _ROWS_AHEAD, early, after)
                _fetch_neighbours(start + b + _ROWS_AHEAD, late, before)
            row, own = scores[b], after[place + start + b]
            for c in range(padded):
                from_late[c] = 0.0
            _look_up(start + b, late, before, from_late)
            _look_up(start + b, early, after, row)
            largest = -np.inf
            for c in range(padded):
                row[c] += from_late[c] + padded_offsets[c]
                largest = max(largest, row[c])
            mass = 0.0
            for c in range(padded):
                row[c] = exp_of_nonpositive(row[c] - largest)
                mass += row[c]
            weight, pulled = weights[start + b], 0.0
            for c in range(padded):
                share = row[c] / mass
                own[c] = share
                row[c] = weight * share
                pulled += share * from_late[c]
            total += weight * (largest + math.log(mass) - pulled)
        np.dot(features, scores, product)
        sums += product[:, :k]
    return total
