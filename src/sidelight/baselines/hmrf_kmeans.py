"""K-means in which a broken link costs, with a metric that may be learned."""

from collections.abc import Callable
from typing import Any, ClassVar, NamedTuple

import numpy as np

from sidelight._typing import AnyArray, FloatArray, IntArray
from sidelight.baselines.base import Partition, PartitionEstimator, Task
from sidelight.baselines.support.centres import Points, contract, farthest_first, move_centres
from sidelight.baselines.support.hmrf_energy import HMRFEnergy
from sidelight.baselines.support.quadratic_metrics import (
    DiagonalMetric,
    EuclideanMetric,
    FullMetric,
    Metric,
    unit_variances,
)
from sidelight.estimators.registry import register
from sidelight.inference.starts import spread_centres
from sidelight.side import Closure
from sidelight.tables.validation import check_choice, check_integer, check_number

_METRICS: dict[str, Callable[[FloatArray, int], Metric]] = {
    "euclidean": EuclideanMetric.start,
    "diag": DiagonalMetric.start,
    "full": FullMetric.start,
}


# Steps of every start before the best goes on, and sweeps of an assignment, under a fixed metric and under a learned
# one: it is learned from assignments, so they are settled first, and it takes longer to see where a start leads.
_TRIAL_STEPS, _SWEEPS = {False: 2, True: 10}, {False: 1, True: 20}


