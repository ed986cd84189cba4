"""Squared distances (x − y)ᵀA(x − y) whose A is fixed or learned (Bilenko, Basu and Mooney 2004).

A metric holds one A for all clusters or one for each; arrays over groups of clusters are written (groups, …), and
``groups`` is 1 or the number of clusters. The cost of a broken cannot-link needs a distance that no pair exceeds. The
paper takes the farthest pair under A, which changes with A, so that its update of A can raise the objective. Here it is
tr(A·reach) with a fixed matrix ``reach`` that exceeds every (x − y)(x − y)ᵀ of the table: linear in A, which makes the
update exact, and positive definite without repair.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import NamedTuple, Self

import numpy as np

from sidelight._storable import storable
from sidelight._typing import AnyArray, FloatArray, IntArray
from sidelight.baselines.support.centres import squared_distances

# The prior counts like one row with the variances of the table, which keeps A finite for clusters without spread.
_PRIOR_ROWS = 1.0


class Statistics(NamedTuple):
    """What a metric is learned from, each over groups of clusters.

    Parameters
    ----------
    differences : (m, d)
        Of rows from centres and of rows of broken links.
    weights : (m,)
        Negative where a large distance is good: broken cannot-links.
    groups : (m,)
        The group each difference counts for.
    reach : (groups,)
        How often ``reach`` counts: the weight of broken cannot-links.
    mass : (groups,)
        Number of rows.
    """

    differences: FloatArray
    weights: FloatArray
    groups: IntArray
    reach: FloatArray
    mass: FloatArray


def unit_variances(X: FloatArray) -> FloatArray:
    """Return the variance of each feature, and the mean variance for constant ones."""
    variance = X.var(axis=0)
    scale = float(variance.mean()) or 1.0
    return np.where(variance > 1e-12 * scale, variance, scale)


@storable("EuclideanMetric")
@dataclass(frozen=True, eq=False)
class EuclideanMetric:
    """The plain squared distance; nothing is learned."""

    d: int
    farthest: FloatArray
    n_groups: int = 1
    learns = False

    @classmethod
    def start(cls, X: FloatArray, n_groups: int) -> Self:
        """Return the metric for a table."""
        lengths = np.sort(np.linalg.norm(X - X.mean(axis=0), axis=1))[-2:]
        return cls(X.shape[1], np.array([np.square(lengths.sum())]))

    @property
    def log_det(self) -> FloatArray:
        """Log determinant of the identity."""
        return np.zeros(1)

    def to_centres(self, X: FloatArray, centres: FloatArray) -> FloatArray:
        """Return squared distances of rows from centres, (n, centres)."""
        return squared_distances(X, centres)

    def lengths(self, differences: FloatArray) -> FloatArray:
        """Return squared lengths of differences, (m, 1)."""
        return np.square(differences).sum(axis=1, keepdims=True)

    def penalty(self) -> float:
        """Return 0: nothing is learned."""
        return 0.0

    def update(self, statistics: Statistics) -> Self:
        """Return the same metric."""
        return self

    def select(self, groups: IntArray) -> Self:
        """Return the same metric."""
        return self

    def matrices(self) -> FloatArray:
        """Return the identity."""
        return np.eye(self.d)


class LearnedMetric(ABC):
    """What metrics with a learned A share: how distances, the farthest one and the prior follow from it."""

    learns = True
    reach: FloatArray
    prior: FloatArray

    @property
    @abstractmethod
    def log_det(self) -> FloatArray:
        """Log determinants, (groups,)."""

    @abstractmethod
    def _roots(self) -> AnyArray:
        """Return a square root of each A, (groups, …)."""

    @abstractmethod
    def _scaled(self, rows: FloatArray, root: FloatArray) -> FloatArray:
        """Return rows under one root."""

    @abstractmethod
    def _trace(self, matrix: FloatArray) -> FloatArray:
        """Return tr(A·matrix), (groups,)."""

    @property
    def farthest(self) -> FloatArray:
        """A squared distance that no pair of rows exceeds, (groups,)."""
        return self._trace(self.reach)

    def to_centres(self, X: FloatArray, centres: FloatArray) -> FloatArray:
        """Return squared distances of rows from centres, (n, centres)."""
        roots = self._roots()
        if len(roots) == 1:
            return squared_distances(self._scaled(X, roots[0]), self._scaled(centres, roots[0]))
        columns = [
            squared_distances(self._scaled(X, root), self._scaled(centre, root)[None])
            for root, centre in zip(roots, centres, strict=True)
        ]
        return np.hstack(columns)

    def penalty(self) -> float:
        """Return what the prior adds to the objective."""
        return float((self._trace(self.prior) - _PRIOR_ROWS * self.log_det).sum())


@storable("DiagonalMetric")
@dataclass(frozen=True, eq=False)
class DiagonalMetric(LearnedMetric):
    """A weight for each feature, (groups, d); ``reach`` is the squared width of the box around the table."""

    scales: FloatArray
    reach: FloatArray
    prior: FloatArray

    @classmethod
    def start(cls, X: FloatArray, n_groups: int) -> Self:
        """Return the metric to start from: the Euclidean one, as the paper does, in units of the mean variance."""
        variance = unit_variances(X)
        scales = np.full((n_groups, X.shape[1]), 1 / variance.mean())
        return cls(scales, np.square(np.ptp(X, axis=0)), _PRIOR_ROWS * variance)

    @property
    def n_groups(self) -> int:
        """Number of matrices."""
        return len(self.scales)

    @property
    def log_det(self) -> FloatArray:
        """Log determinants, (groups,)."""
        return np.log(self.scales).sum(axis=1)

    def _roots(self) -> AnyArray:
        return np.sqrt(self.scales)

    def _scaled(self, rows: FloatArray, root: FloatArray) -> FloatArray:
        return rows * root

    def _trace(self, matrix: FloatArray) -> FloatArray:
        return self.scales @ matrix

    def lengths(self, differences: FloatArray) -> FloatArray:
        """Return squared lengths of differences, (m, groups)."""
        return np.square(differences) @ self.scales.T

    def update(self, statistics: Statistics) -> Self:
        """Minimise Σ_g tr(A_g T_g) − N_g ln|A_g|, which gives N_g / T_g feature by feature."""
        totals = np.zeros_like(self.scales)
        squares = np.square(statistics.differences) * statistics.weights[:, None]
        for group in range(len(totals)):
            totals[group] = squares[statistics.groups == group].sum(axis=0)
        totals += statistics.reach[:, None] * self.reach + self.prior
        return replace(self, scales=(statistics.mass[:, None] + _PRIOR_ROWS) / totals)

    def select(self, groups: IntArray) -> Self:
        """Return the metric with its groups in another order; one with a single group stays."""
        return self if len(self.scales) == 1 else replace(self, scales=self.scales[groups])

    def matrices(self) -> FloatArray:
        """Return A: (d, d) for one group, else (groups, d, d)."""
        matrices = self.scales[:, :, None] * np.eye(self.scales.shape[1])
        return matrices[0] if len(matrices) == 1 else matrices


@storable("FullMetric")
@dataclass(frozen=True, eq=False)
class FullMetric(LearnedMetric):
    """Any positive definite A, (groups, d, d); ``reach`` is the covariance, widened to hold every difference."""

    forms: FloatArray
    reach: FloatArray
    prior: FloatArray

    @classmethod
    def start(cls, X: FloatArray, n_groups: int) -> Self:
        """Return the metric to start from: the Euclidean one, as the paper does, in units of the mean variance."""
        variance = unit_variances(X)
        centred = X - X.mean(axis=0)
        covariance = centred.T @ centred / len(X) + 1e-6 * np.diag(variance)
        lengths = np.einsum("ij,ij->i", centred, np.linalg.solve(covariance, centred.T).T)
        widest = np.square(np.sqrt(np.sort(lengths)[-2:]).sum())
        forms = np.tile(np.eye(X.shape[1]) / variance.mean(), (n_groups, 1, 1))
        return cls(forms, widest * covariance, _PRIOR_ROWS * np.diag(variance))

    @property
    def n_groups(self) -> int:
        """Number of matrices."""
        return len(self.forms)

    @property
    def log_det(self) -> FloatArray:
        """Log determinants, (groups,)."""
        return np.linalg.slogdet(self.forms)[1]

    def _roots(self) -> AnyArray:
        return np.linalg.cholesky(self.forms)

    def _scaled(self, rows: FloatArray, root: FloatArray) -> FloatArray:
        return rows @ root

    def _trace(self, matrix: FloatArray) -> FloatArray:
        return np.einsum("gij,ji->g", self.forms, matrix)

    def lengths(self, differences: FloatArray) -> FloatArray:
        """Return squared lengths of differences, (m, groups)."""
        return np.stack([np.square(differences @ root).sum(axis=1) for root in self._roots()], axis=1)

    def update(self, statistics: Statistics) -> Self:
        """Minimise Σ_g tr(A_g T_g) − N_g ln|A_g|, which gives N_g T_g⁻¹."""
        forms = np.empty_like(self.forms)
        for group in range(len(forms)):
            chosen = statistics.groups == group
            differences = statistics.differences[chosen]
            total = (differences * statistics.weights[chosen, None]).T @ differences
            total += statistics.reach[group] * self.reach + self.prior
            inverse = np.linalg.inv(total) * (statistics.mass[group] + _PRIOR_ROWS)
            forms[group] = (inverse + inverse.T) / 2
        return replace(self, forms=forms)

    def select(self, groups: IntArray) -> Self:
        """Return the metric with its groups in another order; one with a single group stays."""
        return self if len(self.forms) == 1 else replace(self, forms=self.forms[groups])

    def matrices(self) -> FloatArray:
        """Return A: (d, d) for one group, else (groups, d, d)."""
        return self.forms[0] if len(self.forms) == 1 else self.forms


Metric = EuclideanMetric | DiagonalMetric | FullMetric
