"""Latent process decomposition written out, with a full array Q and one loop per index; and tables for the tests."""

import math
from typing import NamedTuple

import numpy as np
from scipy.special import betaln, digamma, gammaln
from scipy.stats import norm

from sidelight.admixture.decomposition import Decomposition, accumulate
from sidelight.admixture.m_step import FlatPrior, ShrinkagePrior
from sidelight.admixture.model import Parameters, State
from sidelight.admixture.scaling import survey_scaling
from sidelight.tables.table import ArrayTable, Rows


class Problem(NamedTuple):
    """The engine on a random table, and a random state of it."""

    decomposition: Decomposition
    state: State


def random_problem(
    seed, *, prior="ml", blocks=False, missing=False, n=12, d=3, n_processes=3, kernel=accumulate, **settings
):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * rng.uniform(0.1, 20, size=d) + rng.normal(size=d) * 50
    if missing:
        X[rng.uniform(size=X.shape) < 0.25] = np.nan
        X[0] = 0.3 * np.arange(d)  # every attribute has a value
    of_rows = np.arange(n)
    if blocks:
        of_rows = np.unique(rng.integers(0, max(n // 3, 1), size=n), return_inverse=True)[1]
    priors = {"ml": FlatPrior(0.0025, float(n)), "map": ShrinkagePrior(0.7, 0.2, 0.0025, float(n))}
    rows = Rows(ArrayTable(X))
    decomposition = Decomposition(rows, of_rows, survey_scaling(rows), priors[prior], kernel, **settings)
    parameters = Parameters(
        rng.uniform(0.05, 3, n_processes), rng.normal(size=(n_processes, d)), rng.uniform(0.1, 2, (n_processes, d))
    )
    return Problem(decomposition, State(parameters, rng.uniform(0.05, 9, (of_rows.max() + 1, n_processes))))


def in_table_units(problem):
    """Return means and variances (K, d) in the units of the table."""
    _, means, variances = problem.state.parameters
    scaling = problem.decomposition.scaling
    return scaling.centre + scaling.scale * means, np.square(scaling.scale) * variances


def cell_probabilities(X, blocks, gamma, means, variances):
    """Return Q (n, d, K) of Li, Ying and Campbell, eq. 6; NaN where a cell is missing."""
    q = np.full((*X.shape, len(means)), np.nan)
    for row in range(X.shape[0]):
        of_block = gamma[blocks[row]]
        for g in range(X.shape[1]):
            if not math.isnan(X[row, g]):
                unnormalised = [
                    norm.pdf(X[row, g], means[k, g], math.sqrt(variances[k, g]))
                    * math.exp(digamma(of_block[k]) - digamma(of_block.sum()))
                    for k in range(len(means))
                ]
                q[row, g] = np.array(unnormalised) / sum(unnormalised)
    return q


def bound(X, blocks, alpha, gamma, q, means, variances):
    """Return E_q ln p(X, θ, Z) − E_q ln q(θ, Z), term by term from the joint density of the appendix."""
    total = 0.0
    for c in range(len(gamma)):
        log_theta = digamma(gamma[c]) - digamma(gamma[c].sum())
        total += gammaln(alpha.sum()) - gammaln(alpha).sum() + ((alpha - 1) * log_theta).sum()
        total -= gammaln(gamma[c].sum()) - gammaln(gamma[c]).sum() + ((gamma[c] - 1) * log_theta).sum()
        for row in np.flatnonzero(blocks == c):
            for g in range(X.shape[1]):
                if math.isnan(X[row, g]):
                    continue
                for k in range(len(alpha)):
                    log_density = norm.logpdf(X[row, g], means[k, g], math.sqrt(variances[k, g]))
                    if q[row, g, k] > 0:
                        total += q[row, g, k] * (log_theta[k] + log_density - math.log(q[row, g, k]))
    return total


def log_prior(prior, means, variances):
    """Return ln p(μ) + ln p(σ²) in the units of the fit, the latter unnormalised."""
    if isinstance(prior, FlatPrior):
        return 0.0
    return norm.logpdf(means, 0, math.sqrt(prior.mean_variance)).sum() - (prior.spread / variances).sum()


def two_process_log_likelihood(densities, alpha):
    """Return ln p of one block's cells, exact for two processes; densities (2, cells).

    The sum runs over the number of cells of the first process: Π (t p + (1 − t) q) is a polynomial, and
    t^j (1 − t)^(m − j) integrates to a Beta function.
    """
    coefficients = np.ones(1)
    for p, q in densities.T:
        coefficients = np.append(coefficients * q, 0) + np.append(0, coefficients * p)
    m = len(coefficients) - 1
    j = np.arange(m + 1)
    return np.log(coefficients @ np.exp(betaln(alpha[0] + j, alpha[1] + m - j) - betaln(*alpha)))
