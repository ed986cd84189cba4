"""The tails of Student t components: their degrees of freedom, found from the expected scales of the rows."""

import numpy as np
from scipy.special import digamma, polygamma

from sidelight._typing import FloatArray

# Below two degrees there is no variance; with 200 the density is a Gaussian's to three digits.
LEAST, MOST = 2.0, 200.0
# Where components start, and what one without rows keeps.
AT_START = 10.0
_STEPS = 30
_PRECISION = 1e-12


def tail_degrees(mass: FloatArray, deviations: FloatArray) -> FloatArray:
    """Return the degrees of freedom (components,), from 2 to 200, that maximise the objective given the scales.

    With rows scaled by u ~ Gamma(ν/2, ν/2), the part of the expected log density that depends on ν is, per row,
    (ν/2) ln(ν/2) − ln Γ(ν/2) + (ν/2) s with s = Σ r (E ln u − E u) / Σ r (Liu and Rubin 1995; Peel and
    McLachlan 2000). It is concave, because ψ'(x) > 1/x, and its maximum has ln(ν/2) − ψ(ν/2) = −1 − s. The left side is
    about 1/ν, so that Newton's method on its reciprocal takes a few steps.

    ``mass`` (components,) is Σ r and ``deviations`` (components,) Σ r (E ln u − E u).
    """
    owned = mass > np.finfo(float).tiny
    target = -1.0 - deviations / np.where(owned, mass, 1.0)
    # Beyond the ends the objective is monotone, and the end is the best there is.
    inside = np.clip(np.where(owned, target, _excess(AT_START)), _excess(MOST), _excess(LEAST))
    degrees = np.clip(1.0 / inside, LEAST, MOST)
    for _ in range(_STEPS):
        value = _excess(degrees)
        slope = 1.0 / degrees - 0.5 * polygamma(1, 0.5 * degrees)
        moved = np.clip(degrees + (1.0 / inside - 1.0 / value) * -np.square(value) / slope, LEAST, MOST)
        settled = np.abs(moved - degrees) <= _PRECISION * degrees
        degrees = moved
        if settled.all():
            break
    return np.where(owned, degrees, AT_START)


def _excess(degrees: FloatArray | float) -> FloatArray:
    """Return ln(ν/2) − ψ(ν/2), which falls from infinity to zero."""
    return np.log(0.5 * np.asarray(degrees)) - digamma(0.5 * np.asarray(degrees))
