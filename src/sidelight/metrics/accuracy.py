"""Clustering accuracy: how many rows lie in the cluster that stands for their class."""

from typing import Any

from scipy.optimize import linear_sum_assignment

from sidelight.metrics.contingency import compare, contingency


def clustering_accuracy_score(y_true: Any, y_pred: Any, *, rows: Any = None) -> float:
    """Score the fraction of rows that are right under the best one-to-one matching of clusters to classes.

    Parameters
    ----------
    y_true : (n,) column
        Classes, of any type.
    y_pred : (n,) column
        Clusters, of any type.
    rows : (m,) int or (n,) bool, optional
        Rows to score, typically those that nothing was known about: ``rows=~side.mentioned``.

    Returns
    -------
    float
        Between 0 and 1. Clusters beyond the number of classes match none, and their rows count as wrong.

    Examples
    --------
    >>> clustering_accuracy_score(["a", "a", "b", "b"], [1, 1, 0, 2])
    0.75
    """
    compared = compare(y_true, y_pred, rows)
    table = contingency(*compared).toarray()
    matched = linear_sum_assignment(table, maximize=True)
    return float(table[matched].sum() / len(compared.classes))
