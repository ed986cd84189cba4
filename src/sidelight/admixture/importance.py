"""The likelihood itself, by importance sampling: the bound's gap is not known, and it depends on K."""

from typing import NamedTuple

import numpy as np

from sidelight._typing import AnyArray, FloatArray
from sidelight.admixture.fold_in import Folded, visit_folded
from sidelight.admixture.model import Parameters, draw_log_shares, log_normaliser

_FROM_PRIOR = 0.1


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


def block_log_likelihood(
    log_densities: FloatArray, alpha: FloatArray, gamma: FloatArray, n_draws: int, random: np.random.RandomState
) -> Estimate:
    """Estimate ln p of the cells of one block, the integral over θ of Dir(θ | α) Π_cells Σ_k θ_k N_k.

    Li, Ying and Campbell (section 6.2) draw θ from the prior. Most such draws explain no block of many cells; nine in
    ten are drawn from the posterior Dir(γ) here and one in ten from the prior, which bounds the weights, and each is
    weighed by the density of the two together.

    Parameters
    ----------
    log_densities : (K, cells)
        ln N of every cell that is there under every process.
    alpha, gamma : (K,)
    n_draws : int
        At least 4.
    random : RandomState
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


def row_log_likelihoods(
    table: AnyArray, parameters: Parameters, n_draws: int, random: np.random.RandomState, n_threads: int = 1
) -> RowLogLikelihoods:
    """Estimate ln p of every row of a table, each a block of its own; parameters are in the table's units.

    Every part of the table has a seed of its own, so that results are the same for any number of threads.
    """
    seeds = random.randint(np.iinfo(np.int32).max, size=len(table))

    def estimate(number: int, folded: Folded) -> list[Estimate]:
        own = np.random.RandomState(seeds[number])
        return [
            block_log_likelihood(folded.log_densities[:, there, row], parameters.alpha, gamma, n_draws, own)
            for row, (there, gamma) in enumerate(zip(folded.observed.T, folded.gamma, strict=True))
        ]

    values, errors = np.concatenate(visit_folded(table, parameters, estimate, n_threads)).T
    return RowLogLikelihoods(values, errors)


def _log_likelihood_given(log_densities: FloatArray, log_shares: FloatArray) -> FloatArray:
    """Return Σ_cells ln Σ_k θ_k N_k for every draw of θ."""
    if log_densities.shape[1] == 0:
        return np.zeros(len(log_shares))
    largest = log_densities.max(axis=0)
    mixed = np.exp(log_shares) @ np.exp(log_densities - largest)
    with np.errstate(divide="ignore"):  # a draw that has none of the only process near a cell weighs nothing
        return np.log(mixed).sum(axis=1) + largest.sum()
