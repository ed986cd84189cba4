"""Axes that several covariances share: the common principal components of their scatter matrices."""

from collections import deque
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from sidelight._typing import FloatArray
from sidelight.families.gaussian.volumes import Scatter

# A step that lowers the loss by less, per row, is the last.
_SMALLEST_GAIN = 1e-11
_MOST_STEPS = 500
# Steps that the direction remembers, and the share of the promised gain that a step must keep.
_MEMORY = 8
_KEPT_GAIN = 1e-4
# Curvatures below this, per row, count as this: axes of equal variance may turn freely.
_LEAST_CURVATURE = 0.1


class PrincipalAxes(NamedTuple):
    """Shared axes (d, d), a column each, and the variances (components, d) along them."""

    axes: FloatArray
    variances: FloatArray


class _Point(NamedTuple):
    """Axes D, the best variances along them, the loss Σ_k n_k Σ_j ln v_kj, and how it changes as D turns.

    D exp(X) with antisymmetric X are the axes nearby. ``gradient`` (d, d) is that of the loss in X, antisymmetric, and
    ``curvature`` (d, d) the second derivatives of its majorant that holds the variances, none of them near zero.
    """

    axes: FloatArray
    variances: FloatArray
    loss: float
    gradient: FloatArray
    curvature: FloatArray


def principal_axes(scatter: Scatter, start: FloatArray, variances_of: Callable[[Scatter], FloatArray]) -> PrincipalAxes:
    """Return the axes D and variances v_k that minimise Σ_k n_k Σ_j ln v_kj + Σ_k Σ_j (DᵀS_kD)_jj / v_kj.

    There is no closed form. From the axes of ``start`` (d, d), D ← D exp(X) along directions of a limited-memory
    quasi-Newton method; no step raises the loss. Flury and Gautschi (1986) rotate two axes at a time, Browne and
    McNicholas (2014) and mclust move all axes along a majorising function; the stationary points are the same. On nine
    covariances without common axes, rotating two at a time took two hundred sweeps, this some fifty evaluations.

    ``variances_of`` gives the best variances for diagonals of DᵀS_kD: free ones for VVE, of equal volume for EVE.
    """
    # Turned many times, axes lose their right angles to rounding.
    here = _point(scatter, np.linalg.qr(start)[0], variances_of)
    least_gain = _SMALLEST_GAIN * scatter.rows.sum()
    history: deque[tuple[FloatArray, FloatArray]] = deque(maxlen=_MEMORY)
    for _ in range(_MOST_STEPS):
        step = _direction(here, history)
        following = _search(scatter, here, step, variances_of)
        if following is None:
            break
        moved, found = following
        change = found.gradient - here.gradient
        if np.vdot(moved, change) > 0:
            history.append((moved, change))
        gain, here = here.loss - found.loss, found
        if gain < least_gain:
            break
    return PrincipalAxes(here.axes, here.variances)


def _point(scatter: Scatter, axes: FloatArray, variances_of: Callable[[Scatter], FloatArray]) -> _Point:
    rows = scatter.rows
    turned = axes.T @ scatter.sums @ axes
    along = np.diagonal(turned, axis1=1, axis2=2)
    variances = variances_of(Scatter(rows, along))
    precisions = 1.0 / variances
    pulls = np.einsum("kij,kj->ij", turned, precisions)
    # Σ_k (1/v_kj − 1/v_kl)(t_kl − t_kj): not negative, since t_k is in proportion to v_k.
    crossed = along.T @ precisions
    own = np.diagonal(crossed)
    curvature = np.maximum(2.0 * (crossed + crossed.T - own - own[:, None]), _LEAST_CURVATURE * rows.sum())
    return _Point(axes, variances, float(rows @ np.log(variances).sum(axis=1)), 2.0 * (pulls - pulls.T), curvature)


def _direction(here: _Point, history: deque[tuple[FloatArray, FloatArray]]) -> FloatArray:
    """Return the antisymmetric step of the two-loop recursion (Nocedal and Wright 2006, algorithm 7.4).

    The curvature of the majorant is the first guess of the second derivatives. Steps before are taken as if they had
    been made here: as the axes turn, so do they.
    """
    remaining, weights = here.gradient, []
    for moved, change in reversed(history):
        weight = np.vdot(moved, remaining) / np.vdot(moved, change)
        weights.append(weight)
        remaining = remaining - weight * change
    step = remaining / here.curvature
    for (moved, change), weight in zip(history, reversed(weights), strict=True):
        step = step + moved * (weight - np.vdot(change, step) / np.vdot(moved, change))
    return -step


def _search(
    scatter: Scatter, here: _Point, step: FloatArray, variances_of: Callable[[Scatter], FloatArray]
) -> tuple[FloatArray, _Point] | None:
    """Return the first of ever shorter steps that lowers the loss enough, and where it leads; None where none does."""
    # Each plane is in the matrices twice.
    promised = 0.5 * float(np.vdot(here.gradient, step))
    if promised >= 0:
        step = -here.gradient / here.curvature
        promised = 0.5 * float(np.vdot(here.gradient, step))
    # A quarter turn is the longest that means anything.
    fraction = min(1.0, 0.5 * np.pi / max(float(np.abs(step).max()), np.finfo(float).tiny))
    while fraction > np.finfo(float).eps:
        moved = fraction * step
        found = _point(scatter, here.axes @ _rotation(moved), variances_of)
        if found.loss <= here.loss + _KEPT_GAIN * fraction * promised:
            return moved, found
        fraction *= 0.5
    return None


def _rotation(antisymmetric: FloatArray) -> FloatArray:
    """Return a rotation that agrees with exp(X) up to second order: Cayley's (1 − X/2)⁻¹ (1 + X/2)."""
    one = np.eye(len(antisymmetric))
    return np.asarray(np.linalg.solve(one - 0.5 * antisymmetric, one + 0.5 * antisymmetric), dtype=np.float64)
