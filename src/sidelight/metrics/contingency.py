"""The table behind every comparison of two labellings: how many rows each class shares with each cluster."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array

from sidelight.side.reading import as_vector, choose_rows, is_missing

IntArray = NDArray[np.int64]


class Compared(NamedTuple):
    """Codes 0, 1, … of the classes and clusters of the rows compared."""

    classes: IntArray
    clusters: IntArray


def compare(y_true: Any, y_pred: Any, rows: Any) -> Compared:
    """Read two labellings of the same rows, of any type, and choose the rows to compare."""
    truth = as_vector(y_true, "y_true")
    found = as_vector(y_pred, "y_pred")
    if len(truth) != len(found):
        raise ValueError(f"y_true has {len(truth)} values, but y_pred has {len(found)}; give one per row each")
    if rows is not None:
        chosen = choose_rows(rows, "rows", len(truth))
        truth, found = truth[chosen], found[chosen]
    if len(truth) == 0:
        raise ValueError("no rows to compare" + ("" if rows is None else ": rows chooses none"))
    return Compared(codes_of(truth, "y_true"), codes_of(found, "y_pred"))


def codes_of(labels: NDArray[Any], argument: str) -> IntArray:
    """Give the groups of a complete labelling numbers 0, 1, …; every value, -1 too, is a group."""
    refuse_missing(labels, argument)
    if labels.dtype.kind != "O":
        return np.unique(labels, return_inverse=True)[1].astype(np.int64)
    numbers: dict[Any, int] = {}
    return np.array([numbers.setdefault(value, len(numbers)) for value in labels.tolist()], dtype=np.int64)


def refuse_missing(labels: NDArray[Any], argument: str) -> None:
    """Refuse a labelling that leaves a row without a label."""
    if labels.dtype.kind in "fcOmM":
        missing = next((row for row, value in enumerate(labels.tolist()) if is_missing(value)), None)
        if missing is not None:
            raise ValueError(f"{argument} has no label at place {missing}; choose labelled rows by rows=")


def contingency(classes: IntArray, clusters: IntArray) -> "csr_array[Any]":
    """Count the rows of each class in each cluster; sparse, as there may be many of both."""
    shape = (int(classes.max(initial=-1)) + 1, int(clusters.max(initial=-1)) + 1)
    return coo_array((np.ones(len(classes), dtype=np.int64), (classes, clusters)), shape=shape).tocsr()
