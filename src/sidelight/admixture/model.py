"""Latent process decomposition: its parameters, densities and draws, and the Dirichlet part of its bound.

Every block of rows c (a row without statements is a block of its own) has a distribution θ_c over K processes, drawn
from Dir(α). Every cell of its rows picks a process by θ_c and takes its value from that process's Gaussian for the
cell's attribute (Rogers et al. 2005; with blocks, Li, Ying and Campbell, eqs. 1 to 5).
"""

from typing import NamedTuple

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.special import digamma, gammaln

from sidelight._typing import AnyArray, FloatArray, IntArray

# Blocks that each use one process drive α to 0, blocks that all share one θ drive it to infinity. Neither has an end,
# and the bound hardly changes on the way: an α_k of 0.01 counts as much as a hundredth of a cell.
ALPHA_RANGE = (1e-2, 1e6)


class Parameters(NamedTuple):
    """The Dirichlet's parameter alpha (K,), and means and variances of the processes (K, d)."""

    alpha: FloatArray
    means: FloatArray
    variances: FloatArray


class State(NamedTuple):
    """What the ascent changes: parameters, and gamma (blocks, K), the Dirichlet posterior of every block."""

    parameters: Parameters
    gamma: FloatArray


class Densities(NamedTuple):
    """Gaussians ready to be evaluated, each (K, d): ln N(x) = constants − ((x − means) · slopes)²."""

    means: FloatArray
    slopes: FloatArray
    constants: FloatArray

    @classmethod
    def of(cls, means: FloatArray, variances: FloatArray) -> "Densities":
        """Return the Gaussians with these means and variances."""
        return cls(means, np.sqrt(0.5 / variances), -0.5 * np.log(2 * np.pi * variances))

    def log(self, values: FloatArray, out: FloatArray | None = None) -> FloatArray:
        """Return ln N of values (d, rows) under every process: (K, d, rows)."""
        scores = np.subtract(values[None], self.means[:, :, None], out=out)
        scores *= self.slopes[:, :, None]
        np.square(scores, out=scores)
        return np.subtract(self.constants[:, :, None], scores, out=scores)

    def columns(self, chosen: slice) -> "Densities":
        """Return the Gaussians of some attributes."""
        return Densities(*(part[:, chosen] for part in self))


def expected_log(gamma: FloatArray) -> FloatArray:
    """Return E ln θ under Dir(γ), along the last axis."""
    return digamma(gamma) - digamma(gamma.sum(axis=-1, keepdims=True))


def log_normaliser(concentration: FloatArray) -> FloatArray:
    """Return ln Γ(Σ) − Σ ln Γ of a Dirichlet's parameter, along the last axis."""
    return gammaln(concentration.sum(axis=-1)) - gammaln(concentration).sum(axis=-1)


def dirichlet_bound(alpha: FloatArray, gamma: FloatArray) -> float:
    """Return Σ_c E_q[ln p(θ_c | α) − ln q(θ_c | γ_c)], the part of the bound that belongs to the blocks' distributions.

    Li, Ying and Campbell print the entropy as E_q[q]; it is E_q[ln q].
    """
    share = (alpha - gamma) * expected_log(gamma)
    return float(len(gamma) * log_normaliser(alpha) - log_normaliser(gamma).sum() + share.sum())


def draw(parameters: Parameters, n: int, random: np.random.RandomState) -> tuple[FloatArray, FloatArray]:
    """Draw n rows, each a block of its own; returns the rows (n, d) and their distributions θ (n, K)."""
    shares = np.exp(draw_log_shares(parameters.alpha, n, random))
    means, variances = parameters.means, parameters.variances
    d = means.shape[1]
    cumulated = np.cumsum(shares, axis=1)
    chosen = (random.uniform(size=(n, d, 1)) * cumulated[:, None, -1:] > cumulated[:, None, :]).sum(axis=2)
    columns = np.arange(d)
    noise = random.standard_normal((n, d))
    return means[chosen, columns] + noise * np.sqrt(variances[chosen, columns]), shares


def draw_log_shares(concentration: FloatArray, n: int, random: np.random.RandomState) -> FloatArray:
    """Draw ln θ (n, K) from a Dirichlet.

    Gamma variates with a small parameter underflow, so their logarithms are drawn: G(a) has the distribution of
    G(a + 1) U^(1/a).
    """
    size = (n, len(concentration))
    logs = np.log(random.standard_gamma(concentration + 1, size=size))
    logs += np.log1p(-random.uniform(size=size)) / concentration
    return logs - np.logaddexp.reduce(logs, axis=1, keepdims=True)


def match_labels(shares: FloatArray, codes: IntArray, n_labels: int) -> IntArray:
    """Return the processes (K,), those of labels 0, 1, … first.

    Labels and processes are matched one to one so that the ``shares`` (n, K) of labelled rows in the process of their
    label have the largest sum; ``codes`` (n,) are label codes, -1 unknown.
    """
    sums = np.zeros((n_labels, shares.shape[1]))
    labelled = np.flatnonzero(codes >= 0)
    np.add.at(sums, codes[labelled], shares[labelled])
    matched = linear_sum_assignment(sums, maximize=True)[1]
    return np.concatenate([matched, np.setdiff1d(np.arange(shares.shape[1]), matched)])


class AttributeRanking(NamedTuple):
    """Attributes ranked by the distance of two processes, the largest first: columns, names, distances, each (d,)."""

    columns: IntArray
    names: AnyArray
    distances: FloatArray

    @classmethod
    def of(cls, names: AnyArray, distances: FloatArray) -> "AttributeRanking":
        """Return the ranking of attributes with these names and distances, each (d,)."""
        columns = np.argsort(-distances, kind="stable")
        return cls(columns, names[columns], distances[columns])


def attribute_distances(means: FloatArray, scales: FloatArray, first: int, second: int) -> FloatArray:
    """Return the Bhattacharyya distance of two processes in every attribute, (d,).

    For Gaussians Δ²/4(σ² + τ²) + ½ ln((σ² + τ²)/2στ): large where the means differ, and where one process varies much
    more than the other. Half its negative exponential bounds the error rate when a cell is assigned to one of the two.
    The Kullback-Leibler divergence gives no such bound and is very large where one of the densities is narrow.
    """
    pooled = np.square(scales[first]) + np.square(scales[second])
    shifted = 0.25 * np.square(means[first] - means[second]) / pooled
    return shifted + 0.5 * np.log(pooled / (2 * scales[first] * scales[second]))
