"""Purity and accuracy by majority vote, and their harmonic mean."""

from typing import Any

from sidelight.metrics.contingency import compare, contingency


def purity_score(y_true: Any, y_pred: Any, *, rows: Any = None) -> float:
    """Score the fraction of rows that belong to the commonest class of their cluster.

    Splitting clusters never lowers it: n clusters of one row each have purity 1.

    Parameters
    ----------
    y_true, y_pred : (n,) column
        Classes and clusters, of any type.
    rows : (m,) int or (n,) bool, optional
        Rows to score, typically those that nothing was known about: ``rows=~side.mentioned``.

    Examples
    --------
    >>> purity_score(["a", "a", "b", "b"], [1, 1, 1, 2])
    0.75
    """
    compared = compare(y_true, y_pred, rows)
    table = contingency(*compared)
    return float(table.max(axis=0).toarray().sum() / len(compared.classes))


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
        Rows to score, typically those that nothing was known about: ``rows=~side.mentioned``.

    Examples
    --------
    >>> purity_accuracy_score(["a", "a", "b", "b"], [1, 1, 1, 1])
    0.6666666666666666
    """
    purity = purity_score(y_true, y_pred, rows=rows)
    accuracy = purity_score(y_pred, y_true, rows=rows)
    return 2 * purity * accuracy / (purity + accuracy)
