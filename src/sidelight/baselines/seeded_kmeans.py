"""K-means that starts from labelled rows, and may hold them."""

from typing import Any, ClassVar

import numpy as np

from sidelight._typing import AnyArray, FloatArray, IntArray
from sidelight.baselines.base import Partition, PartitionEstimator, Task
from sidelight.baselines.support.centres import move_centres, settle_empty, squared_distances
from sidelight.estimators.registry import register
from sidelight.inference.starts import spread_centres
from sidelight.tables.validation import check_integer


@register
class SeededKMeans(PartitionEstimator):
    """K-means seeded by labels (Basu, Banerjee and Mooney 2002).

    Every labelled class starts at the mean of its labelled rows; clusters without labels start at rows drawn by
    k-means++, far from the others. Without labels it is plain k-means.

    Parameters
    ----------
    n_clusters : int, optional
        None takes the number of labelled classes; 8, as scikit-learn does, where there are no labels.
    constrained : bool, default False
        Whether labelled rows stay in their cluster (Constrained-KMeans) or only start there (Seeded-KMeans).
    n_init : int, default 1
        Number of starts; the one that ends lowest is kept. More than one makes a difference only where there are
        clusters without labels.
    max_iter : int, default 300
        Most iterations.
    random_state : int, RandomState or None
        Source of randomness; an integer gives the same result every time.

    Attributes
    ----------
    labels_ : (n,)
    n_clusters_ : int
    cluster_names_ : (n_clusters_,)
        The label of each cluster, or "new 1", "new 2", … where none of its rows has a label.
    cluster_centers_ : (n_clusters_, d)
    inertia_ : float
        Sum of squared distances from the centres; ``objectives_`` has it after every step.
    n_iter_, converged_ : int, bool
    violations_ : Violations
        Labels that ``labels_`` break: none with ``constrained=True``.

    Examples
    --------
    >>> import numpy as np
    >>> from sidelight.baselines import SeededKMeans
    >>> X = np.array([[0.0], [0.2], [0.1], [5.0], [5.1], [4.9]])
    >>> SeededKMeans().fit(X, ["low", None, None, "high", None, None]).cluster_names_.tolist()
    ['high', 'low']
    """

    takes: ClassVar[frozenset[str]] = frozenset({"labels"})

    def __init__(
        self,
        n_clusters: int | None = None,
        *,
        constrained: bool = False,
        n_init: int = 1,
        max_iter: int = 300,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.constrained = constrained
        self.n_init = n_init
        self.max_iter = max_iter
        self.random_state = random_state

    @property
    def inertia_(self) -> float:
        """Sum of squared distances from the centres."""
        return self.objective_

    def _check_parameters(self) -> None:
        check_integer("n_init", self.n_init, least=1)
        check_integer("max_iter", self.max_iter, least=1)

    def _partition(self, X: AnyArray, task: Task) -> Partition:
        codes = task.labels.codes
        weights, classes = np.ones(len(X)), np.arange(task.n_clusters)
        held = codes if self.constrained else np.full(len(X), -1)
        runs = [
            lloyd(X, spread_centres(X, weights, codes, classes, task.random), held, max_iter=self.max_iter)
            for _ in range(self.n_init)
        ]
        return min(runs, key=lambda run: run.objectives[-1])

    def _place(self, X: AnyArray) -> IntArray:
        return squared_distances(X, self.cluster_centers_).argmin(axis=1)


def lloyd(X: FloatArray, centres: FloatArray, held: IntArray, *, max_iter: int) -> Partition:
    """Run k-means from given centres; rows with a cluster in ``held`` (-1: none) stay there.

    The sum of squared distances falls with every assignment and every move of the centres.
    """
    weights, fixed = np.ones(len(X)), held >= 0
    clusters, objectives = np.full(len(X), -1), []
    for _ in range(max_iter):
        costs = squared_distances(X, centres)
        following = settle_empty(costs, np.where(fixed, held, costs.argmin(axis=1)), ~fixed)
        converged = np.array_equal(following, clusters)
        clusters = following
        centres = move_centres(X, weights, clusters, centres)
        objectives.append(float(np.square(X - centres[clusters]).sum()))
        if converged:
            break
    return Partition(clusters, tuple(objectives), converged, {"cluster_centers_": centres})
