"""The balanced Rand index."""

from typing import Any

from sidelight.metrics.contingency import compare


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
        Rows to score, typically those that nothing was known about: ``rows=~side.mentioned``.

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
    from sklearn.metrics.cluster import pair_confusion_matrix

    confusion = pair_confusion_matrix(*compare(y_true, y_pred, rows))
    rates = [float(confusion[kind, kind] / total) for kind in (0, 1) if (total := confusion[kind].sum())]
    return sum(rates) / len(rates) if rates else 1.0
