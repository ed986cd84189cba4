"""How an estimator assigns the rows of its table: clusters, their names, and how certain the assignment is.

Rows that the estimator labels -1 because they belong nowhere are described as one more cluster, the last, named noise.
"""

from typing import Any, NamedTuple

import numpy as np

from sidelight._typing import AnyArray, FloatArray, IntArray
from sidelight._wording import NOISE
from sidelight.describe.table import FittedTable


class Certainty(NamedTuple):
    """The probability (n,) of the cluster that each row is assigned to, with or without the side information."""

    values: FloatArray
    uses_statements: bool

    def by_cluster(self, labels: IntArray, n_clusters: int) -> FloatArray:
        """Return the mean over the rows of each cluster, (n_clusters,); zero for an empty one."""
        sizes = np.bincount(labels, minlength=n_clusters)
        return np.bincount(labels, weights=self.values, minlength=n_clusters) / np.maximum(sizes, 1)


def noise_of(estimator: Any) -> int | None:
    """Return the number that noise is described by; None where the estimator has no component for it."""
    return len(estimator.cluster_names_) if hasattr(estimator, "noise_weight_") else None


def clusters_of(estimator: Any, table: FittedTable) -> IntArray:
    """Return the cluster of each row, (n,)."""
    kept = getattr(estimator, "labels_", None)
    if kept is None:
        # Other libraries' mixtures have `predict` alone.
        place = getattr(estimator, "predict_clusters", estimator.predict)
        kept = place(table.native(slice(0, table.n_rows)))
    labels = np.asarray(kept)
    noise = noise_of(estimator)
    return labels if noise is None else np.where(labels < 0, noise, labels)


def names_of(estimator: Any, labels: AnyArray) -> list[str]:
    """Return the names of the clusters; "cluster 0" and so on where the estimator gives none."""
    names = getattr(estimator, "cluster_names_", None)
    if names is not None:
        return [*(str(name) for name in names), *([] if noise_of(estimator) is None else [NOISE])]
    return [f"cluster {number}" for number in range(int(np.max(labels, initial=-1)) + 1)]


def kept_posterior(estimator: Any) -> FloatArray | None:
    """Return the posterior of the fitted rows; None where the estimator has none or did not keep it."""
    try:
        return with_noise(estimator, np.asarray(estimator.posterior_))
    except AttributeError:
        return None


def with_noise(estimator: Any, posterior: FloatArray) -> FloatArray:
    """Return a posterior (m, clusters) with the probability of noise as a further column, where there is noise."""
    if noise_of(estimator) is None:
        return posterior
    return np.column_stack([posterior, np.maximum(1.0 - posterior.sum(axis=1), 0.0)])


def has_probabilities(estimator: Any) -> bool:
    """Say whether the estimator gives probabilities of clusters."""
    return kept_posterior(estimator) is not None or hasattr(estimator, "predict_proba")


def posterior_of(estimator: Any, table: FittedTable, rows: slice | IntArray) -> FloatArray:
    """Return the probabilities of clusters for some rows, (m, clusters).

    They come from the model alone, without side information, where the estimator did not keep its posterior.
    """
    kept = kept_posterior(estimator)
    if kept is not None:
        return kept[rows]
    if not hasattr(estimator, "predict_proba"):
        raise ValueError(
            f"{type(estimator).__name__} puts every row in one cluster and gives no probabilities; use an estimator "
            "that has predict_proba, such as LabelledMixture or BayesianMixture."
        )
    return with_noise(estimator, np.asarray(estimator.predict_proba(table.native(rows))))


def assigned_probability(posterior: FloatArray, labels: IntArray) -> FloatArray:
    """Return the probability of the cluster that each row is assigned to, (m,), from a posterior (m, clusters)."""
    return np.take_along_axis(posterior, labels[:, None].astype(np.int64), axis=1)[:, 0]


def certainty_of(estimator: Any, table: FittedTable, labels: IntArray) -> Certainty:
    """Return how certain the assignment of each row is, from its cluster; refuse a model without probabilities."""
    values = np.empty(table.n_rows)
    for chunk in table.chunks():
        values[chunk] = assigned_probability(posterior_of(estimator, table, chunk), labels[chunk])
    return Certainty(values, kept_posterior(estimator) is not None)
