"""The methods that `quality.py` compares: those of sidelight, and their peers of scikit-learn with default settings.

Peers get standardised columns, categories as indicators and missing cells at the mean, and the true number of clusters
where they need one. GuidedMixture and BayesianMixture take the table as it is and find the number.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from sklearn.cluster import AgglomerativeClustering, KMeans
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.mixture import GaussianMixture
from sklearn.neighbors import KNeighborsClassifier
from sklearn.semi_supervised import LabelSpreading, SelfTrainingClassifier
from sklearn.svm import SVC

import sidelight as sl
from situations import Problem, Situation, components

GUIDED = "GuidedMixture"
LINEAR = "LogisticRegression"


class Answer(NamedTuple):
    """What a method says about every row.

    Attributes
    ----------
    labels : (n,) int
        The cluster of each row.
    names : (k,) of str, optional
        The class of each cluster, or another name where it is none of the labelled ones; None where there are none.
    probabilities : (n, k), optional
        Of the clusters.
    """

    labels: np.ndarray
    names: np.ndarray | None = None
    probabilities: np.ndarray | None = None


@dataclass(frozen=True)
class Method:
    """A method, the package it is of, and the statements without which it has no meaning ("labels", "links")."""

    answer: Callable[[Problem], Answer]
    package: str
    needs: str | None = None

    def applies(self, situation: Situation) -> bool:
        """Say whether the method has a meaning in a situation."""
        return {None: True, "labels": situation.has_labels, "links": situation.has_links}[self.needs]


# --- scikit-learn -----------------------------------------------------------------------------------------------------


def classifier(make: Callable[[Problem], Any], problem: Problem) -> Answer:
    """Fit a classifier to the labelled rows."""
    rows = problem.labelled
    model = make(problem).fit(problem.Z[rows], problem.y[rows])
    if not hasattr(model, "predict_proba"):
        return Answer(np.searchsorted(model.classes_, model.predict(problem.Z)), model.classes_)
    probabilities = model.predict_proba(problem.Z)
    return Answer(probabilities.argmax(axis=1), model.classes_, probabilities)


def semi_supervised(make: Callable[[], Any], problem: Problem) -> Answer:
    """Fit a semi-supervised classifier to all rows, -1 being the class of those without a label."""
    targets = np.full(len(problem.y), -1)
    targets[problem.labelled] = np.searchsorted(problem.known, problem.y[problem.labelled])
    probabilities = make().fit(problem.Z, targets).predict_proba(problem.Z)
    # LabelSpreading divides zero by zero where no label reaches a row.
    even = np.full_like(probabilities, 1 / len(problem.known))
    probabilities = np.where(np.isfinite(probabilities), probabilities, even)
    return Answer(probabilities.argmax(axis=1), problem.known, probabilities)


def clusterer(make: Callable[[int, int], Any], problem: Problem, most: int | None = None) -> Answer:
    """Fit a method that only takes the number of clusters, to principal components where columns are many."""
    Z = problem.Z if most is None else components(problem.Z, number=50, above=most)
    return Answer(np.asarray(make(problem.n_classes, problem.seed).fit_predict(Z)))


# --- sidelight --------------------------------------------------------------------------------------------------------


def fitted(model: Any, X: Any, problem: Problem) -> Answer:
    """Fit an estimator of sidelight to what it takes of the statements."""
    y = problem.labels if len(problem.labelled) else None
    links = {"must_link": problem.must_link, "cannot_link": problem.cannot_link}
    stated = {name: pairs for name, pairs in links.items() if name in model.takes and len(pairs)}
    model.fit(X, y, **stated)
    names = np.asarray([str(name) for name in model.cluster_names_])
    return Answer(np.asarray(model.labels_), names, getattr(model, "posterior_", None))


def on_the_table(name: str, problem: Problem) -> Answer:
    """Fit an estimator that takes the table as it is and finds the number of clusters."""
    return fitted(getattr(sl, name)(random_state=problem.seed), problem.X, problem)


def on_numbers(name: str, problem: Problem) -> Answer:
    """Fit an estimator that takes numbers and receives the number of clusters."""
    return fitted(getattr(sl, name)(problem.n_classes, random_state=problem.seed), problem.Z, problem)


def equivalence(problem: Problem) -> Answer:
    """Fit EquivalenceMixture, to principal components where full covariances of all columns would take minutes."""
    Z = components(problem.Z, number=15, above=40)
    return fitted(sl.EquivalenceMixture(problem.n_classes, random_state=problem.seed), Z, problem)


def of_labels(answer: Callable[[Problem], Answer]) -> Method:
    """Return a method of scikit-learn that needs labels."""
    return Method(answer, "scikit-learn", needs="labels")


def linear() -> LogisticRegression:
    """Return logistic regression with enough iterations to converge."""
    return LogisticRegression(max_iter=1000)


def neighbours(problem: Problem) -> KNeighborsClassifier:
    """Return five neighbours, fewer where fewer rows are labelled."""
    return KNeighborsClassifier(min(5, len(problem.labelled)))


# In the order in which they are run: cheap ones first.
METHODS = {
    "KNeighborsClassifier": of_labels(partial(classifier, neighbours)),
    LINEAR: of_labels(partial(classifier, lambda problem: linear())),
    "SVC": of_labels(partial(classifier, lambda problem: SVC())),
    "LabelSpreading": of_labels(partial(semi_supervised, lambda: LabelSpreading(kernel="knn"))),
    "AgglomerativeClustering": Method(
        partial(clusterer, lambda k, seed: AgglomerativeClustering(k)), package="scikit-learn"
    ),
    "KMeans": Method(
        partial(clusterer, lambda k, seed: KMeans(k, n_init=10, random_state=seed)), package="scikit-learn"
    ),
    "GaussianMixture": Method(
        partial(clusterer, lambda k, seed: GaussianMixture(k, random_state=seed), most=100), package="scikit-learn"
    ),
    "RandomForestClassifier": of_labels(
        partial(classifier, lambda problem: RandomForestClassifier(random_state=problem.seed))
    ),
    "SelfTrainingClassifier": of_labels(partial(semi_supervised, lambda: SelfTrainingClassifier(linear()))),
    "GraphPropagation": Method(partial(on_numbers, "GraphPropagation"), package="sidelight", needs="labels"),
    "HMRFKMeans": Method(partial(on_numbers, "HMRFKMeans"), package="sidelight", needs="links"),
    "COPKMeans": Method(partial(on_numbers, "COPKMeans"), package="sidelight", needs="links"),
    "BayesianMixture": Method(partial(on_the_table, "BayesianMixture"), package="sidelight"),
    "EquivalenceMixture": Method(equivalence, package="sidelight"),
    GUIDED: Method(partial(on_the_table, GUIDED), package="sidelight"),
}


def available() -> list[str]:
    """Return the methods that can be run here."""
    return [name for name in METHODS if name != GUIDED or hasattr(sl, GUIDED)]
