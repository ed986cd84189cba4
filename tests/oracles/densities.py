"""Gaussian log densities in extended precision."""

import mpmath
import numpy as np


def log_density(x, mean, covariance, digits=60):
    """Return ln N(x; mean, covariance), computed with so many digits that rounding plays no part."""
    with mpmath.workdps(digits):
        sigma = mpmath.matrix(covariance.tolist())
        difference = mpmath.matrix((np.asarray(x, dtype=object) - np.asarray(mean, dtype=object)).tolist())
        quadratic = (difference.T * mpmath.lu_solve(sigma, difference))[0]
        d = len(mean)
        return float(-(d * mpmath.log(2 * mpmath.pi) + mpmath.log(mpmath.det(sigma)) + quadratic) / 2)
