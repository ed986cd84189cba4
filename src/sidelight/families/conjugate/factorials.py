"""Logarithms of factorials: what count densities need to be normalised, though no component's share depends on it."""

from functools import cache

import numpy as np
from scipy.special import gammaln

from sidelight._typing import AnyArray, FloatArray

_TABLE_SIZE = 4096


@cache
def _table() -> FloatArray:
    return gammaln(np.arange(1.0, _TABLE_SIZE + 1.0))


def log_factorials(counts: AnyArray) -> FloatArray:
    """Return ln x! of counts, which are whole numbers but of any type."""
    # They are asked for in every pass, and looking them up takes a tenth of the time.
    if counts.max(initial=0) < _TABLE_SIZE:
        return _table()[counts.astype(np.intp)]
    return gammaln(counts + 1.0)
