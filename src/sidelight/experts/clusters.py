"""Clusters found without statements, read through them: a row is of the classes that its clusters have.

A row belongs to cluster k with probability r_k. The labelled rows of the cluster, each by its own probability, and
one row with the shares of all labels give the shares of the classes there.
"""

from dataclasses import dataclass

import numpy as np

from sidelight._typing import FloatArray
from sidelight.experts.expert import Lesson, Opinion, normalised
from sidelight.experts.neighbours import NearestRowsOpinion
from sidelight.experts.view import View

_NEW_ROW_NEIGHBOURS = 5


@dataclass(frozen=True, eq=False)
class ClusterExpert:
    """Clusters of the rows of a table: the probability (n, clusters) of each for every row."""

    memberships: FloatArray
    name: str = "mixture"
    prior_weight: float = 0.3

    def consult(self, view: View, lesson: Lesson, random: np.random.RandomState) -> Opinion:
        """Read the clusters through the labels, and through those of all other folds for the rows held out."""
        shares = self.memberships @ classes_of_clusters(self.memberships, lesson)
        held_out = np.empty((len(lesson.rows), lesson.n_classes))
        for fold in np.unique(lesson.folds):
            out = lesson.folds == fold
            classes = classes_of_clusters(self.memberships, lesson.part(np.flatnonzero(~out)))
            held_out[out] = self.memberships[lesson.rows[out]] @ classes
        learned = NearestRowsOpinion(view.coordinates, shares, _NEW_ROW_NEIGHBOURS)
        return Opinion(learned, normalised(shares), normalised(held_out))


def classes_of_clusters(memberships: FloatArray, lesson: Lesson) -> FloatArray:
    """Return the shares (clusters, classes) of the classes in each cluster."""
    counts = memberships[lesson.rows].T @ lesson.one_hot()
    return (counts + lesson.shares()) / (counts.sum(axis=1, keepdims=True) + 1.0)
