"""The data, methods and measures that test the claims of Amini's lecture."""

from collections.abc import Callable, Mapping
from functools import cache, partial
from typing import Any, NamedTuple

import numpy as np
from sklearn.cluster import AgglomerativeClustering, KMeans
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
from sidelight.reproduce.framework.experiment import ONE_CLUSTER, Setting
from sidelight.side import draw_labels

SETS = ("iris", "wine", "digits")
SIMILARITIES = {"Jaccard": "jaccard", "Dice": "dice", "cosine": "cosine", "Euclidean": "rbf"}
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
def _table(name: str, *, unit: bool = False) -> tuple[FloatArray, IntArray]:
    """Return a set; with ``unit``, its features between 0 and 1, as the similarities of texts want them."""
    X, y, _ = load(name)
    values, codes = np.asarray(X, dtype=float), np.unique(y, return_inverse=True)[1]
    if unit:
        values = MinMaxScaler().fit_transform(values)
    elif name == "wine":
        values = StandardScaler().fit_transform(values)
    elif name == "digits":
        values = PCA(30, random_state=0).fit_transform(values)
    return values, codes


def draw_unlabelled(name: str, seed: int = 0) -> Draw:
    """Return a set without labels, the same for every seed."""
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


def draw_per_class(name: str, per_class: int, seed: int, *, unit: bool = False) -> Draw:
    """Return a set with a number of labels of each class."""
    if name == "two moons":
        X, y, _ = two_moons(random_state=seed)
    else:
        X, y = _table(name, unit=unit)
    return Draw(X, y, draw_labels(y, per_class=per_class, random_state=seed))


def plain_mixture(method: str, n_classes: int, seed: int) -> LabelledMixture:
    """Return EM or CEM with the start of the lecture, or with our own."""
    if method == "LabelledMixture":
        return LabelledMixture(
            n_classes, covariance_type="full", accelerate=False, tol=1e-6, max_iter=1000, random_state=seed
        )
    assignment = {"EM": "soft", "CEM": "hard"}[method]
    return LabelledMixture(
        n_classes,
        covariance_type="full",
        assignment=assignment,
        init_params="k-means++",
        accelerate=False,
        tol=1e-6,
        max_iter=1000,
        random_state=seed,
    )


def named_classes(model: Any, drawn: Draw) -> IntArray:
    """Fit a model to table and labels, and return the class of every row; -1 for a cluster without a label."""
    model.fit(drawn.X, drawn.known)
    names = [int(name) if isinstance(name, (int, np.integer)) else -1 for name in model.cluster_names_.tolist()]
    return np.asarray(names)[model.labels_]


def _labelled_mixture(drawn: Draw, seed: int, assignment: str, unlabelled_weight: float) -> IntArray:
    model = LabelledMixture(
        assignment=assignment,
        init_params="labels",
        accelerate=False,
        unlabelled_weight=unlabelled_weight,
        random_state=seed,
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


def _most_similar(drawn: Draw, seed: int, similarity: str) -> IntArray:
    return named_classes(graph_of(similarity), drawn)


CLASSIFIERS: Mapping[str, Callable[[Draw, int], IntArray]] = {
    "labelled rows only": partial(_labelled_mixture, assignment="soft", unlabelled_weight=0.0),
    "EM with labels": partial(_labelled_mixture, assignment="soft", unlabelled_weight=1.0),
    "CEM with labels": partial(_labelled_mixture, assignment="hard", unlabelled_weight=1.0),
    "logistic regression": _regression,
    "self-training": _self_training,
    "LabelledMixture": lambda drawn, seed: named_classes(
        LabelledMixture(unlabelled_weight=0.1, accelerate=False, random_state=seed), drawn
    ),
    "BayesianMixture": lambda drawn, seed: named_classes(
        BayesianMixture(family="gaussian", covariance_type="full", power=False, random_state=seed), drawn
    ),
    "GraphPropagation": lambda drawn, seed: named_classes(GraphPropagation(), drawn),
    **{name: partial(_most_similar, similarity=similarity) for name, similarity in SIMILARITIES.items()},
    ONE_CLUSTER: lambda drawn, seed: np.full(len(drawn.y), np.bincount(drawn.known[drawn.known >= 0]).argmax()),
}
GRAPHS: Mapping[str, Callable[[], GraphPropagation]] = {
    "binary": lambda: graph_of("binary"),
    "Gaussian": lambda: graph_of("rbf", everyone=True),
    # The printed solution lacks a factor 2, as if λ were half of what it is.
    "Gaussian, as printed": lambda: graph_of("rbf", everyone=True, smoothness=SMOOTHNESS / 2),
}


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


def measure_partition(setting: Setting, method: str, seed: int) -> Mapping[str, float]:
    """Measure K-means from a random start, and Ward's method, on a set."""
    drawn = draw_unlabelled(str(setting[0]))
    models: Mapping[str, Callable[[], Any]] = {
        "K-means": lambda: KMeans(drawn.n_classes, init="random", n_init=1, random_state=seed),
        "hierarchical": lambda: AgglomerativeClustering(drawn.n_classes),
        "LabelledMixture": lambda: LabelledMixture(
            drawn.n_classes, covariance_type="full", accelerate=False, random_state=seed
        ),
        "BayesianMixture": lambda: BayesianMixture(
            drawn.n_classes, family="gaussian", covariance_type="full", power=False, random_state=seed
        ),
    }
    one = np.zeros(len(drawn.y), dtype=int)
    return group_scores(drawn, one if method == ONE_CLUSTER else models[method]().fit(drawn.X).labels_)


def measure_mixture(draw: Callable[..., Draw], setting: Setting, method: str, seed: int) -> Mapping[str, float]:
    """Measure EM or CEM on a draw without labels."""
    drawn = draw(*setting, seed)
    if method == ONE_CLUSTER:
        return {**group_scores(drawn, np.zeros(len(drawn.y), dtype=int)), FALL: 0.0, STEPS: 0.0}
    model = plain_mixture(method, drawn.n_classes, seed).fit(drawn.X)
    fall = max(0.0, -float(np.diff(model.lower_bounds_).min(initial=0.0)))
    return {**group_scores(drawn, model.labels_), FALL: fall, STEPS: float(model.n_iter_)}


def measure_classes(draw: Callable[..., Draw], setting: Setting, method: str, seed: int) -> Mapping[str, float]:
    """Measure a method on a draw of labels."""
    drawn = draw(*setting, seed)
    return class_scores(drawn, CLASSIFIERS[method](drawn, seed))


def measure_graph(setting: Setting, method: str, seed: int) -> Mapping[str, float]:
    """Measure label propagation; the criterion is 0 for methods without one."""
    if method not in GRAPHS:
        return {**measure_classes(draw_per_class, setting, method, seed), CRITERION: 0.0}
    drawn, model = draw_per_class(str(setting[0]), int(setting[1]), seed), GRAPHS[method]()
    return {**class_scores(drawn, named_classes(model, drawn)), CRITERION: criterion(model, drawn)}
