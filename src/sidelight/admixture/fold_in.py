"""Rows the model has not seen: γ of each, a block of its own, with the parameters held fixed."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple, TypeVar

import numpy as np

from sidelight._typing import AnyArray, BoolArray, FloatArray
from sidelight.admixture.model import Densities, Parameters, expected_log
from sidelight.kernels.loops import Backend, backend_for

Result = TypeVar("Result")

_MAX_STEPS = 1000
_SETTLED = 1e-7
_USUAL_STEPS = 30  # roughly, to decide whether compiled loops pay
_PART_DOUBLES = 1_000_000
_MOST_PART_ROWS = 1024
_FARTHEST = 1e100  # in standard deviations; the squares of anything farther could overflow


class Folded(NamedTuple):
    """A few rows folded in: ln N of their cells (K, d, rows), which cells are there (d, rows), and γ (rows, K)."""

    log_densities: FloatArray
    observed: BoolArray
    gamma: FloatArray


def visit_folded(
    table: AnyArray, parameters: Parameters, use: Callable[[int, Folded], Result], n_threads: int = 1
) -> list[Result]:
    """Fold the rows of a table in, a few at a time, and return what ``use(number, folded)`` makes of each part.

    Parts depend on the shape of table and parameters alone, and parameters are in the table's units.
    """
    alpha, means, variances = parameters
    densities = Densities.of(means, variances)
    backend = backend_for(table.size * len(alpha) * _USUAL_STEPS)
    size = max(min(_PART_DOUBLES // means.size, _MOST_PART_ROWS), 1)
    reach = _FARTHEST * np.sqrt(variances.min(axis=0))[:, None]
    low, high = means.min(axis=0)[:, None] - reach, means.max(axis=0)[:, None] + reach

    def visit(number: int) -> Result:
        values = np.array(table[number * size : (number + 1) * size].T, dtype=float, order="C")
        observed = ~np.isnan(values)
        values[~observed] = 0.0
        log_densities = densities.log(np.clip(values, low, high, out=values))
        return use(number, Folded(log_densities, observed, fold_in(log_densities, observed, alpha, backend)))

    numbers = range(-(-len(table) // size))
    if n_threads == 1 or len(numbers) == 1:
        return [visit(number) for number in numbers]
    with ThreadPoolExecutor(min(n_threads, len(numbers))) as threads:
        return list(threads.map(visit, numbers))


def fold_in(log_densities: FloatArray, observed: BoolArray, alpha: FloatArray, backend: Backend) -> FloatArray:
    """Return γ (rows, K): eqs. 6 and 7 of Li, Ying and Campbell repeated for each row until its shares settle.

    A row starts with its cells spread evenly over the processes. What comes out for it does not depend on the others.

    Parameters
    ----------
    log_densities : (K, d, rows)
        ln N of every cell under every process; any number where a cell is missing.
    observed : (d, rows)
        Whether a cell is there. A row without any keeps γ = α.
    alpha : (K,)
    backend : Backend
    """
    n_processes = len(log_densities)
    n_cells = observed.sum(axis=0)
    gamma = alpha + np.repeat(n_cells[:, None] / n_processes, n_processes, axis=1)
    active = np.flatnonzero(n_cells)
    densities, weights = log_densities[:, :, active], observed[:, active].astype(float)
    moving = np.ones(len(active), dtype=bool)
    for _ in range(_MAX_STEPS):
        if not moving.any():
            break
        if 2 * np.count_nonzero(moving) <= len(active):
            active, densities, weights = active[moving], densities[:, :, moving], weights[:, moving]
            moving = np.ones(len(active), dtype=bool)
        following = alpha + _mass(densities, weights, expected_log(gamma[active]), backend)
        # Rows that have settled stay, so that they end the same whatever rows they come with.
        shares = gamma[active] / gamma[active].sum(axis=1, keepdims=True)
        change = np.abs(following / following.sum(axis=1, keepdims=True) - shares).max(axis=1)
        gamma[active[moving]] = following[moving]
        moving &= change > _SETTLED
    return gamma


def _mass(densities: FloatArray, weights: FloatArray, offsets: FloatArray, backend: Backend) -> FloatArray:
    """Return Σ Q (rows, K) over the attributes."""
    n_processes = len(densities)
    # In this order the scores of a process are contiguous, and the loops work on them in place.
    scores = np.add(densities, offsets.T[:, None, :], order="C")
    backend.softmax(scores.reshape(n_processes, -1), np.zeros(n_processes), weights.reshape(-1), np.empty(weights.size))
    return scores.sum(axis=1).T
