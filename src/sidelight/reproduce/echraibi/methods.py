"""What the experiments of Echraibi et al. share: a draw of labels, the authors' settings, the measures."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from sklearn.metrics import adjusted_rand_score

from sidelight._typing import AnyArray, FloatArray, IntArray
from sidelight.metrics import clustering_accuracy_score
from sidelight.reproduce.framework.experiment import ONE_CLUSTER

ACCURACY, FREE, RAND, CLUSTERS = "accuracy", "accuracy, no label", "adjusted Rand, no label", "clusters"
MEASURES = (ACCURACY, FREE, RAND, CLUSTERS)


class Drawn(NamedTuple):
    """A table, its classes as numbers, and the labels that are told; -1 where none is."""

    X: FloatArray
    y: IntArray
    known: IntArray


def fitted_labels(drawn: Drawn, models: Mapping[str, Any], method: str) -> AnyArray:
    """Return the clusters that a method gives."""
    if method == ONE_CLUSTER:
        return np.zeros(len(drawn.y), dtype=int)
    return np.asarray(models[method]().fit(drawn.X, drawn.known).labels_)


def scores(drawn: Drawn, labels: AnyArray) -> dict[str, float]:
    """Return all measures."""
    free = drawn.known < 0
    return {
        ACCURACY: clustering_accuracy_score(drawn.y, labels),
        FREE: clustering_accuracy_score(drawn.y, labels, rows=free),
        RAND: float(adjusted_rand_score(drawn.y[free], labels[free])),
        CLUSTERS: float(len(np.unique(labels))),
    }
