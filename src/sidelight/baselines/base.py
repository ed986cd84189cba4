"""The fit of every baseline: reading, numbering the clusters by the labels, counting broken statements."""

from abc import abstractmethod
from collections.abc import Mapping
from functools import partial
from typing import Any, NamedTuple, Self

import numpy as np
from scipy.optimize import linear_sum_assignment
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from sidelight._typing import AnyArray, IntArray, LabelArray
from sidelight._warnings import warn
from sidelight.estimators.base.all_or_nothing import all_or_nothing
from sidelight.estimators.base.clusterer import SemiSupervisedClusterer
from sidelight.estimators.base.clusters import cluster_order
from sidelight.inference.executors.threads import one_blas_thread
from sidelight.metrics import Violations, violations
from sidelight.side import SideInformation
from sidelight.side.parsing.columns import compress
from sidelight.side.transforms import pooled
from sidelight.tables.sources import in_memory
from sidelight.tables.survey import refuse_small, survey_finite
from sidelight.tables.table import ArrayTable
from sidelight.tables.validation import check_integer, column_label, read_table, refuse_other_order

# scikit-learn's own default.
_DEFAULT_CLUSTERS = 8


class Labelling(NamedTuple):
    """Label code of each row, -1 unknown, and the names of the codes, each of which some row carries."""

    codes: IntArray
    names: AnyArray


class Task(NamedTuple):
    """What a method fits besides the table: side information, labels, and the number of clusters."""

    side: SideInformation
    labels: Labelling
    n_clusters: int
    random: np.random.RandomState


class Partition(NamedTuple):
    """The result of a method, in its own numbering of the clusters.

    Parameters
    ----------
    clusters : (n,)
    objectives : tuple of float
        After every step.
    by_cluster : mapping from attribute to array
        Fitted attributes with one entry per cluster.
    objective, n_iter : float, int, optional
        Of ``clusters``, and the steps taken; the last of the objectives and their number where absent.
    """

    clusters: IntArray
    objectives: tuple[float, ...]
    converged: bool
    by_cluster: Mapping[str, AnyArray]
    objective: float | None = None
    n_iter: int | None = None


