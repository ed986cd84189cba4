"""Spectral clustering that respects links as far as the graph supports them."""

from typing import Any, ClassVar, NamedTuple

import numpy as np
from scipy.sparse import csr_array, diags_array, issparse
from sklearn.utils.validation import validate_data

from sidelight._typing import AnyArray, FloatArray, IntArray
from sidelight.baselines.base import Partition, PartitionEstimator, Task
from sidelight.baselines.support.similarity import (
    SoftLinks,
    cluster_rows,
    leading_eigenvectors,
    link_matrix,
    soft_links,
    unit_rows,
)
from sidelight.estimators.registry import register
from sidelight.graphs.neighbours import neighbour_gamma, row_graph, to_neighbours
from sidelight.tables.validation import check_choice, check_integer, check_number

# Weights of a link tried, in units of the mean degree: from a few edges' worth to more than a row's whole degree.
_PATH = (0.0, 0.03, 0.1, 0.3, 1.0, 3.0)


@register
class ConstrainedSpectralClustering(PartitionEstimator):
    """Flexible constrained spectral clustering (Wang and Davidson 2010; Wang, Qian and Davidson 2014).

    With L̄ the normalised Laplacian of the graph and Q̄ the normalised matrix of links (positive for must-links, negative
    for cannot-links), their program is: minimise vᵀL̄v over unit vectors with vᵀQ̄v ≥ β. Its minimum is the lowest
    eigenvector of L̄ − γQ̄, γ being the multiplier that belongs to β. So instead of guessing β, γ is raised step by step
    until no link is broken; each time, the K lowest eigenvectors are clustered (K = 2 included). Kept is the partition
    for which two fractions add up to least: the normalised cut per cluster and the broken part of the links.

    Parameters
    ----------
    n_clusters : int, optional
        None takes the number of labelled classes; 8, as scikit-learn does, where there are no labels.
    affinity : {"nearest_neighbors", "rbf", "precomputed"}, default "nearest_neighbors"
        The graph: Gaussian similarities of nearest neighbours (sparse) or of all pairs, or X itself, which may be
        sparse.
    n_neighbors : int, default 10
        Number of nearest rows that each row is joined to.
    gamma : float, optional
        Of exp(−γ‖x − y‖²). None: 1/2σ², σ being the median distance of rows from their 10th neighbour.
    link_weight : float, optional
        What a certain link weighs, in units of the mean degree; one with confidence q weighs 2q − 1 times as much. None
        searches for it as described above.
    n_init : int, default 5
        Number of starts of k-means on the eigenvectors.
    n_jobs : int, optional
        Threads that look for neighbours.
    random_state : int, RandomState or None
        Source of randomness; an integer gives the same result every time.

    Attributes
    ----------
    labels_ : (n,)
    n_clusters_ : int
    cluster_names_ : (n_clusters_,)
    affinity_matrix_ : (n, n) sparse array
    gamma_ : float
    link_weight_ : float
        The weight that was kept.
    objective_ : float
        Normalised cut of ``labels_``; ``objectives_`` has that of every weight tried.
    n_iter_, converged_ : int, bool
        Number of weights tried; always True.
    violations_ : Violations
        Statements that ``labels_`` break.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from sidelight.baselines import ConstrainedSpectralClustering
    >>> X, y = make_moons(100, noise=0.03, random_state=0)
    >>> model = ConstrainedSpectralClustering(2, random_state=0).fit(X, must_link=[(0, 2)], cannot_link=[(0, 1)])
    >>> model.violations_.total
    0
    """

    takes: ClassVar[frozenset[str]] = frozenset({"labels", "must_link", "cannot_link", "blocks", "confidence"})

    def __init__(
        self,
        n_clusters: int | None = None,
        *,
        affinity: str = "nearest_neighbors",
        n_neighbors: int = 10,
        gamma: float | None = None,
        link_weight: float | None = None,
        n_init: int = 5,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.affinity = affinity
        self.n_neighbors = n_neighbors
        self.gamma = gamma
        self.link_weight = link_weight
        self.n_init = n_init
        self.n_jobs = n_jobs
        self.random_state = random_state

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.affinity == "precomputed"
        tags.input_tags.sparse = self.affinity == "precomputed"
        return tags

    def _check_parameters(self) -> None:
        check_choice("affinity", self.affinity, ("nearest_neighbors", "rbf", "precomputed"))
        check_integer("n_neighbors", self.n_neighbors, least=1)
        if self.gamma is not None:
            check_number("gamma", self.gamma, least=0)
        if self.link_weight is not None:
            check_number("link_weight", self.link_weight, least=0)
        check_integer("n_init", self.n_init, least=1)

    def _read_rows(self, X: Any, *, reset: bool) -> AnyArray:
        if self.affinity != "precomputed":
            return super()._read_rows(X, reset=reset)
        return validate_data(self, X, reset=reset, accept_sparse="csr", dtype=np.float64)

    def _partition(self, X: AnyArray, task: Task) -> Partition:
        graph = self._graph(X)
        links = soft_links(task.side)
        n_links = len(links.must) + len(links.cannot)
        path = _PATH if self.link_weight is None else (float(self.link_weight),)
        weights = path if n_links else path[:1]
        cuts: list[Cut] = []
        for weight in weights:
            cuts.append(cut_graph(graph, links, weight, task.n_clusters, task.random, n_init=self.n_init))
            if cuts[-1].broken == 0:
                break
        best = min(range(len(cuts)), key=lambda number: cuts[number].broken + cuts[number].cost / task.n_clusters)
        self.affinity_matrix_ = graph
        self.link_weight_ = weights[best]
        costs = tuple(cut.cost for cut in cuts)
        return Partition(cuts[best].clusters, costs, True, {}, objective=costs[best])

    def _graph(self, X: AnyArray) -> "csr_array[np.float64]":
        if self.affinity == "precomputed":
            return _given_graph(X)
        self._rows = X
        self.gamma_ = neighbour_gamma(X) if self.gamma is None else float(self.gamma)
        wanted = self.n_neighbors if self.affinity == "nearest_neighbors" else None
        return row_graph(X, "rbf", n_neighbors=wanted, gamma=self.gamma_, n_jobs=self.n_jobs)

    def _place(self, X: AnyArray) -> IntArray:
        """Return the cluster that each row is most similar to."""
        if self.affinity != "precomputed":
            X = to_neighbours(X, self._rows, "rbf", n_neighbors=self.n_neighbors, gamma=self.gamma_, n_jobs=self.n_jobs)
        votes = X @ np.eye(self.n_clusters_)[self.labels_]
        return np.asarray(votes).argmax(axis=1)


class Cut(NamedTuple):
    """A partition, the part of the links it breaks, by weight, and its normalised cut."""

    clusters: IntArray
    broken: float
    cost: float


def cut_graph(
    graph: "csr_array[np.float64]",
    links: SoftLinks,
    link_weight: float,
    n_clusters: int,
    random: np.random.RandomState,
    *,
    n_init: int,
) -> Cut:
    """Cluster the K lowest eigenvectors of L̄ − γQ̄, which are the K leading ones of D^(-1/2) (W + γQ) D^(-1/2)."""
    degrees = _degrees(graph)
    vectors = constrained_eigenvectors(graph, links, link_weight * float(degrees.mean()), n_clusters, random)
    embedding = unit_rows(vectors / np.sqrt(degrees)[:, None])
    clusters = cluster_rows(embedding, n_clusters, random, n_init=n_init)
    apart = clusters[links.must[:, 0]] != clusters[links.must[:, 1]]
    together = clusters[links.cannot[:, 0]] == clusters[links.cannot[:, 1]]
    total = float(links.must_weight.sum() + links.cannot_weight.sum())
    broken = float(links.must_weight @ apart + links.cannot_weight @ together)
    return Cut(clusters, broken / total if total else 0.0, normalised_cut(graph, clusters, n_clusters))


def constrained_eigenvectors(
    graph: "csr_array[np.float64]", links: SoftLinks, multiplier: float, number: int, random: np.random.RandomState
) -> FloatArray:
    """Return the lowest eigenvectors of L̄ − γQ̄, (n, number), γ being the multiplier."""
    root = diags_array(1 / np.sqrt(_degrees(graph)))
    matrix = root @ (graph + multiplier * link_matrix(links, graph.shape[0])) @ root
    return leading_eigenvectors(matrix.tocsr(), number, random)


def normalised_cut(graph: "csr_array[np.float64]", clusters: IntArray, n_clusters: int) -> float:
    """Return Σ_k cut(k) / volume(k) (Shi and Malik 2000); empty clusters cost zero."""
    members = np.eye(n_clusters)[clusters]
    volume = members.T @ _degrees(graph)
    inner = (members * (graph @ members)).sum(axis=0)
    return float(((volume - inner)[volume > 0] / volume[volume > 0]).sum())


def _degrees(graph: "csr_array[np.float64]") -> FloatArray:
    """Return the degrees, with a tiny value for rows that are joined to none; all one where no row is joined."""
    degrees = np.asarray(graph.sum(axis=1)).ravel()
    return np.maximum(degrees, 1e-10 * float(degrees.mean())) if degrees.any() else np.ones(len(degrees))


def _given_graph(X: AnyArray) -> "csr_array[np.float64]":
    if X.shape[0] != X.shape[1]:
        raise ValueError(f"affinity='precomputed' needs a square X of similarities, but X has shape {X.shape}.")
    graph = csr_array(X)
    if graph.nnz and graph.data.min() < 0:
        raise ValueError("affinity='precomputed' needs similarities of at least 0, but X has negative ones.")
    if not issparse(X) and not np.allclose(X, X.T):
        raise ValueError("affinity='precomputed' needs a symmetric X; pass (X + X.T) / 2, say.")
    graph = ((graph + graph.T) / 2).tolil()
    graph.setdiag(0)
    return csr_array(graph)
