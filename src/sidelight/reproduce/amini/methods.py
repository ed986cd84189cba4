"""The data, methods and measures that test the claims of Amini's lecture."""

from collections.abc import Callable, Mapping
from functools import cache, partial
from typing import Any, NamedTuple

import numpy as np
from sklearn.decomposition import PCA
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import normalized_mutual_info_score
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.semi_supervised import SelfTrainingClassifier

from sidelight import BayesianMixture, GraphPropagation, LabelledMixture
from sidelight._typing import AnyArray, FloatArray, IntArray
from sidelight.datasets import load, two_moons
from sidelight.graphs.neighbours import row_graph
from sidelight.metrics import purity_score
from sidelight.reproduce.framework.experiment import ONE_CLUSTER
from sidelight.side import draw_labels

SETS = ("iris", "wine", "digits")
SMOOTHNESS = 0.01
PURITY, PURITY_FREE = "purity", "purity, no label"
ACCURACY, FREE = "accuracy", "accuracy, no label"
INFORMATION, FALL, STEPS = "mutual information, no label", "greatest fall of the objective", "steps"
CRITERION = "criterion"
GROUP_MEASURES = (PURITY, PURITY_FREE, INFORMATION)
CLASS_MEASURES = (ACCURACY, FREE, INFORMATION)


class Draw(NamedTuple):
    """A table, its classes as numbers, and the labels given; -1 for unlabelled rows."""

    X: FloatArray
    y: IntArray
    known: IntArray

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return int(self.y.max()) + 1


@cache
def _table(name: str) -> tuple[FloatArray, IntArray]:
    X, y, _ = load(name)
    values, codes = np.asarray(X, dtype=float), np.unique(y, return_inverse=True)[1]
    if name == "wine":
        values = StandardScaler().fit_transform(values)
    if name == "digits":
        values = PCA(30, random_state=0).fit_transform(values)
    return values, codes


@cache
def unit_table(name: str) -> tuple[FloatArray, IntArray]:
    """Return a table with features between 0 and 1, as the similarities of texts want them."""
    X, y, _ = load(name)
    return MinMaxScaler().fit_transform(np.asarray(X, dtype=float)), np.unique(y, return_inverse=True)[1]


def draw_unlabelled(name: str) -> Draw:
    """Return a set without labels."""
    X, y = _table(name)
    return Draw(X, y, np.full(len(y), -1))


def draw_gaussians(distance: float, seed: int) -> Draw:
    """Return two round Gaussians in the plane, at a distance in standard deviations."""
    y = np.repeat([0, 1], [200, 100])
    X = np.random.default_rng(seed).normal(size=(300, 2))
    X[:, 0] += distance * y
    return Draw(X, y, np.full(300, -1))


def draw_fraction(name: str, fraction: float, seed: int) -> Draw:
    """Return a set with a fraction of each class labelled."""
    X, y = _table(name)
    return Draw(X, y, draw_labels(y, fraction=fraction, stratify=True, random_state=seed))


def draw_per_class(name: str, per_class: int, seed: int) -> Draw:
    """Return a set with a number of labels of each class."""
    if name == "two moons":
        X, y, _ = two_moons(random_state=seed)
    else:
        X, y = _table(name)
    return Draw(X, y, draw_labels(y, per_class=per_class, random_state=seed))


def plain_mixture(method: str, n_classes: int, seed: int) -> LabelledMixture:
    """Return EM or CEM with the start of the lecture, or with our own."""
    if method == "LabelledMixture":
        return LabelledMixture(n_classes, tol=1e-6, max_iter=1000, random_state=seed)
    assignment = {"EM": "soft", "CEM": "hard"}[method]
    return LabelledMixture(
        n_classes, assignment=assignment, init_params="k-means++", tol=1e-6, max_iter=1000, random_state=seed
    )


def named_classes(model: Any, drawn: Draw) -> IntArray:
    """Fit a model to table and labels, and return the class of every row; -1 for a cluster without a label."""
    model.fit(drawn.X, drawn.known)
    names = [int(name) if isinstance(name, (int, np.integer)) else -1 for name in model.cluster_names_.tolist()]
    return np.asarray(names)[model.labels_]


