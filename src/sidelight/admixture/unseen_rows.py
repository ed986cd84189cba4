"""Rows that were not fitted, each a block of its own: their shares of the processes, and their likelihood.

Fold-in finds γ of a row with the parameters held fixed. The likelihood is estimated by importance sampling, because the
gap between the bound and the likelihood is unknown and depends on K.
"""

from collections.abc import Callable
from typing import NamedTuple, TypeVar

import numpy as np

from sidelight._typing import AnyArray, BoolArray, FloatArray
from sidelight.admixture.model import Densities, Parameters, draw_log_shares, expected_log, log_normaliser
from sidelight.inference.executors.threads import ONE_THREAD
from sidelight.inference.protocols import Executor
from sidelight.kernels.loops import Backend, backend_for

Result = TypeVar("Result")

_MAX_STEPS = 1000
_SHARE_TOLERANCE = 1e-7
_USUAL_STEPS = 30  # a rough figure, to decide whether compiled loops pay
_PART_DOUBLES = 1_000_000
_FARTHEST = 1e100  # in standard deviations; the squares of larger distances could overflow
_FROM_PRIOR = 0.1


class FoldedRows(NamedTuple):
    """A few rows folded in: ln N of their cells (K, d, rows), whether a cell is observed (d, rows), and γ (rows, K)."""

    log_densities: FloatArray
    observed: BoolArray
    gamma: FloatArray


class Estimate(NamedTuple):
    """An estimated log-likelihood and its standard error."""

    value: float
    standard_error: float


class RowLogLikelihoods(NamedTuple):
    """Estimated log-likelihoods of rows (n,), each a block of its own, and their standard errors (n,)."""

    values: FloatArray
    standard_errors: FloatArray

    @property
    def total(self) -> float:
        """Log-likelihood of all rows together."""
        return float(self.values.sum())

    @property
    def standard_error(self) -> float:
        """Standard error of the total; rows are estimated by independent draws."""
        return float(np.sqrt(np.square(self.standard_errors).sum()))


def row_shares(
    table: AnyArray, parameters: Parameters, executor: Executor = ONE_THREAD, part_rows: int = 1024
) -> FloatArray:
    """Return γ of every row, normalised (n, K); the arguments are those of :func:`map_fold_in`."""
    gamma = np.concatenate(map_fold_in(lambda _, part: part.gamma, table, parameters, executor, part_rows))
    return gamma / gamma.sum(axis=1, keepdims=True)


def row_log_likelihoods(
    table: AnyArray,
    parameters: Parameters,
    n_draws: int,
    random: np.random.RandomState,
    executor: Executor = ONE_THREAD,
    part_rows: int = 1024,
) -> RowLogLikelihoods:
    """Estimate ln p of every row; the arguments are those of :func:`map_fold_in` and :func:`block_log_likelihood`.

    Every part of the table has a seed of its own, so that results are the same for any number of threads.
    """
    seeds = random.randint(np.iinfo(np.int32).max, size=len(table))

    def estimate(number: int, part: FoldedRows) -> list[Estimate]:
        part_random = np.random.RandomState(seeds[number])
        return [
            block_log_likelihood(part.log_densities[:, observed, row], parameters.alpha, gamma, n_draws, part_random)
            for row, (observed, gamma) in enumerate(zip(part.observed.T, part.gamma, strict=True))
        ]

    values, errors = np.concatenate(map_fold_in(estimate, table, parameters, executor, part_rows)).T
    return RowLogLikelihoods(values, errors)


