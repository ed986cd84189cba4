"""Solve a sparse positive definite system for several right-hand sides at once."""

from typing import Any, NamedTuple

import numpy as np

from sidelight._typing import FloatArray


class Solution(NamedTuple):
    """Solutions (n, columns), steps taken, and whether every residual became small enough."""

    x: FloatArray
    n_iter: int
    converged: bool


def solve_columns(A: Any, B: FloatArray, *, tol: float, max_iter: int) -> Solution:
    """Solve A X = B by conjugate gradients with the diagonal as preconditioner (Hestenes and Stiefel 1952).

    Every column has its own steps; they share the products with A, which take most of the time. A column is done when
    its residual is below ``tol`` times its right-hand side.
    """
    scale = 1 / A.diagonal()[:, None]
    x = np.zeros_like(B)
    residual = B.copy()
    direction = scale * residual
    rise = np.einsum("ij,ij->j", residual, direction)
    goal = tol * np.linalg.norm(B, axis=0)
    for step in range(max_iter):
        if (np.linalg.norm(residual, axis=0) <= goal).all():
            return Solution(x, step, converged=True)
        image = A @ direction
        length = _quotient(rise, np.einsum("ij,ij->j", direction, image))
        x += length * direction
        residual -= length * image
        corrected = scale * residual
        following = np.einsum("ij,ij->j", residual, corrected)
        direction = corrected + _quotient(following, rise) * direction
        rise = following
    return Solution(x, max_iter, converged=bool((np.linalg.norm(residual, axis=0) <= goal).all()))


def _quotient(above: FloatArray, below: FloatArray) -> FloatArray:
    # The residual of a column that is solved exactly is zero.
    return np.divide(above, below, out=np.zeros_like(above), where=below > 0)
