"""What an estimator says of the rows of its table: their clusters, what these are called, and how sure it is."""

from typing import Any, NamedTuple

import numpy as np

from sidelight._typing import AnyArray, FloatArray, IntArray
from sidelight.describe.table import Table


class Certainty(NamedTuple):
    """How probable the cluster of every row is.

    Parameters
    ----------
    values : (n,)
    uses_statements : bool
        Whether what is known about the rows counts; otherwise it is by the model alone.
    """

    values: FloatArray
    uses_statements: bool


def clusters_of(estimator: Any, table: Table) -> IntArray:
    """Return the cluster of each row, (n,)."""
    labels = getattr(estimator, "labels_", None)
    return np.asarray(estimator.predict(table.native(slice(0, table.n_rows))) if labels is None else labels)


def names_of(estimator: Any, labels: AnyArray) -> list[str]:
    """Return the names of the clusters, "cluster 0" and so on where the estimator gives none."""
    names = getattr(estimator, "cluster_names_", None)
    if names is not None:
        return [str(name) for name in names]
    return [f"cluster {number}" for number in range(int(np.max(labels, initial=-1)) + 1)]


def kept_posterior(estimator: Any) -> FloatArray | None:
    """Return the posterior of the fitted rows, None where the estimator has none or did not keep it."""
    try:
        return np.asarray(estimator.posterior_)
    except AttributeError:
        return None


def has_probabilities(estimator: Any) -> bool:
    """Say whether the estimator tells how probable clusters are."""
    return kept_posterior(estimator) is not None or hasattr(estimator, "predict_proba")


def posterior_of(estimator: Any, table: Table, rows: slice | IntArray) -> FloatArray:
    """Return the probabilities of clusters for some rows, (m, clusters); by the model alone where not kept."""
    kept = kept_posterior(estimator)
    if kept is not None:
        return kept[rows]
    if not hasattr(estimator, "predict_proba"):
        raise ValueError(
            f"{type(estimator).__name__} puts every row in one cluster and gives no probabilities; use an estimator "
            "that has predict_proba, such as LabelledMixture or BayesianMixture."
        )
    return np.asarray(estimator.predict_proba(table.native(rows)))


def certainty_of(estimator: Any, table: Table, labels: IntArray) -> Certainty:
    """Return how sure the estimator is of every row; refuse one that does not say."""
    values = np.empty(table.n_rows)
    for part in table.parts():
        posterior = posterior_of(estimator, table, part)
        values[part] = np.take_along_axis(posterior, labels[part, None].astype(np.int64), axis=1)[:, 0]
    return Certainty(values, kept_posterior(estimator) is not None)
