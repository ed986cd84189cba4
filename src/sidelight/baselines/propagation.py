"""Labels that spread over a graph of similar rows."""

from typing import Any, ClassVar, NamedTuple

import numpy as np
from scipy.sparse import csr_array, diags_array
from scipy.sparse.csgraph import connected_components
from sklearn.metrics import pairwise_distances_argmin
from sklearn.utils.validation import check_is_fitted

from sidelight._typing import AnyArray, FloatArray, IntArray
from sidelight._warnings import warn
from sidelight.baselines.base import Partition, PartitionEstimator, Task
from sidelight.baselines.support.centres import move_centres
from sidelight.estimators.base.features import PosteriorFeatures
from sidelight.estimators.registry import register
from sidelight.graphs.neighbours import SIMILARITIES, neighbour_gamma, row_graph, to_neighbours
from sidelight.inference.executors.threads import one_blas_thread
from sidelight.inference.starts import lloyd, spread_centres
from sidelight.tables.validation import check_choice, check_integer, check_number

_LLOYD_STEPS = 10


@register
class GraphPropagation(PartitionEstimator, PosteriorFeatures):
    """Labels propagated over a graph by a quadratic criterion (Amini, lecture; Zhou et al. 2004, Zhu et al. 2003).

    With one column of Ỹ per class, W the similarities of rows that are joined and D their sums, it minimises

        ½ ‖SỸ − SY‖² + λ Ỹᵀ(D − W)Ỹ,    which is solved by    (S + 2λ(D − W)) Ỹ = SY,

    where S keeps the labelled rows. (The lecture's solution lacks the 2.) The rows of Ỹ are not negative and add up to
    one, so they are the probabilities of the classes. Rows in a part of the graph without any label are placed like new
    rows, among the nearest rows that labels reach, and a warning says how many.

    Parameters
    ----------
    n_clusters : int, optional
        None takes the number of labelled classes; 8, as scikit-learn does, where there are no labels. A cluster
        without labels is seeded by one row, the nearest to a centre that k-means finds for it.
    similarity : {"rbf", "binary", "cosine", "dice", "jaccard"}, default "rbf"
        The weight of an edge. "binary" is 1 for every neighbour; the last three are the lecture's similarities of
        texts, Jaccard in Tanimoto's form for real numbers.
    n_neighbors : int or None, default 10
        Number of most similar rows that each row is joined to; None joins all rows, for small tables.
    gamma : float, optional
        Of exp(−γ‖x − y‖²). None: 1/2σ², σ being the median distance of rows from their 10th neighbour.
    smoothness : float, default 0.01
        Weight (λ) of smoothness over the graph against the fit to the labels.
    max_iter : int, default 1000
        Of conjugate gradients.
    tol : float, default 1e-10
        Of their residual, relative.
    n_jobs : int, optional
        Threads that look for neighbours.
    random_state : int, RandomState or None
        Of the seeds of clusters without labels.

    Attributes
    ----------
    labels_ : (n,)
        The most probable class; a labelled row may be outvoted by its neighbours.
    posterior_ : (n, n_clusters_)
        Ỹ, the probability of each class for each row.
    n_clusters_ : int
    cluster_names_ : (n_clusters_,)
    gamma_ : float
    objective_ : float
        The criterion; it is minimised once, so ``objectives_`` has no other value.
    n_iter_, converged_ : int, bool
        Of conjugate gradients.
    violations_ : Violations
        Labels that ``labels_`` break.

    Examples
    --------
    >>> import numpy as np
    >>> from sidelight.baselines import GraphPropagation
    >>> X = np.array([[0.0], [0.2], [0.4], [5.0], [5.2], [5.4]])
    >>> model = GraphPropagation(n_neighbors=2).fit(X, [0, -1, -1, 1, -1, -1])
    >>> model.labels_.tolist(), model.predict([[4.0]]).tolist()
    ([0, 0, 0, 1, 1, 1], [1])
    """

    takes: ClassVar[frozenset[str]] = frozenset({"labels"})

    def __init__(
        self,
        n_clusters: int | None = None,
        *,
        similarity: str = "rbf",
        n_neighbors: int | None = 10,
        gamma: float | None = None,
        smoothness: float = 0.01,
        max_iter: int = 1000,
        tol: float = 1e-10,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.similarity = similarity
        self.n_neighbors = n_neighbors
        self.gamma = gamma
        self.smoothness = smoothness
        self.max_iter = max_iter
        self.tol = tol
        self.n_jobs = n_jobs
        self.random_state = random_state

    @property
    def posterior_(self) -> FloatArray:
        """Probability of each class for each row of the table that was fitted."""
        check_is_fitted(self)
        return self._shares.T

    def predict_proba(self, X: Any) -> FloatArray:
        """Return the probability of each class for each row of a table: the mean of its neighbours', by similarity.

        This is what minimises the criterion for one more row, the others being held (Bengio et al. 2006).

        Parameters
        ----------
        X : (n, d) array or data frame
            A table with the columns of the one that was fitted.

        Returns
        -------
        (n, n_clusters_) array
            Probabilities, by row and class.
        """
        check_is_fitted(self)
        rows = self._read_rows(X, reset=False)
        with one_blas_thread():
            return self._soft(rows)

    def _check_parameters(self) -> None:
        check_choice("similarity", self.similarity, SIMILARITIES)
        if self.n_neighbors is not None:
            check_integer("n_neighbors", self.n_neighbors, least=1)
        if self.gamma is not None:
            check_number("gamma", self.gamma, least=0)
        check_number("smoothness", self.smoothness, least=np.finfo(float).tiny)
        check_number("tol", self.tol, least=0)
        check_integer("max_iter", self.max_iter, least=1)

    def _partition(self, X: AnyArray, task: Task) -> Partition:
        codes = task.labels.codes
        if len(task.labels.names) < task.n_clusters:
            codes = seed_unlabelled(X, codes, task.n_clusters, task.random)
        self._rows = X
        self.gamma_ = neighbour_gamma(X) if self.gamma is None else float(self.gamma)
        graph = row_graph(X, self.similarity, n_neighbors=self.n_neighbors, gamma=self.gamma_, n_jobs=self.n_jobs)
        spread = propagate(
            graph, codes, task.n_clusters, smoothness=self.smoothness, tol=self.tol, max_iter=self.max_iter
        )
        shares = spread.shares
        unreached = np.flatnonzero(~spread.reached)
        if len(unreached):
            warn(
                f"No label reaches {len(unreached)} of {len(X)} rows (row {unreached[0]} is the first) over the "
                "graph, so they are placed among the nearest rows that labels reach; raise n_neighbors to join them.",
            )
            reached = np.flatnonzero(spread.reached)
            shares[unreached] = self._neighbours(X[unreached], X[reached]) @ shares[reached]
        return Partition(
            shares.argmax(axis=1), (spread.criterion,), spread.converged, {"_shares": shares.T}, n_iter=spread.n_iter
        )

    def _neighbours(self, X: FloatArray, among: FloatArray) -> "csr_array[np.float64]":
        return to_neighbours(
            X, among, self.similarity, n_neighbors=self.n_neighbors, gamma=self.gamma_, n_jobs=self.n_jobs
        )

    def _soft(self, X: FloatArray) -> FloatArray:
        return self._neighbours(X, self._rows) @ self.posterior_

    def _place(self, X: AnyArray) -> IntArray:
        return self._soft(X).argmax(axis=1)


class PropagationResult(NamedTuple):
    """Ỹ (n, classes), which rows labels reach, the criterion, and how its solution went."""

    shares: FloatArray
    reached: AnyArray
    criterion: float
    n_iter: int
    converged: bool


def propagate(
    graph: "csr_array[np.float64]", codes: IntArray, n_classes: int, *, smoothness: float, tol: float, max_iter: int
) -> PropagationResult:
    """Minimise the criterion over the parts of the graph that have a label; other rows are left at zero.

    The graph (n, n) is symmetric, not negative, and empty on the diagonal; ``codes`` (n,) has the class of each
    labelled row, -1 for the others; ``smoothness`` is λ; ``tol`` and ``max_iter`` are of conjugate gradients.
    """
    graph = _without_vanishing(graph, np.finfo(float).tiny / min(2 * smoothness, 1.0))
    part = connected_components(graph, directed=False)[1]
    reached = np.isin(part, part[codes >= 0])
    labelled = codes[reached] >= 0
    given = np.zeros((int(reached.sum()), n_classes))
    given[labelled, codes[reached][labelled]] = 1.0
    inner = graph[reached][:, reached] if not reached.all() else graph
    laplacian = diags_array(inner.sum(axis=1)) - inner
    system = (diags_array(labelled.astype(float)) + 2 * smoothness * laplacian).tocsr()
    solution = solve_columns(system, given, tol=tol, max_iter=max_iter)
    misfit = 0.5 * float(np.square(solution.x[labelled] - given[labelled]).sum())
    roughness = smoothness * float((solution.x * (laplacian @ solution.x)).sum())
    shares = np.zeros((len(codes), n_classes))
    shares[reached] = _as_shares(solution.x)
    return PropagationResult(shares, reached, misfit + roughness, solution.n_iter, solution.converged)


def _without_vanishing(graph: "csr_array[np.float64]", least: float) -> "csr_array[np.float64]":
    """Return the graph without edges below ``least``, which rounding would make zero in the system to be solved."""
    if (graph.data >= least).all():
        return graph
    kept = graph.copy()
    kept.data[kept.data < least] = 0.0
    kept.eliminate_zeros()
    return kept


def _as_shares(solution: FloatArray) -> FloatArray:
    """Return rows that are not negative and sum to one, as those of the exact solution are; ``tol`` may be loose."""
    positive = np.maximum(solution, 0.0)
    totals = positive.sum(axis=1, keepdims=True)
    return np.divide(positive, totals, out=np.full_like(positive, 1 / positive.shape[1]), where=totals > 0)


def seed_unlabelled(X: FloatArray, codes: IntArray, n_classes: int, random: np.random.RandomState) -> IntArray:
    """Label one row for each class that has none: the nearest to a centre found by k-means that respects the labels."""
    weights, classes = np.ones(len(X)), np.arange(n_classes)
    centres = spread_centres(X, weights, codes, classes, random)
    clusters = lloyd(X, weights, centres, codes, classes, max_iter=_LLOYD_STEPS)
    centres = move_centres(X, weights, clusters, centres)
    seeded = codes.copy()
    for missing in np.setdiff1d(classes, codes):
        free = np.flatnonzero(seeded < 0)
        if len(free):
            seeded[free[pairwise_distances_argmin(centres[missing : missing + 1], X[free])[0]]] = missing
    return seeded


class Solution(NamedTuple):
    """Solutions (n, columns), steps taken, and whether every residual became small enough."""

    x: FloatArray
    n_iter: int
    converged: bool


def solve_columns(A: Any, B: FloatArray, *, tol: float, max_iter: int) -> Solution:
    """Solve A X = B by conjugate gradients with the diagonal as preconditioner (Hestenes and Stiefel 1952).

    Every column has its own steps; they share the products with A, which take most of the time. A column is done when
    its residual is below ``tol`` times its right-hand side.
    """
    scale = 1 / A.diagonal()[:, None]
    x = np.zeros_like(B)
    residual = B.copy()
    direction = scale * residual
    rise = np.einsum("ij,ij->j", residual, direction)
    goal = tol * np.linalg.norm(B, axis=0)
    for step in range(max_iter):
        if (np.linalg.norm(residual, axis=0) <= goal).all():
            return Solution(x, step, converged=True)
        image = A @ direction
        length = _quotient(rise, np.einsum("ij,ij->j", direction, image))
        x += length * direction
        residual -= length * image
        corrected = scale * residual
        following = np.einsum("ij,ij->j", residual, corrected)
        direction = corrected + _quotient(following, rise) * direction
        rise = following
    return Solution(x, max_iter, converged=bool((np.linalg.norm(residual, axis=0) <= goal).all()))


def _quotient(above: FloatArray, below: FloatArray) -> FloatArray:
    # The residual of a column that is solved exactly is zero.
    return np.divide(above, below, out=np.zeros_like(above), where=below > 0)
