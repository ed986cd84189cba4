"""K-means in the space of a kernel, with soft links."""

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, NamedTuple

import numpy as np
from sklearn.metrics import pairwise_distances_argmin
from sklearn.metrics.pairwise import pairwise_kernels

from sidelight._typing import AnyArray, FloatArray, IntArray
from sidelight.baselines.base import Partition, PartitionEstimator, Task
from sidelight.baselines.support.similarity import (
    cluster_rows,
    leading_eigenvectors,
    link_matrix,
    soft_links,
    unit_rows,
)
from sidelight.estimators.registry import register
from sidelight.graphs.neighbours import neighbour_gamma
from sidelight.tables.validation import check_choice, check_integer, check_number


@register
class ConstrainedKernelKMeans(PartitionEstimator):
    """Semi-supervised kernel k-means (SS-Kernel-KMeans; Kulis, Basu, Dhillon and Mooney 2009).

    A link adds its weight to the kernel of its two rows (must-link) or takes it away (cannot-link); weighted kernel
    k-means of the result lowers the spread of clusters plus the broken links, each divided by the size of its cluster.
    With row weights 1 this is k-means in the space of the kernel; with the row sums of the kernel as weights it is the
    normalised cut. The paper shifts the diagonal until the matrix is positive definite, which makes rows stick to where
    they are. Here rows move one at a time by the exact change of the objective, which needs no shift and never rises;
    the start is the spectral relaxation of the same objective.

    Parameters
    ----------
    n_clusters : int, optional
        None takes the number of labelled classes; 8, as scikit-learn does, where there are no labels.
    kernel : str or callable, default "rbf"
        Any kernel of scikit-learn's ``pairwise_kernels``, or "precomputed", which takes X as the kernel.
    gamma : float, optional
        Of the kernel. None: for "rbf" 1/2σ², σ being the median distance of rows from their 10th neighbour; for others
        scikit-learn's default.
    degree, coef0 : float
        Of the polynomial and sigmoid kernels.
    kernel_params : mapping, optional
        Further parameters of a callable kernel.
    row_weights : {"auto", "degree", "uniform"}, default "auto"
        "auto" takes the row sums of the kernel where no entry is negative, else 1.
    link_weight : float, default 0.1
        What a certain link weighs, in units of the mean row sum of the kernel (of absolute values); one with confidence
        q weighs 2q − 1 times as much.
    n_init : int, default 5
        Number of starts on the spectral relaxation; the one that ends lowest is kept.
    max_iter : int, default 100
        Rounds over the rows.
    random_state : int, RandomState or None
        Source of randomness; an integer gives the same result every time.

    Attributes
    ----------
    labels_ : (n,)
    n_clusters_ : int
    cluster_names_ : (n_clusters_,)
    gamma_ : float or None
    objective_, objectives_ : float, list of float
        At the end, and after every round.
    n_iter_, converged_ : int, bool
        Rounds over the rows, the last of which moves none where it converged.
    violations_ : Violations
        Statements that ``labels_`` break.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from sidelight.baselines import ConstrainedKernelKMeans
    >>> X, y = make_moons(200, noise=0.05, random_state=0)
    >>> y[:4].tolist()
    [0, 1, 1, 0]
    >>> model = ConstrainedKernelKMeans(2, random_state=0).fit(X, must_link=[(1, 2)], cannot_link=[(0, 1)])
    >>> model.violations_.total
    0
    """

    takes: ClassVar[frozenset[str]] = frozenset({"labels", "must_link", "cannot_link", "blocks", "confidence"})

    def __init__(
        self,
        n_clusters: int | None = None,
        *,
        kernel: str | Callable[..., Any] = "rbf",
        gamma: float | None = None,
        degree: float = 3,
        coef0: float = 1,
        kernel_params: Mapping[str, Any] | None = None,
        row_weights: str = "auto",
        link_weight: float = 0.1,
        n_init: int = 5,
        max_iter: int = 100,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.row_weights = row_weights
        self.link_weight = link_weight
        self.n_init = n_init
        self.max_iter = max_iter
        self.random_state = random_state

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.kernel == "precomputed"
        return tags

    def _check_parameters(self) -> None:
        check_choice("row_weights", self.row_weights, ("auto", "degree", "uniform"))
        check_number("link_weight", self.link_weight, least=0)
        if self.gamma is not None:
            check_number("gamma", self.gamma, least=0)
        check_integer("n_init", self.n_init, least=1)
        check_integer("max_iter", self.max_iter, least=1)

    def _partition(self, X: AnyArray, task: Task) -> Partition:
        if self.kernel == "precomputed" and X.shape[0] != X.shape[1]:
            raise ValueError(
                f"kernel='precomputed' needs a square X, the kernel of all rows, but X has shape {X.shape}."
            )
        self._rows = None if self.kernel == "precomputed" else X
        self.gamma_ = neighbour_gamma(X) if self.gamma is None and self.kernel == "rbf" else self.gamma
        kernel = self._kernel(X, X)
        weights = self._weights(kernel)
        scale = self.link_weight * float(np.abs(kernel).sum(axis=1).mean())
        similarity = kernel + (scale * link_matrix(soft_links(task.side), len(X))).toarray()
        runs = [
            exchange(similarity, weights, start, task.n_clusters, max_iter=self.max_iter)
            for start in _spectral_starts(similarity, weights, task.n_clusters, task.random, self.n_init)
        ]
        best = min(runs, key=lambda run: run.objectives[-1])
        members = np.eye(task.n_clusters)[best.clusters]
        mass = members.T @ weights
        inner = np.einsum("ik,ik->k", members, kernel @ members)
        far = np.finfo(float).max
        within = np.divide(inner, mass**2, out=np.full_like(mass, far), where=mass > 0)
        return best._replace(by_cluster={"_mass": mass, "_within": within})

    def _kernel(self, X: FloatArray, Y: FloatArray | None) -> FloatArray:
        if self.kernel == "precomputed":
            return X
        if callable(self.kernel):
            return pairwise_kernels(X, Y, metric=self.kernel, **(self.kernel_params or {}))
        named = {"gamma": self.gamma_, "degree": self.degree, "coef0": self.coef0}
        return pairwise_kernels(X, Y, metric=self.kernel, filter_params=True, **named)

    def _weights(self, kernel: FloatArray) -> FloatArray:
        positive = kernel.min() >= 0 and bool((kernel.sum(axis=1) > 0).all())
        if self.row_weights == "degree" and not positive:
            raise ValueError(
                "row_weights='degree' needs a kernel without negative entries; this one has some. Use 'uniform'."
            )
        self._by_degree = positive and self.row_weights != "uniform"
        return kernel.sum(axis=1) if self._by_degree else np.ones(len(kernel))

    def _place(self, X: AnyArray) -> IntArray:
        """Return the cluster with the nearest mean in the space of the kernel, links left aside."""
        kernel = self._kernel(X, self._rows)
        sums = kernel @ np.eye(self.n_clusters_)[self.labels_]
        weight = kernel.sum(axis=1, keepdims=True) if self._by_degree else np.ones((len(X), 1))
        far = weight[:, 0] == 0
        mass = np.where(self._mass > 0, self._mass, 1.0)
        clusters = (self._within - 2 * sums / (np.where(weight == 0, 1.0, weight) * mass)).argmin(axis=1)
        if far.any() and self._rows is not None:
            # So far away that the kernel vanishes for all rows: the nearest row decides.
            clusters[far] = self.labels_[pairwise_distances_argmin(X[far], self._rows)]
        return clusters


def _spectral_starts(
    similarity: FloatArray, weights: FloatArray, n_clusters: int, random: np.random.RandomState, n_init: int
) -> list[IntArray]:
    """Cluster the leading eigenvectors of the weighted matrix, which minimise the objective relaxed to any vectors."""
    root = 1 / np.sqrt(weights)
    vectors = leading_eigenvectors(root[:, None] * similarity * root, n_clusters, random)
    embedding = unit_rows(vectors * root[:, None])
    return [cluster_rows(embedding, n_clusters, random, n_init=1) for _ in range(n_init)]


class _Sums(NamedTuple):
    """Sums of the similarity matrix, kept up to date while rows move.

    ``to_cluster`` (clusters, n) is of the rows of each cluster with each row, ``within`` (clusters,) of the rows of
    each cluster with each other, ``mass`` (clusters,) of the weights of the rows, and ``score`` (clusters,) is within
    by mass, 0 of an empty cluster.
    """

    to_cluster: FloatArray
    within: FloatArray
    mass: FloatArray
    score: FloatArray


def exchange(
    similarity: FloatArray, weights: FloatArray, clusters: IntArray, n_clusters: int, *, max_iter: int
) -> Partition:
    """Lower Σ_i a_ii/w_i − Σ_k within_k/mass_k by moving one row at a time, as long as some move lowers it.

    The similarity (n, n) is symmetric and need not be positive definite; ``clusters`` (n,) is where to start. In each
    of ``max_iter`` rounds, the rows that would gain are looked at, those that gain most first.
    """
    clusters = clusters.copy()
    sums = _sums(similarity, weights, clusters, n_clusters)
    diagonal = similarity.diagonal()
    total = float((diagonal / weights).sum())
    threshold = 1e-12 * max(abs(total), 1.0)
    objectives: list[float] = []
    converged = False
    while len(objectives) < max_iter and not converged:
        best = _gains(sums, clusters, weights, diagonal).max(axis=0)
        converged = True
        for row in np.argsort(-best, kind="stable")[: int((best > threshold).sum())].tolist():
            target = _better_cluster(sums, row, clusters[row], weights[row], diagonal[row], threshold)
            if target is not None:
                _move(sums, similarity, weights, clusters, row, target)
                converged = False
        objectives.append(total - float(sums.score.sum()))
    return Partition(clusters, tuple(objectives), converged, {})


def _sums(similarity: FloatArray, weights: FloatArray, clusters: IntArray, n_clusters: int) -> _Sums:
    members = np.eye(n_clusters)[clusters]
    to_cluster = np.ascontiguousarray((similarity @ members).T)
    within, mass = np.einsum("ik,ki->k", members, to_cluster), members.T @ weights
    return _Sums(to_cluster, within, mass, np.divide(within, mass, out=np.zeros_like(mass), where=mass > 0))


def _gains(sums: _Sums, own: IntArray, weights: FloatArray, diagonal: FloatArray) -> FloatArray:
    """Return (clusters, n) by how much the objective falls if each row moves to each cluster.

    The last row of a cluster stays.
    """
    at = np.arange(len(own))
    joined = sums.within[:, None] + 2 * sums.to_cluster + diagonal
    joined /= sums.mass[:, None] + weights
    joined -= sums.score[:, None]
    rest = sums.mass[own] - weights
    stays = rest <= 1e-12 * sums.mass[own]
    left = sums.within[own] - 2 * sums.to_cluster[own, at] + diagonal
    gains = joined + (left / np.where(stays, 1.0, rest) - sums.score[own])
    gains[own, at] = 0.0
    gains[:, stays] = 0.0
    return gains


def _better_cluster(sums: _Sums, row: int, own: int, weight: float, diagonal: float, threshold: float) -> int | None:
    """Return where one row gains most, by more than the threshold; as `_gains`, which costs more for one row."""
    rest = sums.mass[own] - weight
    if rest <= 1e-12 * sums.mass[own]:
        return None
    near = sums.to_cluster[:, row]
    joined = (sums.within + 2 * near + diagonal) / (sums.mass + weight) - sums.score
    left = (sums.within[own] - 2 * near[own] + diagonal) / rest - sums.score[own]
    joined[own] = -left
    target = int(joined.argmax())
    return target if joined[target] + left > threshold else None


def _move(sums: _Sums, similarity: FloatArray, weights: FloatArray, clusters: IntArray, row: int, target: int) -> None:
    """Move a row and bring the sums up to date, in place."""
    source = clusters[row]
    sums.within[source] -= 2 * sums.to_cluster[source, row] - similarity[row, row]
    sums.within[target] += 2 * sums.to_cluster[target, row] + similarity[row, row]
    sums.mass[source] -= weights[row]
    sums.mass[target] += weights[row]
    for cluster in (source, target):
        sums.score[cluster] = sums.within[cluster] / sums.mass[cluster]
    sums.to_cluster[source] -= similarity[row]
    sums.to_cluster[target] += similarity[row]
    clusters[row] = target
