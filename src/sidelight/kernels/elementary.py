"""Exponential and logarithm, compiled.

They are polynomials because LLVM vectorises these along the rows of a block, where a call into the C library is made
once per number.
"""

import math
from typing import Any

import numpy as np
from llvmlite import ir
from numba import njit
from numba.core import types
from numba.extending import intrinsic

# contract allows fused multiply-add; reassociation would undo the rounding trick of exp_of_nonpositive.
FAST = {"contract", "nnan", "nsz"}
# A sum along the direction of the loop is vectorised only if it may be reassociated.
FAST_SUMS = FAST | {"reassoc"}

_LOG2_E = 1.4426950408889634
_LN2_HIGH = 6.93147180369123816490e-01
_LN2_LOW = 1.90821492927058770002e-10
_ROUND = 1.5 * 2.0**52  # adding it leaves the nearest integer in the low bits of the sum
_ROUND_BITS = int(np.float64(_ROUND).view(np.int64))
_SMALLEST = -708.0  # exp below this is not a normal number: taken as zero
# exp on |r| <= ln 2 / 2 is 1 + r q(r), exact at 0, with q the polynomial through the Chebyshev nodes: to 1e-15.
_HALF_LN2 = 0.5 * math.log(2.0)
_C1, _C2, _C3, _C4, _C5, _C6, _C7, _C8, _C9, _C10 = (
    np.polynomial.Chebyshev.interpolate(lambda r: np.expm1(r) / r, 9, domain=[-_HALF_LN2, _HALF_LN2])
    .convert(kind=np.polynomial.Polynomial)
    .coef.tolist()
)
# ln((1 + s) / (1 - s)) = 2s + s³ (2/3 + 2/5 s² + ...), and s² < 0.03: nine terms are exact to rounding.
_L0, _L1, _L2, _L3, _L4, _L5, _L6, _L7, _L8 = (2.0 / (2 * i + 3) for i in range(9))
_MANTISSA = (1 << 52) - 1
_SQRT_HALF_BITS = int(np.float64(math.sqrt(0.5)).view(np.int64))
# From the bits of √½ to those of 1: then numbers from √½ to √2 have the exponent of 1.
_TO_ONE = (1023 << 52) - _SQRT_HALF_BITS
_INTEGER = 2.0**52  # an integer in its low bits makes it that much larger
_INTEGER_BITS = int(np.float64(_INTEGER).view(np.int64))


@intrinsic
def _bits_of(typing_context: Any, number: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.bitcast(arguments[0], ir.IntType(64))

    return types.int64(types.float64), generate


@intrinsic
def _number_of(typing_context: Any, bits: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.bitcast(arguments[0], ir.DoubleType())

    return types.float64(types.int64), generate


@njit(fastmath=FAST, error_model="numpy")
def exp_of_nonpositive(x: float) -> float:
    """Return exp(x) for x <= 0: x = n ln 2 + r, a polynomial in r by Estrin's scheme, then n into the exponent."""
    kept = x > _SMALLEST
    x = max(x, _SMALLEST)
    rounded = x * _LOG2_E + _ROUND
    n = rounded - _ROUND
    r = (x - n * _LN2_HIGH) - n * _LN2_LOW
    r2 = r * r
    r4 = r2 * r2
    low = (_C3 * r + _C2) * r2 + (_C1 * r + 1.0)
    middle = (_C7 * r + _C6) * r2 + (_C5 * r + _C4)
    high = _C10 * r2 + (_C9 * r + _C8)
    p = (high * r4 + middle) * r4 + low
    power: float = _number_of((_bits_of(rounded) - _ROUND_BITS + 1023) << 52)  # type: ignore[call-arg]
    return p * power if kept else 0.0


@njit(fastmath=FAST, error_model="numpy")
def log_of_normal(x: float) -> float:
    """Return ln x of a positive normal number: x = 2ⁿ (1 + f), √½ <= 1 + f < √2, and s = f / (2 + f).

    ln(1 + f) = 2s + s³ (...) is summed up as f - s (f - ...), as in Sun's fdlibm, which loses nothing near x = 1.
    """
    bits = _bits_of(x) + _TO_ONE  # type: ignore[call-arg]
    n = _number_of((bits >> 52) | _INTEGER_BITS) - (_INTEGER + 1023.0)
    f = _number_of((bits & _MANTISSA) + _SQRT_HALF_BITS) - 1.0
    s = f / (2.0 + f)
    z = s * s
    z2 = z * z
    z4 = z2 * z2
    low = (_L3 * z + _L2) * z2 + (_L1 * z + _L0)
    high = _L8 * z4 + (_L7 * z + _L6) * z2 + (_L5 * z + _L4)
    tail = z * (high * z4 + low)
    logarithm: float = n * _LN2_HIGH + (f - (s * (f - tail) - n * _LN2_LOW))
    return logarithm
