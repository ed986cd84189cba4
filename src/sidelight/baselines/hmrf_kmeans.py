"""K-means in which a broken link costs, with a metric that may be learned."""

from collections.abc import Callable
from typing import Any, ClassVar, NamedTuple

import numpy as np

from sidelight._typing import AnyArray, BoolArray, FloatArray, IntArray
from sidelight.baselines.base import Known, Partition, PartitionEstimator
from sidelight.baselines.centres import farthest_first, move_centres, settle_empty
from sidelight.baselines.chunklets import Points, contract
from sidelight.baselines.conditional_modes import (
    Pairs,
    Prices,
    UnitSet,
    both_ways,
    broken_cost,
    independent_sets,
    settle,
)
from sidelight.baselines.quadratic_metrics import (
    DiagonalMetric,
    EuclideanMetric,
    FullMetric,
    Metric,
    Statistics,
    unit_variances,
)
from sidelight.baselines.soft_links import soft_links
from sidelight.estimators.registry import register
from sidelight.inference.starts import spread_centres
from sidelight.side import Closure, SideInformation
from sidelight.tables.validation import check_choice, check_integer, check_number

_METRICS: dict[str, Callable[[FloatArray, int], Metric]] = {
    "euclidean": EuclideanMetric.start,
    "diag": DiagonalMetric.start,
    "full": FullMetric.start,
}


class _Pace(NamedTuple):
    """How many steps every start is given before the best goes on, and how many sweeps an assignment is."""

    trial_steps: int
    sweeps: int


# A metric is learned from assignments, so they are settled first, and it takes longer to see where a start leads.
_FIXED_METRIC, _LEARNED_METRIC = _Pace(2, 1), _Pace(10, 20)


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
        w, for a certain link; one with confidence q weighs 2q − 1 times as much.
    n_init : int, default 10
        Number of starts: the first by farthest-first traversal of the chunklets, the others by k-means++. Each takes
        a few steps; the one that is lowest then goes on.
    max_iter : int, default 100
    tol : float, default 1e-6
        Stop when the objective falls by less than this part of it.
    random_state : int, RandomState or None

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

    def _partition(self, X: AnyArray, known: Known) -> Partition:
        closure = known.side.closure()
        metric = _METRICS[self.metric](X, known.n_clusters if self.per_cluster else 1)
        field = _lay_field(X, known.side, closure, metric, self.violation == "constant", self.link_weight)
        scale = np.ones(X.shape[1]) if self.metric == "euclidean" else 1 / np.sqrt(unit_variances(X))
        points = contract(X * scale, closure)
        trial = min(_pace(metric).trial_steps, self.max_iter)
        runs = []
        for number in range(self.n_init):
            chosen = _neighbourhoods(points, closure, known.n_clusters) if number == 0 else _labelled(closure)
            centres = _start_centres(points, chosen, known.n_clusters, known.random) / scale
            start = _start(field, metric, centres)
            runs.append(_descend(field, start, max_iter=trial, tol=self.tol))
        best = min(runs, key=lambda run: run.objectives[-1])
        if not best.converged:
            best = _descend(field, best, max_iter=self.max_iter, tol=self.tol)
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


class _Field(NamedTuple):
    """The table and its links.

    Parameters
    ----------
    X : (n, d)
    pairs : Pairs
    weights : (pairs,)
    differences : (pairs, d)
        Of the rows of each pair.
    constant : float or None
        What every broken link costs; None where distances decide.
    units : list of lists of UnitSet
        What moves together, in turn: chunklets, then rows.
    unlinked : (n,) bool
        Rows without links.
    """

    X: FloatArray
    pairs: Pairs
    weights: FloatArray
    differences: FloatArray
    constant: float | None
    units: list[list[UnitSet]]
    unlinked: BoolArray


def _lay_field(
    X: FloatArray, side: SideInformation, closure: Closure, metric: Metric, constant: bool, link_weight: float
) -> _Field:
    links = soft_links(side)
    pairs = both_ways(links.must, links.cannot)
    weights = link_weight * np.concatenate([links.must_weight] * 2 + [links.cannot_weight] * 2)
    unlinked = np.ones(len(X), dtype=bool)
    unlinked[pairs.rows] = False
    units = [independent_sets(pairs, closure.chunklets)] if len(closure.sizes) < len(X) else []
    units.append(independent_sets(pairs, np.arange(len(X))))
    cost = float(metric.to_centres(X, np.tile(X.mean(axis=0), (metric.n_groups, 1))).mean()) if constant else None
    return _Field(X, pairs, weights, X[pairs.rows] - X[pairs.partners], cost, units, unlinked)


def _labelled(closure: Closure) -> IntArray:
    return np.flatnonzero(closure.labels >= 0)


def _neighbourhoods(points: Points, closure: Closure, n_clusters: int) -> IntArray:
    """Choose chunklets to start from: the labelled ones, then those of several rows that lie far from each other."""
    labelled = _labelled(closure)
    eligible = np.union1d(labelled, np.flatnonzero(closure.sizes > 1))
    if not len(eligible):
        return eligible
    first = np.searchsorted(eligible, labelled)
    number = min(n_clusters, len(eligible))
    return eligible[farthest_first(points.means[eligible], points.weights[eligible], number, first)]