@register
class HMRFKMeans(PartitionEstimator):
    """K-means with soft links and a learned metric (HMRF-KMeans; Basu, Bilenko and Mooney 2004).

    It lowers

        Σ_i ‖x_i − μ_k‖²_A − ln|A| + w Σ_(broken must-links) f_M + w Σ_(broken cannot-links) f_C

    over clusters, centres and metric. With ``metric="euclidean", violation="constant"`` this is PCKMeans (Basu,
    Banerjee and Mooney 2004); with a learned metric and ``violation="distance"`` it is MPCKMeans (Bilenko, Basu and
    Mooney 2004), where a must-link costs more the farther apart its rows are and a cannot-link the closer they are.
    Assignments are by iterated conditional modes, of whole chunklets and then of single rows.

    Parameters
    ----------
    n_clusters : int, optional
        None takes the number of labelled classes; 8, as scikit-learn does, where there are no labels.
    metric : {"euclidean", "diag", "full"}, default "diag"
        The matrix A: the identity, or learned with a weight per feature or in full.
    per_cluster : bool, default False
        Whether each cluster learns its own A.
    violation : {"distance", "constant"}, default "distance"
        What a broken link costs: by the distance of its rows (f_M = ‖x_i − x_j‖²_A, f_C = farthest − ‖x_i − x_j‖²_A),
        or all the same: the mean squared distance of rows from the mean of the table, under the A to start from.
    link_weight : float, default 0.5
        Weight (w) of a certain link; one with confidence q weighs 2q − 1 times as much.
    n_init : int, default 10
        Number of starts: the first by farthest-first traversal of the chunklets, the others by k-means++. Each takes
        a few steps; the one that is lowest then goes on.
    max_iter : int, default 100
        Most iterations.
    tol : float, default 1e-6
        Stop when the objective falls by less than this part of it.
    random_state : int, RandomState or None
        Source of randomness; an integer gives the same result every time.

    Attributes
    ----------
    labels_ : (n,)
    n_clusters_ : int
    cluster_names_ : (n_clusters_,)
    cluster_centers_ : (n_clusters_, d)
    metric_ : (d, d), or (n_clusters_, d, d) where every cluster has its own
        The matrix A.
    objective_, objectives_ : float, list of float
        At the end, and after every step.
    n_iter_, converged_ : int, bool
    violations_ : Violations
        Statements that ``labels_`` break.

    Notes
    -----
    The paper's f_C refers to the farthest pair under A. Here that distance is replaced by tr(A·R), with a fixed R that
    bounds every pair, so that the update of A is exact and the objective falls with every step. A prior worth one row
    with the variances of the table keeps A finite.

    Examples
    --------
    >>> import numpy as np
    >>> from sidelight.baselines import HMRFKMeans
    >>> X = np.array([[0.0], [0.1], [0.2], [5.0], [5.1], [5.2]])
    >>> HMRFKMeans(2, random_state=0).fit(X, must_link=[(0, 1)], cannot_link=[(2, 3)]).labels_.tolist()
    [0, 0, 0, 1, 1, 1]
    """

    takes: ClassVar[frozenset[str]] = frozenset({"labels", "must_link", "cannot_link", "blocks", "confidence"})

    def __init__(
        self,
        n_clusters: int | None = None,
        *,
        metric: str = "diag",
        per_cluster: bool = False,
        violation: str = "distance",
        link_weight: float = 0.5,
        n_init: int = 10,
        max_iter: int = 100,
        tol: float = 1e-6,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.metric = metric
        self.per_cluster = per_cluster
        self.violation = violation
        self.link_weight = link_weight
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    def _check_parameters(self) -> None:
        check_choice("metric", self.metric, _METRICS)
        check_choice("violation", self.violation, ("distance", "constant"))
        check_number("link_weight", self.link_weight, least=0)
        check_number("tol", self.tol, least=0)
        check_integer("n_init", self.n_init, least=1)
        check_integer("max_iter", self.max_iter, least=1)

    def _partition(self, X: AnyArray, task: Task) -> Partition:
        closure = task.side.closure()
        metric = _METRICS[self.metric](X, task.n_clusters if self.per_cluster else 1)
        energy = HMRFEnergy.of(
            X, task.side, closure, metric, constant=self.violation == "constant", link_weight=self.link_weight
        )
        scale = np.ones(X.shape[1]) if self.metric == "euclidean" else 1 / np.sqrt(unit_variances(X))
        points = contract(X * scale, closure)
        labelled = np.flatnonzero(closure.labels >= 0)
        trial = min(_TRIAL_STEPS[metric.learns], self.max_iter)
        runs = []
        for number in range(self.n_init):
            chosen = _neighbourhoods(points, closure, labelled, task.n_clusters) if number == 0 else labelled
            centres = _start_centres(points, chosen, task.n_clusters, task.random) / scale
            clusters = energy.costs(metric, centres).unary.argmin(axis=1)
            start = _Run(clusters, centres, metric, (), converged=False)
            runs.append(_descend(energy, start, max_iter=trial, tol=self.tol))
        best = min(runs, key=lambda run: run.objectives[-1])
        if not best.converged:
            best = _descend(energy, best, max_iter=self.max_iter, tol=self.tol)
        self._metric = best.metric
        return Partition(best.clusters, best.objectives, best.converged, {"cluster_centers_": best.centres})

    def _store(self, *partition: Any) -> IntArray:
        order = super()._store(*partition)
        self._metric = self._metric.select(order)
        self.metric_ = self._metric.matrices()
        return order

    def _place(self, X: AnyArray) -> IntArray:
        return (self._metric.to_centres(X, self.cluster_centers_) - self._metric.log_det).argmin(axis=1)


class _Run(NamedTuple):
    """One descent."""

    clusters: IntArray
    centres: FloatArray
    metric: Metric
    objectives: tuple[float, ...]
    converged: bool


def _descend(energy: HMRFEnergy, run: _Run, *, max_iter: int, tol: float) -> _Run:
    """Alternate assignments, moves of the centres and updates of the metric; the objective falls with each."""
    clusters, centres, metric = run.clusters, run.centres, run.metric
    ones = np.ones(len(clusters))
    costs = energy.costs(metric, centres)
    objectives, converged = list(run.objectives), False
    while len(objectives) < max_iter and not converged:
        clusters = energy.assign(metric, costs, clusters, max_sweeps=_SWEEPS[metric.learns])
        centres = move_centres(energy.X, ones, clusters, centres)
        if metric.learns:
            metric = metric.update(energy.statistics(metric, centres, clusters))
        costs = energy.costs(metric, centres)
        objectives.append(energy.objective(metric, costs, clusters))
        converged = len(objectives) > 1 and objectives[-2] - objectives[-1] <= tol * abs(objectives[-2])
    return _Run(clusters, centres, metric, tuple(objectives), converged)


def _neighbourhoods(points: Points, closure: Closure, labelled: IntArray, n_clusters: int) -> IntArray:
    """Choose chunklets to start from: the labelled ones, then those of several rows that lie far from each other."""
    eligible = np.union1d(labelled, np.flatnonzero(closure.sizes > 1))
    if not len(eligible):
        return eligible
    first = np.searchsorted(eligible, labelled)
    number = min(n_clusters, len(eligible))
    return eligible[farthest_first(points.means[eligible], points.weights[eligible], number, first)]


def _start_centres(points: Points, chosen: IntArray, n_clusters: int, random: np.random.RandomState) -> FloatArray:
    """Return the means of the chosen chunklets and, for the other clusters, centres drawn by k-means++."""
    codes = np.full(len(points.weights), -1)
    codes[chosen] = np.arange(len(chosen))
    return spread_centres(points.means, points.weights, codes, np.arange(n_clusters), random)
