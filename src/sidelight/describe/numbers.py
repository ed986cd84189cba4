"""Numbers as pictures and pages write them."""

import math

_DIGITS = 3
_MOST_DECIMALS = 6


def measured(value: float, scale: float) -> str:
    """Return a number with as many decimals as numbers of a scale need, so that what is nearly nothing reads as such.

    Examples
    --------
    >>> measured(-2.3456, 20), measured(1e-15, 20), measured(12345.6, 20000)
    ('−2.3', '0.0', '12346')
    """
    size = abs(scale)
    decimals = _DIGITS - 1 - math.floor(math.log10(size)) if size > 0 else 0
    if decimals > _MOST_DECIMALS or size >= 10**_MOST_DECIMALS:
        return with_minus(f"{value:.{_DIGITS}g}")
    rounded = round(value, max(decimals, 0)) + 0.0  # which turns −0 into 0
    return with_minus(f"{rounded:.{max(decimals, 0)}f}")


def with_minus(number: str) -> str:
    """Return a written number with a minus sign in place of the hyphen."""
    return number.replace("-", "−")