class PartitionEstimator(SemiSupervisedClusterer):
    """A method that gives every row one of a fixed number of clusters."""

    # Set by every subclass's __init__.
    n_clusters: int | None
    random_state: Any

    @abstractmethod
    def _check_parameters(self) -> None:
        """Refuse invalid parameters; ``n_clusters`` is checked already."""

    @abstractmethod
    def _partition(self, X: AnyArray, task: Task) -> Partition:
        """Divide the rows."""

    @abstractmethod
    def _place(self, X: AnyArray) -> IntArray:
        """Return the cluster of each row of another table, by the fitted attributes alone."""

    @all_or_nothing
    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        must_link: Any = None,
        cannot_link: Any = None,
        side: SideInformation | None = None,
        sample_id: Any = None,
    ) -> Self:
        """Cluster the rows of a table, using side information about them.

        The estimator changes only if the fit succeeds.

        Parameters
        ----------
        X : (n, d) array or data frame
            The table.
        y : (n,) array, optional
            Partial labels; -1, or None or NaN, where a row has none.
        must_link, cannot_link : pairs, optional
            Pairs of row numbers, or of ids where ``sample_id`` names the rows.
        side : SideInformation, optional
            Further side information. With ``sample_id`` its rows are found by their ids.
        sample_id : (n,) array, optional
            Names of the rows.

        Returns
        -------
        self
            The fitted estimator.
        """
        if self.n_clusters is not None:
            check_integer("n_clusters", self.n_clusters, least=1)
        self._check_parameters()
        refuse_other_order(X, y=y, sample_id=sample_id)
        rows = self._read_rows(X, reset=True)
        n = rows.shape[0]
        given = (n, y, must_link, cannot_link, side, sample_id)
        statements = pooled(*given, takes=self.takes, refuse=self._refuse)
        labels = Labelling(*compress(statements.labels, statements.label_names))
        count = cluster_count(self.n_clusters, len(labels.names), n)
        with one_blas_thread():
            partition = self._partition(rows, Task(statements, labels, count, check_random_state(self.random_state)))
        self._store(partition, count, statements, labels)
        return self

    def predict_clusters(self, X: Any) -> LabelArray:
        """Return the number of the cluster of each row of a table, by the fitted model alone.

        Parameters
        ----------
        X : (n, d) array or data frame
            A table with the columns of the one that was fitted.

        Returns
        -------
        (n,) array of int
            Numbers of clusters, from 0.
        """
        check_is_fitted(self)
        rows = self._read_rows(X, reset=False)
        with one_blas_thread():
            return self._place(rows).astype(np.int32)

    def _read_rows(self, X: Any, *, reset: bool) -> AnyArray:
        table = read_table(self, in_memory(self, X), reset=reset)
        found = survey_finite(self, ArrayTable(table))
        if reset:
            names = getattr(self, "feature_names_in_", None)
            refuse_small(ArrayTable(table), found, partial(column_label, names=names))
        return np.asarray(table, dtype=np.float64)

    def _store(self, partition: Partition, n_clusters: int, side: SideInformation, labels: Labelling) -> IntArray:
        """Set the fitted attributes and return the method's own number of each cluster."""
        order, classes = number_clusters(partition.clusters, n_clusters, labels)
        self.labels_ = np.argsort(order).astype(np.int32)[partition.clusters]
        self.n_clusters_ = n_clusters
        self._name_clusters(labels.names, classes)
        for name, values in partition.by_cluster.items():
            setattr(self, name, values[order])
        self.n_iter_ = len(partition.objectives) if partition.n_iter is None else partition.n_iter
        self.converged_ = partition.converged
        self.violations_: Violations = violations(side, self.labels_)
        self.objectives_ = list(partition.objectives)
        self.objective_ = self.objectives_[-1] if partition.objective is None else partition.objective
        if not partition.converged:
            warn(
                f"{type(self).__name__} was still changing when its iterations ran out; raise max_iter.",
                ConvergenceWarning,
            )
        return order


def cluster_count(n_clusters: int | None, n_labelled: int, n_rows: int) -> int:
    """Return the number of clusters: at least the labelled classes, at most the rows."""
    if n_clusters is None:
        count = n_labelled or _DEFAULT_CLUSTERS
    else:
        count = max(n_clusters, n_labelled)
        if count > n_clusters:
            warn(
                f"n_clusters={n_clusters} is less than the {n_labelled} labelled classes; it grows to {n_labelled}.",
            )
    if count > n_rows:
        given = "None" if n_clusters is None else n_clusters
        raise ValueError(
            f"n_clusters={given} asks for {count} clusters, more than the rows: n_samples={n_rows}. "
            "Use fewer clusters or more rows."
        )
    return count


def number_clusters(clusters: IntArray, n_clusters: int, labels: Labelling) -> tuple[IntArray, IntArray]:
    """Match labels to clusters, one to one and as well as possible, then number the clusters.

    Returned are the method's own number of cluster 0, of cluster 1 and so on, as in ``clusters`` (n,), and their
    classes: the code of a label, or a further number.
    """
    n_labelled = len(labels.names)
    labelled = labels.codes >= 0
    table = np.zeros((n_labelled, n_clusters))
    np.add.at(table, (labels.codes[labelled], clusters[labelled]), 1)
    matched = linear_sum_assignment(table, maximize=True)[1]
    own = np.concatenate([matched, np.setdiff1d(np.arange(n_clusters), matched)]).astype(np.int64)
    sizes = np.bincount(clusters, minlength=n_clusters)[own]
    order = cluster_order(labels.names, sizes)
    return own[order], order
