"""Mixtures with columns of several kinds whose truth is known: tables, and the best that can be made of them."""

from typing import NamedTuple

import numpy as np
from scipy.stats import multivariate_normal, poisson


class Truth(NamedTuple):
    """A mixture of components with independent columns, but for the Gaussian ones.

    Parameters
    ----------
    weights : (k,)
    means, covariances : (k, g), (k, g, g)
    rates : (k, p)
    bits : (k, b)
        Probabilities of a one.
    shares : list of (k, categories)
        Probabilities of the categories, one array per categorical column.
    """

    weights: np.ndarray
    means: np.ndarray
    covariances: np.ndarray
    rates: np.ndarray
    bits: np.ndarray
    shares: list[np.ndarray]

    @property
    def kinds(self) -> list[str]:
        """The kind of each column, in the order in which tables have them."""
        n_each = (self.means.shape[1], self.rates.shape[1], self.bits.shape[1], len(self.shares))
        kinds = ("gaussian", "poisson", "bernoulli", "categorical")
        return [kind for kind, n in zip(kinds, n_each, strict=True) for _ in range(n)]

    def draw(self, n: int, missing: float, random: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Return a table, categories as their codes and cells missing at random, and the components of its rows."""
        z = random.choice(len(self.weights), size=n, p=self.weights)
        roots = np.linalg.cholesky(self.covariances)
        noise = random.standard_normal((n, self.means.shape[1]))
        parts = [
            self.means[z] + np.einsum("nij,nj->ni", roots[z], noise),
            random.poisson(self.rates[z]),
            random.random((n, self.bits.shape[1])) < self.bits[z],
            *(
                (random.random((n, 1)) > np.cumsum(shares[z], axis=1)[:, :-1]).sum(axis=1)[:, None]
                for shares in self.shares
            ),
        ]
        table = np.concatenate(parts, axis=1).astype(float)
        table[random.random(table.shape) < missing] = np.nan
        return table, z

    def best_labels(self, table: np.ndarray) -> np.ndarray:
        """Return the most probable component of each row given its observed cells, knowing the truth."""
        return np.stack([self._log_joint(table, k) for k in range(len(self.weights))], axis=1).argmax(axis=1)

    def _log_joint(self, table: np.ndarray, k: int) -> np.ndarray:
        g, p, b = self.means.shape[1], self.rates.shape[1], self.bits.shape[1]
        total = np.log(self.weights[k]) + _gaussian(table[:, :g], self.means[k], self.covariances[k])
        total += np.nansum(poisson.logpmf(table[:, g : g + p], self.rates[k]), axis=1)
        ones = table[:, g + p : g + p + b]
        total += np.nansum(ones * np.log(self.bits[k]) + (1 - ones) * np.log1p(-self.bits[k]), axis=1)
        for codes, shares in zip(table[:, g + p + b :].T, self.shares, strict=True):
            seen = ~np.isnan(codes)
            total[seen] += np.log(shares[k][codes[seen].astype(int)])
        return total


def _gaussian(cells: np.ndarray, mean: np.ndarray, covariance: np.ndarray) -> np.ndarray:
    """Return log densities of the observed cells of each row, one pattern of missing cells after another."""
    seen = ~np.isnan(cells)
    log_density = np.zeros(len(cells))
    for pattern in np.unique(seen, axis=0):
        if pattern.any():
            rows = (seen == pattern).all(axis=1)
            margin = multivariate_normal(mean[pattern], covariance[np.ix_(pattern, pattern)])
            log_density[rows] = margin.logpdf(cells[np.ix_(rows, pattern)])
    return log_density


def draw_truth(
    random: np.random.Generator,
    *,
    n_components: int,
    gaussian: int = 0,
    poisson: int = 0,
    bernoulli: int = 0,
    categorical: int = 0,
    correlated: bool = False,
) -> Truth:
    """Draw a mixture with so many columns of each kind, whose components overlap."""
    k = n_components
    covariances = np.zeros((k, gaussian, gaussian))
    for component in range(k if gaussian else 0):
        scales = np.exp(0.4 * random.standard_normal(gaussian))
        directions = random.standard_normal((gaussian, 2 * gaussian)) if correlated else np.eye(gaussian)
        covariance = directions @ directions.T
        widths = scales / np.sqrt(np.diagonal(covariance))
        covariances[component] = covariance * np.outer(widths, widths)
    return Truth(
        weights=random.dirichlet(np.full(k, 20.0)),
        means=1.3 * random.standard_normal((k, gaussian)),
        covariances=covariances,
        rates=4.0 * np.exp(0.5 * random.standard_normal((k, poisson))),
        bits=random.beta(1.0, 1.0, size=(k, bernoulli)).clip(0.05, 0.95),
        shares=[random.dirichlet(np.ones(2 + column % 5), size=k) for column in range(categorical)],
    )
