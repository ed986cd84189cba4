"""Matrix products of few long rows, compiled: features of a block by components.

A library packs its matrices before it multiplies them. With some ten components, and the features of a block in the
cache, that takes about as long as the product itself. These loops run along the rows of the block, and hold as many
sums and coefficients as there are registers for.
"""

from numba import njit

from sidelight._typing import FloatArray
from sidelight.kernels.elementary import FAST, FAST_SUMS


@njit(cache=True, nogil=True, fastmath=FAST, error_model="numpy")
def linear_scores(coefficients: FloatArray, features: FloatArray, out: FloatArray) -> None:
    """Set ``out`` (padded components, rows) to ``coefficients @ features``.

    Coefficients are (padded components, features), a multiple of four components, and features (features, rows). Four
    components and four features at a time.
    """
    n_features, n = features.shape
    left = n_features - n_features % 4
    for c in range(0, len(coefficients), 4):
        first, second, third, fourth = out[c], out[c + 1], out[c + 2], out[c + 3]
        for b in range(n):
            first[b] = second[b] = third[b] = fourth[b] = 0.0
        for f in range(0, left, 4):
            p0, p1, p2, p3 = coefficients[c, f], coefficients[c, f + 1], coefficients[c, f + 2], coefficients[c, f + 3]
            q0, q1, q2, q3 = (
                coefficients[c + 1, f],
                coefficients[c + 1, f + 1],
                coefficients[c + 1, f + 2],
                coefficients[c + 1, f + 3],
            )
            r0, r1, r2, r3 = (
                coefficients[c + 2, f],
                coefficients[c + 2, f + 1],
                coefficients[c + 2, f + 2],
                coefficients[c + 2, f + 3],
            )
            s0, s1, s2, s3 = (
                coefficients[c + 3, f],
                coefficients[c + 3, f + 1],
                coefficients[c + 3, f + 2],
                coefficients[c + 3, f + 3],
            )
            for b in range(n):
                x0, x1, x2, x3 = features[f, b], features[f + 1, b], features[f + 2, b], features[f + 3, b]
                first[b] += p0 * x0 + p1 * x1 + p2 * x2 + p3 * x3
                second[b] += q0 * x0 + q1 * x1 + q2 * x2 + q3 * x3
                third[b] += r0 * x0 + r1 * x1 + r2 * x2 + r3 * x3
                fourth[b] += s0 * x0 + s1 * x1 + s2 * x2 + s3 * x3
        for f in range(left, n_features):
            p, q, r, s = coefficients[c, f], coefficients[c + 1, f], coefficients[c + 2, f], coefficients[c + 3, f]
            for b in range(n):
                x = features[f, b]
                first[b] += p * x
                second[b] += q * x
                third[b] += r * x
                fourth[b] += s * x


@njit(cache=True, nogil=True, fastmath=FAST_SUMS, error_model="numpy")
def add_feature_sums(features: FloatArray, responsibilities: FloatArray, sums: FloatArray) -> None:
    """Add ``features @ responsibilities.T`` to ``sums`` (features, components).

    Features are (features, rows) and responsibilities (components, rows). Four features and two components at a time;
    an odd component or the last features by themselves.
    """
    n_features, n = features.shape
    k = len(responsibilities)
    left = n_features - n_features % 4
    for f in range(0, left, 4):
        for c in range(0, k - 1, 2):
            p0 = p1 = p2 = p3 = q0 = q1 = q2 = q3 = 0.0
            for b in range(n):
                x0, x1, x2, x3 = features[f, b], features[f + 1, b], features[f + 2, b], features[f + 3, b]
                p, q = responsibilities[c, b], responsibilities[c + 1, b]
                p0 += x0 * p
                p1 += x1 * p
                p2 += x2 * p
                p3 += x3 * p
                q0 += x0 * q
                q1 += x1 * q
                q2 += x2 * q
                q3 += x3 * q
            sums[f, c] += p0
            sums[f + 1, c] += p1
            sums[f + 2, c] += p2
            sums[f + 3, c] += p3
            sums[f, c + 1] += q0
            sums[f + 1, c + 1] += q1
            sums[f + 2, c + 1] += q2
            sums[f + 3, c + 1] += q3
        if k % 2:
            p0 = p1 = p2 = p3 = 0.0
            for b in range(n):
                p = responsibilities[k - 1, b]
                p0 += features[f, b] * p
                p1 += features[f + 1, b] * p
                p2 += features[f + 2, b] * p
                p3 += features[f + 3, b] * p
            sums[f, k - 1] += p0
            sums[f + 1, k - 1] += p1
            sums[f + 2, k - 1] += p2
            sums[f + 3, k - 1] += p3
    for f in range(left, n_features):
        for c in range(k):
            total = 0.0
            for b in range(n):
                total += features[f, b] * responsibilities[c, b]
            sums[f, c] += total
