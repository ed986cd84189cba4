"""How clusters are numbered and named."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from sidelight._typing import AnyArray, IntArray


def cluster_order(label_names: AnyArray, sizes: IntArray) -> IntArray:
    """Return the order in which classes become clusters 0, 1, 2 and so on.

    Labels that are numbers in range keep them, so that clusters agree with ``y``; other labels come first, in the
    order of their names. Classes nobody labelled fill what is left, the largest first. Clusters without rows come
    last, so that the numbers in use have no gap.

    Parameters
    ----------
    label_names : (L,)
        Names of the first L classes.
    sizes : (classes,)
        Number of rows of each class.
    """
    n_labelled, n_classes = len(label_names), len(sizes)
    unlabelled = n_labelled + np.argsort(-sizes[n_labelled:], kind="stable")
    order = np.concatenate([np.arange(n_labelled), unlabelled]).astype(np.int64)
    numbered = np.issubdtype(np.asarray(label_names).dtype, np.integer)
    if numbered and n_labelled and label_names.min() >= 0 and label_names.max() < n_classes:
        kept = np.full(n_classes, -1)
        kept[label_names] = np.arange(n_labelled)
        kept[kept < 0] = unlabelled
        if not np.any(np.diff((sizes[kept] > 0).astype(int)) > 0):
            return kept
    return order


def cluster_names(label_names: Sequence[Any], order: IntArray) -> AnyArray:
    """Return the names of clusters: their label, or "new 1" and so on where nobody labelled a row of theirs.

    Where there are no labels at all they are "cluster 0", "cluster 1" and so on.
    """
    names = np.empty(len(order), dtype=object)
    n_new = 0
    for cluster, c in enumerate(order):
        if c < len(label_names):
            names[cluster] = label_names[c]
        elif len(label_names):
            n_new += 1
            names[cluster] = f"new {n_new}"
        else:
            names[cluster] = f"cluster {cluster}"
    return names
