"""Scores of a clustering against the true classes."""

from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.sparse import coo_array, csr_array
from sklearn.metrics.cluster import pair_confusion_matrix

from sidelight._typing import IntArray
from sidelight.side.parsing.columns import as_vector, encode_complete
from sidelight.side.parsing.rows import choose_rows


def clustering_accuracy_score(y_true: Any, y_pred: Any, *, rows: Any = None) -> float:
    """Score the fraction of rows that are right under the best one-to-one matching of clusters to classes.

    Parameters
    ----------
    y_true : (n,) column
        Classes, of any type.
    y_pred : (n,) column
        Clusters, of any type.
    rows : (m,) int or (n,) bool, optional
        Rows to score, typically those without statements: ``rows=~side.mentioned``.

    Returns
    -------
    float
        Between 0 and 1. Clusters beyond the number of classes match none, and their rows count as wrong.

    Examples
    --------
    >>> clustering_accuracy_score(["a", "a", "b", "b"], [1, 1, 0, 2])
    0.75
    """
    codes = _compare(y_true, y_pred, rows)
    table = _contingency(codes).toarray()
    matched = linear_sum_assignment(table, maximize=True)
    return float(table[matched].sum() / len(codes.classes))


def purity_score(y_true: Any, y_pred: Any, *, rows: Any = None) -> float:
    """Score the fraction of rows that belong to the commonest class of their cluster.

    Splitting clusters never lowers it: n clusters of one row each have purity 1.

    Parameters
    ----------
    y_true, y_pred : (n,) column
        Classes and clusters, of any type.
    rows : (m,) int or (n,) bool, optional
        Rows to score, typically those without statements: ``rows=~side.mentioned``.

    Returns
    -------
    float
        From 0 to 1.

    Examples
    --------
    >>> purity_score(["a", "a", "b", "b"], [1, 1, 1, 2])
    0.75
    """
    codes = _compare(y_true, y_pred, rows)
    table = _contingency(codes)
    return float(table.max(axis=0).toarray().sum() / len(codes.classes))


def purity_accuracy_score(y_true: Any, y_pred: Any, *, rows: Any = None) -> float:
    """Score the harmonic mean ρ = 2PA / (P + A) of purity and accuracy by majority vote.

    Zhao and Miller ("Semisupervised learning of mixture models with class constraints", section 3): purity P
    is the fraction of rows in the commonest class of their cluster, accuracy A the fraction of rows in the
    cluster that holds most of their class. They print ρ and describe P and A in words; the majority vote
    is our reading.

    One cluster for everything has A = 1, so ρ is high wherever one class is large (0.73 when it holds 58 %
    of the rows): read it beside that trivial score and a measure that corrects for chance.

    Parameters
    ----------
    y_true, y_pred : (n,) column
        Classes and clusters, of any type.
    rows : (m,) int or (n,) bool, optional
        Rows to score, typically those without statements: ``rows=~side.mentioned``.

    Returns
    -------
    float
        From 0 to 1.

    Examples
    --------
    >>> purity_accuracy_score(["a", "a", "b", "b"], [1, 1, 1, 1])
    0.6666666666666666
    """
    purity = purity_score(y_true, y_pred, rows=rows)
    accuracy = purity_score(y_pred, y_true, rows=rows)
    return 2 * purity * accuracy / (purity + accuracy)


def balanced_rand_score(y_true: Any, y_pred: Any, *, rows: Any = None) -> float:
    """Score the mean of the fractions of pairs rightly put together and rightly kept apart.

    Li, Ying and Campbell ("A variational approach to semi-supervised clustering", eq. 10): of the pairs of
    one class, the fraction found in one cluster; of the pairs of two classes, the fraction found in two;
    their mean. The plain Rand index favours keeping pairs apart, as most are. One cluster for everything,
    or one for each row, scores 0.5.

    Parameters
    ----------
    y_true, y_pred : (n,) column
        Classes and clusters, of any type.
    rows : (m,) int or (n,) bool, optional
        Rows to score, typically those without statements: ``rows=~side.mentioned``.

    Returns
    -------
    float
        Between 0 and 1. Where the truth has pairs of one kind only, the fraction of these; 1 for a single
        row.

    Examples
    --------
    >>> balanced_rand_score([0, 0, 1, 1], [0, 0, 1, 2])
    0.75
    """
    confusion = pair_confusion_matrix(*_compare(y_true, y_pred, rows))
    rates = [float(confusion[kind, kind] / total) for kind in (0, 1) if (total := confusion[kind].sum())]
    return sum(rates) / len(rates) if rates else 1.0


class _Codes(NamedTuple):
    """Codes 0, 1, … of the classes and clusters of the rows compared."""

    classes: IntArray
    clusters: IntArray


def _compare(y_true: Any, y_pred: Any, rows: Any) -> _Codes:
    """Read two labellings of the same rows, of any type, and choose the rows to compare."""
    classes = as_vector(y_true, "y_true")
    clusters = as_vector(y_pred, "y_pred")
    if len(classes) != len(clusters):
        raise ValueError(f"y_true has {len(classes)} values, but y_pred has {len(clusters)}; give one per row each")
    if rows is not None:
        chosen = choose_rows(rows, "rows", len(classes))
        classes, clusters = classes[chosen], clusters[chosen]
    if len(classes) == 0:
        raise ValueError("no rows to compare" + ("" if rows is None else ": rows chooses none"))
    return _Codes(encode_complete(classes, "y_true"), encode_complete(clusters, "y_pred"))


def _contingency(codes: _Codes) -> "csr_array[Any]":
    """Count the rows of each class in each cluster; sparse, as there may be many of both."""
    return coo_array((np.ones(len(codes.classes), dtype=np.int64), (codes.classes, codes.clusters))).tocsr()