def _start_centres(points: Points, chosen: IntArray, n_clusters: int, random: np.random.RandomState) -> FloatArray:
    """Return the means of the chosen chunklets and, for what is missing, centres drawn by k-means++."""
    codes = np.full(len(points.weights), -1)
    codes[chosen] = np.arange(len(chosen))
    return spread_centres(points.means, points.weights, codes, np.arange(n_clusters), random)


def _prices(field: _Field, metric: Metric, n_clusters: int) -> Prices:
    """Return f_M, half for each end, and f_C, for every pair and cluster."""
    n_must = field.pairs.n_must
    shape = (len(field.weights), n_clusters)
    if field.constant is not None:
        every = np.broadcast_to(field.constant * field.weights[:, None], shape)
        return Prices(0.5 * every[:n_must], every[n_must:])
    lengths = metric.lengths(field.differences)
    must = 0.5 * field.weights[:n_must, None] * lengths[:n_must]
    cannot = field.weights[n_must:, None] * (metric.farthest - lengths[n_must:])
    return Prices(np.broadcast_to(must, (n_must, n_clusters)), np.broadcast_to(cannot, (len(cannot), n_clusters)))


class _Costs(NamedTuple):
    """What things cost under the current centres and metric: rows (n, clusters), without and with ln|A|, and links."""

    distances: FloatArray
    unary: FloatArray
    prices: Prices


def _costs(field: _Field, metric: Metric, centres: FloatArray) -> _Costs:
    distances = metric.to_centres(field.X, centres)
    return _Costs(distances, distances - metric.log_det, _prices(field, metric, len(centres)))


def _pace(metric: Metric) -> _Pace:
    return _LEARNED_METRIC if metric.learns else _FIXED_METRIC


def _start(field: _Field, metric: Metric, centres: FloatArray) -> _Run:
    return _Run(_costs(field, metric, centres).unary.argmin(axis=1), centres, metric, (), converged=False)


def _descend(field: _Field, run: _Run, *, max_iter: int, tol: float) -> _Run:
    """Alternate assignments, moves of the centres and updates of the metric; the objective falls with each."""
    clusters, centres, metric = run.clusters, run.centres, run.metric
    ones = np.ones(len(clusters))
    costs = _costs(field, metric, centres)
    objectives, converged = list(run.objectives), False
    while len(objectives) < max_iter and not converged:
        clusters = _assign(field, metric, costs, clusters)
        centres = move_centres(field.X, ones, clusters, centres)
        if metric.learns:
            metric = metric.update(_statistics(field, metric, centres, clusters))
        costs = _costs(field, metric, centres)
        objectives.append(_objective(field, metric, costs, clusters))
        converged = len(objectives) > 1 and objectives[-2] - objectives[-1] <= tol * abs(objectives[-2])
    return _Run(clusters, centres, metric, tuple(objectives), converged)


def _assign(field: _Field, metric: Metric, costs: _Costs, clusters: IntArray) -> IntArray:
    clusters = np.where(field.unlinked, costs.unary.argmin(axis=1), clusters)
    for sets in field.units:
        clusters = settle(clusters, costs.unary, field.pairs, costs.prices, sets, max_sweeps=_pace(metric).sweeps)
    # With a metric per cluster, that of an empty one may be so narrow that filling it raises the objective.
    return settle_empty(costs.distances, clusters, field.unlinked) if metric.n_groups == 1 else clusters


def _statistics(field: _Field, metric: Metric, centres: FloatArray, clusters: IntArray) -> Statistics:
    """Return what the metric is learned from: spread about the centres, and broken links.

    Pairs are listed in both directions, so each direction counts half, for the cluster of its own row.
    """
    own, partner = clusters[field.pairs.rows], clusters[field.pairs.partners]
    must = np.arange(len(own)) < field.pairs.n_must
    broken = np.flatnonzero(np.where(must, own != partner, own == partner) & (field.constant is None))
    sign = np.where(must[broken], 0.5, -0.5) * field.weights[broken]
    group_of = np.arange(len(centres)) if metric.n_groups > 1 else np.zeros(len(centres), dtype=np.int64)
    groups = group_of[np.concatenate([clusters, own[broken]])]
    return Statistics(
        np.concatenate([field.X - centres[clusters], field.differences[broken]]),
        np.concatenate([np.ones(len(clusters)), sign]),
        groups,
        np.bincount(groups[len(clusters) :], weights=np.maximum(-sign, 0.0), minlength=metric.n_groups).astype(float),
        np.bincount(groups[: len(clusters)], minlength=metric.n_groups).astype(float),
    )


def _objective(field: _Field, metric: Metric, costs: _Costs, clusters: IntArray) -> float:
    rows = float(costs.unary[np.arange(len(clusters)), clusters].sum())
    return rows + broken_cost(clusters, field.pairs, costs.prices) + metric.penalty()
