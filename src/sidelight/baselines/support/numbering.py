"""From a method's own clusters to numbers that agree with the labels, and the names that go with them."""

import warnings
from typing import NamedTuple

import numpy as np
from scipy.optimize import linear_sum_assignment

from sidelight._typing import AnyArray, IntArray
from sidelight.estimators.base.clusters import cluster_names, cluster_order
from sidelight.side import SideInformation
from sidelight.side.parsing import compress

# scikit-learn's own default.
_DEFAULT_CLUSTERS = 8


class Labelling(NamedTuple):
    """Label code of each row, -1 unknown, and the names of the codes, each of which some row carries."""

    codes: IntArray
    names: AnyArray


class Numbering(NamedTuple):
    """How clusters are numbered.

    Parameters
    ----------
    order : (clusters,)
        The method's own number of cluster 0, of cluster 1 and so on.
    names : (clusters,)
        Their names.
    """

    order: IntArray
    names: AnyArray


def labelling(side: SideInformation) -> Labelling:
    """Return the labels, without names that no row carries."""
    return Labelling(*compress(side.labels, side.label_names))


def cluster_count(n_clusters: int | None, n_labelled: int, n_rows: int) -> int:
    """Return the number of clusters: at least the labelled classes, at most the rows."""
    if n_clusters is None:
        count = n_labelled or _DEFAULT_CLUSTERS
    else:
        count = max(n_clusters, n_labelled)
        if count > n_clusters:
            warnings.warn(
                f"n_clusters={n_clusters} is less than the {n_labelled} labelled classes; it grows to {n_labelled}.",
                UserWarning,
                stacklevel=4,
            )
    if count > n_rows:
        given = "None" if n_clusters is None else n_clusters
        raise ValueError(
            f"n_clusters={given} asks for {count} clusters, more than the rows: n_samples={n_rows}. "
            "Use fewer clusters or more rows."
        )
    return count


def number_clusters(clusters: IntArray, n_clusters: int, labels: Labelling) -> Numbering:
    """Match labels to clusters, one to one and as well as possible, then number and name the clusters.

    Parameters
    ----------
    clusters : (n,)
        Cluster of each row in the method's own numbering.
    n_clusters : int
        At least the number of labels.
    labels : Labelling
    """
    n_labelled = len(labels.names)
    labelled = labels.codes >= 0
    table = np.zeros((n_labelled, n_clusters))
    np.add.at(table, (labels.codes[labelled], clusters[labelled]), 1)
    matched = linear_sum_assignment(table, maximize=True)[1]
    own = np.concatenate([matched, np.setdiff1d(np.arange(n_clusters), matched)]).astype(np.int64)
    sizes = np.bincount(clusters, minlength=n_clusters)[own]
    order = cluster_order(labels.names, sizes)
    return Numbering(own[order], cluster_names(labels.names.tolist(), order))