def _labelled_mixture(drawn: Draw, seed: int, assignment: str, unlabelled_weight: float) -> IntArray:
    model = LabelledMixture(
        assignment=assignment, init_params="labels", unlabelled_weight=unlabelled_weight, random_state=seed
    )
    return named_classes(model, drawn)


def _regression(drawn: Draw, seed: int) -> IntArray:
    labelled = drawn.known >= 0
    found = LogisticRegression(max_iter=1000).fit(drawn.X[labelled], drawn.y[labelled]).predict(drawn.X)
    return np.where(labelled, drawn.known, found)


def _self_training(drawn: Draw, seed: int) -> IntArray:
    model = SelfTrainingClassifier(LogisticRegression(max_iter=1000)).fit(drawn.X, drawn.known)
    return np.where(drawn.known >= 0, drawn.known, model.predict(drawn.X))


def graph_of(similarity: str, *, everyone: bool = False, smoothness: float = SMOOTHNESS) -> GraphPropagation:
    """Return label propagation on a graph of neighbours, or of all rows, with the λ of these experiments."""
    return GraphPropagation(similarity=similarity, n_neighbors=None if everyone else 10, smoothness=smoothness)


CLASSIFIERS: Mapping[str, Callable[[Draw, int], IntArray]] = {
    "labelled rows only": partial(_labelled_mixture, assignment="soft", unlabelled_weight=0.0),
    "EM with labels": partial(_labelled_mixture, assignment="soft", unlabelled_weight=1.0),
    "CEM with labels": partial(_labelled_mixture, assignment="hard", unlabelled_weight=1.0),
    "logistic regression": _regression,
    "self-training": _self_training,
    "LabelledMixture": lambda drawn, seed: named_classes(
        LabelledMixture(unlabelled_weight=0.1, random_state=seed), drawn
    ),
    "BayesianMixture": lambda drawn, seed: named_classes(BayesianMixture(random_state=seed), drawn),
    "GraphPropagation": lambda drawn, seed: named_classes(GraphPropagation(), drawn),
    ONE_CLUSTER: lambda drawn, seed: np.full(len(drawn.y), np.bincount(drawn.known[drawn.known >= 0]).argmax()),
}
GRAPHS: Mapping[str, Callable[[], GraphPropagation]] = {
    "binary": lambda: graph_of("binary"),
    "Gaussian": lambda: graph_of("rbf", everyone=True),
    # The printed solution lacks a factor 2, as if λ were half of what it is.
    "Gaussian, as printed": lambda: graph_of("rbf", everyone=True, smoothness=SMOOTHNESS / 2),
}
SIMILARITIES = {"Jaccard": "jaccard", "Dice": "dice", "cosine": "cosine", "Euclidean": "rbf"}


def group_scores(drawn: Draw, labels: AnyArray) -> dict[str, float]:
    """Return the measures of groups; there are no labels, so all rows are rows without a label."""
    purity = purity_score(drawn.y, labels)
    return {
        PURITY: purity,
        PURITY_FREE: purity,
        INFORMATION: float(normalized_mutual_info_score(drawn.y, labels)),
    }


def class_scores(drawn: Draw, classes: IntArray) -> dict[str, float]:
    """Return the measures of classes."""
    right, free = classes == drawn.y, drawn.known < 0
    return {
        ACCURACY: float(right.mean()),
        FREE: float(right[free].mean()),
        INFORMATION: float(normalized_mutual_info_score(drawn.y[free], classes[free])),
    }


def criterion(model: GraphPropagation, drawn: Draw) -> float:
    """Return ½‖SỸ − SY‖² + λ tr Ỹᵀ(D − W)Ỹ of a fitted model, with λ = SMOOTHNESS and not the model's own."""
    graph = row_graph(drawn.X, model.similarity, n_neighbors=model.n_neighbors, gamma=model.gamma_)
    shares, labelled = model.posterior_, drawn.known >= 0
    misfit = np.square(shares[labelled] - np.eye(drawn.n_classes)[drawn.known[labelled]]).sum()
    degrees = np.asarray(graph.sum(axis=1)).ravel()
    roughness = (shares * (degrees[:, None] * shares - graph @ shares)).sum()
    return float(0.5 * misfit + SMOOTHNESS * roughness)
