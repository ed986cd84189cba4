"""Axes that several covariances share: the common principal components of their scatter matrices."""

from collections.abc import Callable
from functools import cache
from typing import NamedTuple

import numpy as np

from sidelight._typing import FloatArray, IntArray
from sidelight.families.gaussian.volumes import Scatter

# The objective changes by the square of the last rotations.
_SMALLEST_ROTATION = 1e-8
_MOST_SWEEPS = 500


class PrincipalAxes(NamedTuple):
    """Shared axes (d, d), a column each, and the variances (components, d) along them."""

    axes: FloatArray
    variances: FloatArray


def principal_axes(scatter: Scatter, start: FloatArray, variances_of: Callable[[Scatter], FloatArray]) -> PrincipalAxes:
    """Return the axes D and variances v_k that minimise Σ_k n_k Σ_j ln v_kj + Σ_k Σ_j (DᵀS_kD)_jj / v_kj.

    Given the variances, the best rotation in the plane of two axes j and l is closed: the smallest eigenvector of
    Σ_k (1/v_kj − 1/v_kl) times the part of DᵀS_kD in the plane. Planes that share no axis are rotated at once, and the
    variances follow after each (Flury and Gautschi 1986, with the variances held during a rotation). Nothing rises the
    objective, from any ``start`` (d, d). Browne and McNicholas (2014) move all axes at once along a majorising
    function, as mclust does; it has the same fixed points and took several hundred steps where these sweeps take ten.

    ``variances_of`` gives the best variances for diagonals of DᵀS_kD: free ones for VVE, of equal volume for EVE.
    """
    axes, rows = start, scatter.rows
    for _ in range(_MOST_SWEEPS):
        turned = axes.T @ scatter.sums @ axes
        largest = 0.0
        for first, second in _rounds(len(axes)):
            precisions = 1.0 / variances_of(Scatter(rows, np.diagonal(turned, axis1=1, axis2=2)))
            angles = _best_angles(turned, precisions[:, first] - precisions[:, second], first, second)
            rotation = _rotation(angles, first, second, len(axes))
            axes = axes @ rotation
            turned = rotation.T @ turned @ rotation
            largest = max(largest, float(np.abs(np.sin(angles)).max()))
        if largest < _SMALLEST_ROTATION:
            break
    turned = axes.T @ scatter.sums @ axes
    return PrincipalAxes(axes, variances_of(Scatter(rows, np.diagonal(turned, axis1=1, axis2=2))))


def _best_angles(turned: FloatArray, gains: FloatArray, first: IntArray, second: IntArray) -> FloatArray:
    """Return the angle of each plane that minimises Σ_k g_k (c² t_jj + 2 c s t_jl + s² t_ll), g (components, planes)."""
    own = (gains * (turned[:, first, first] - turned[:, second, second])).sum(axis=0)
    shared = (gains * turned[:, first, second]).sum(axis=0)
    return 0.5 * np.arctan2(-2.0 * shared, -own)


def _rotation(angles: FloatArray, first: IntArray, second: IntArray, d: int) -> FloatArray:
    """Return the rotation (d, d) by these angles in planes that share no axis."""
    rotation = np.eye(d)
    rotation[first, first] = rotation[second, second] = np.cos(angles)
    rotation[second, first] = np.sin(angles)
    rotation[first, second] = -np.sin(angles)
    return rotation


@cache
def _rounds(d: int) -> list[tuple[IntArray, IntArray]]:
    """Return all pairs of axes in rounds in which no axis occurs twice, like the games of a tournament."""
    seats = list(range(d + d % 2))
    rounds = []
    for _ in range(len(seats) - 1):
        half = len(seats) // 2
        pairs = [
            (min(pair), max(pair)) for pair in zip(seats[:half], reversed(seats[half:]), strict=True) if max(pair) < d
        ]
        first, second = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
        rounds.append((first, second))
        seats = [seats[0], seats[-1], *seats[1:-1]]
    return [pair for pair in rounds if len(pair[0])]
