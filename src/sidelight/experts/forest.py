"""Trees grown on bootstrap samples of the labelled rows: half of them split at random, half where classes part best.

The former are extremely randomised trees (Geurts, Ernst and Wehenkel 2006), the latter those of a random forest
(Breiman 2001). Where many rows are labelled the latter are surer of thresholds that matter. A row is held out by the
trees whose sample lacks it, so one forest gives both opinions.
"""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier

from sidelight._storable import storable
from sidelight._typing import FloatArray, IntArray
from sidelight.experts.expert import Lesson, Opinion
from sidelight.experts.view import View
from sidelight.kernels.trees import Trees, mean_shares


@storable("ForestOpinion")
@dataclass(frozen=True, eq=False)
class ForestOpinion:
    """Trees as arrays, one after the other.

    Parameters
    ----------
    roots : (trees,)
        The first node of each.
    features, thresholds, lefts, rights : (nodes,)
        Rows whose feature is at most the threshold go left; leaves are their own children.
    shares : (nodes, classes)
        Of the labelled rows at a node.
    background : (classes,)
        What the mean of the trees is mixed with, in proportion ``1 - trust``.
    trust : float
    """

    roots: IntArray
    features: IntArray
    thresholds: FloatArray
    lefts: IntArray
    rights: IntArray
    shares: FloatArray
    background: FloatArray
    trust: float

    def probabilities(self, view: View) -> FloatArray:
        """Return the probability of each class: the mean of the trees, and a little of the background."""
        # scikit-learn grows its trees on single precision, and splits between such numbers.
        features = view.features.astype(np.float32).astype(float)
        trees = Trees(self.roots, self.features, self.thresholds, self.lefts, self.rights, self.shares)
        return self.mixed(mean_shares(features, trees))

    def mixed(self, shares: FloatArray) -> FloatArray:
        """Return the mean of the trees and a little of the background."""
        return self.trust * shares + (1 - self.trust) * self.background


Grown: TypeAlias = ExtraTreesClassifier | RandomForestClassifier


@dataclass(frozen=True)
class ForestExpert:
    """A forest, of which each of the ``growers`` grows an equal part."""

    name: str = "forest"
    prior_weight: float = 0.5
    n_trees: int = 100
    growers: tuple[type[Grown], ...] = (ExtraTreesClassifier, RandomForestClassifier)

    def consult(self, view: View, lesson: Lesson, random: np.random.RandomState) -> Opinion:
        """Grow the trees; rows held out are judged by the trees that have not seen them."""
        grown = [self._grown(grow, view, lesson, random) for grow in self.growers]
        background = lesson.shares()
        # The background counts as two rows of a class do.
        per_class = len(lesson.rows) / lesson.n_classes
        learned = _as_arrays(grown, lesson.n_classes, background, 1 - 1 / (per_class + 2))
        seen = np.array([_out_of_bag(model, lesson) for model in grown])
        known = np.isfinite(seen)
        counts = known.sum(axis=0)
        held_out = np.where(counts, np.where(known, seen, 0.0).sum(axis=0) / np.maximum(counts, 1), background)
        rows = np.zeros((len(view.features), lesson.n_classes))
        rows[:, grown[0].classes_] = np.mean([model.predict_proba(view.features) for model in grown], axis=0)
        return Opinion(learned, learned.mixed(rows), learned.mixed(held_out))

    def _grown(self, grow: type[Grown], view: View, lesson: Lesson, random: np.random.RandomState) -> Grown:
        n_trees = self.n_trees // len(self.growers)
        model = grow(n_trees, bootstrap=True, oob_score=True, random_state=random.randint(2**31 - 1))
        with warnings.catch_warnings():
            # With very few rows some are in every sample; they get the background.
            warnings.filterwarnings("ignore", message="Some inputs do not have OOB scores")
            warnings.filterwarnings("ignore", message="invalid value encountered", category=RuntimeWarning)
            model.fit(view.features[lesson.rows], lesson.codes, sample_weight=lesson.weights)
        return model


def _out_of_bag(model: Grown, lesson: Lesson) -> FloatArray:
    """Return the shares (m, classes) by trees that have not seen a row; NaN where all have."""
    shares = np.zeros((len(lesson.rows), lesson.n_classes))
    shares[:, model.classes_] = model.oob_decision_function_.reshape(len(lesson.rows), -1)
    shares[~np.isfinite(shares).all(axis=1)] = np.nan
    return shares


def _as_arrays(grown: Sequence[Grown], n_classes: int, background: FloatArray, trust: float) -> ForestOpinion:
    """Return forests of scikit-learn, which have seen the same classes, as arrays."""
    trees = [tree.tree_ for model in grown for tree in model.estimators_]
    counts = np.array([tree.node_count for tree in trees])
    roots = np.cumsum(counts) - counts
    own = np.arange(counts.sum())
    shift = np.repeat(roots, counts)
    lefts, rights = (
        np.concatenate([getattr(tree, side) for tree in trees]) for side in ("children_left", "children_right")
    )
    leaf = lefts < 0
    shares = np.zeros((len(own), n_classes))
    values = np.concatenate([tree.value[:, 0, :] for tree in trees])
    shares[:, grown[0].classes_] = values / values.sum(axis=1, keepdims=True)
    return ForestOpinion(
        roots,
        np.where(leaf, 0, np.concatenate([tree.feature for tree in trees])),
        np.concatenate([tree.threshold for tree in trees]),
        np.where(leaf, own, lefts + shift),
        np.where(leaf, own, rights + shift),
        shares,
        background,
        float(trust),
    )