def map_fold_in(
    use: Callable[[int, FoldedRows], Result],
    table: AnyArray,
    parameters: Parameters,
    executor: Executor = ONE_THREAD,
    part_rows: int = 1024,
) -> list[Result]:
    """Fold the rows of a table in, a few at a time, and return the results of ``use(number, part)``.

    The parameters are in the units of the table. A part has at most ``part_rows`` rows, fewer where there are many
    attributes or processes. The executor runs the parts; the results do not depend on it.
    """
    alpha, means, variances = parameters
    densities = Densities.of(means, variances)
    backend = backend_for(table.size * len(alpha) * _USUAL_STEPS)
    size = max(min(_PART_DOUBLES // means.size, part_rows), 1)
    reach = _FARTHEST * np.sqrt(variances.min(axis=0))[:, None]
    low, high = means.min(axis=0)[:, None] - reach, means.max(axis=0)[:, None] + reach

    def visit(_: None, number: int) -> Result:
        values = np.array(table[number * size : (number + 1) * size].T, dtype=float, order="C")
        observed = ~np.isnan(values)
        values[~observed] = 0.0
        log_densities = densities.log(np.clip(values, low, high, out=values))
        return use(number, FoldedRows(log_densities, observed, fold_in(log_densities, observed, alpha, backend)))

    return list(executor.run(visit, range(-(-len(table) // size)), lambda: None))


def fold_in(log_densities: FloatArray, observed: BoolArray, alpha: FloatArray, backend: Backend) -> FloatArray:
    """Return γ (rows, K): eqs. 6 and 7 of Li, Ying and Campbell repeated for each row until its shares settle.

    A row starts with its cells spread evenly over the processes. Its result does not depend on the other rows.
    ``log_densities`` (K, d, rows) are ln N of every cell under every process, any number where ``observed`` (d, rows)
    says that a cell is missing. A row without observed cells keeps γ = α.
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
        # Rows that have settled stay, so that their result does not depend on the rows they are folded in with.
        shares = gamma[active] / gamma[active].sum(axis=1, keepdims=True)
        change = np.abs(following / following.sum(axis=1, keepdims=True) - shares).max(axis=1)
        gamma[active[moving]] = following[moving]
        moving &= change > _SHARE_TOLERANCE
    return gamma


def _mass(densities: FloatArray, weights: FloatArray, offsets: FloatArray, backend: Backend) -> FloatArray:
    """Return Σ Q (rows, K) over the attributes."""
    n_processes = len(densities)
    # In this order the scores of a process are contiguous, and the loops work on them in place.
    scores = np.add(densities, offsets.T[:, None, :], order="C")
    backend.softmax(scores.reshape(n_processes, -1), np.zeros(n_processes), weights.reshape(-1), np.empty(weights.size))
    return scores.sum(axis=1).T


def block_log_likelihood(
    log_densities: FloatArray, alpha: FloatArray, gamma: FloatArray, n_draws: int, random: np.random.RandomState
) -> Estimate:
    """Estimate ln p of the cells of one block, the integral over θ of Dir(θ | α) Π_cells Σ_k θ_k N_k.

    Li, Ying and Campbell (section 6.2) draw θ from the prior. Few such draws explain a block with many cells. Here nine
    draws in ten come from the posterior Dir(γ) and one in ten from the prior, which bounds the weights; each draw is
    weighted by the density of the mixture of the two.
    ``log_densities`` (K, cells) are ln N of every observed cell under every process; ``n_draws`` is at least 4.
    """
    n_prior = min(max(round(_FROM_PRIOR * n_draws), 2), n_draws - 2)
    shares = np.array([n_draws - n_prior, n_prior]) / n_draws
    logs = np.concatenate([draw_log_shares(gamma, n_draws - n_prior, random), draw_log_shares(alpha, n_prior, random)])
    prior = log_normaliser(alpha) + logs @ (alpha - 1)
    posterior = log_normaliser(gamma) + logs @ (gamma - 1)
    proposal = np.logaddexp(np.log(shares[0]) + posterior, np.log(shares[1]) + prior)
    weights = _log_likelihood_given(log_densities, logs) + prior - proposal

    top = weights.max()
    scaled = np.exp(weights - top)
    mean = scaled.mean()
    strata = scaled[: n_draws - n_prior], scaled[n_draws - n_prior :]
    variance = sum(share**2 * part.var(ddof=1) / len(part) for share, part in zip(shares, strata, strict=True))
    return Estimate(float(top + np.log(mean)), float(np.sqrt(variance) / mean))


def _log_likelihood_given(log_densities: FloatArray, log_shares: FloatArray) -> FloatArray:
    """Return Σ_cells ln Σ_k θ_k N_k for every draw of θ."""
    if log_densities.shape[1] == 0:
        return np.zeros(len(log_shares))
    largest = log_densities.max(axis=0)
    mixed = np.exp(log_shares) @ np.exp(log_densities - largest)
    with np.errstate(divide="ignore"):  # the weight of a draw is 0 if it lacks the only process near a cell
        return np.log(mixed).sum(axis=1) + largest.sum()
