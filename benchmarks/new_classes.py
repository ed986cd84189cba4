"""Classes without labels: whether BayesianMixture finds them as clusters of their own, and the purity of these.

    python benchmarks/new_classes.py [--draws 20]

scikit-learn's digits in 30 principal components. In each draw three other classes have no labels, and a tenth of the
rows of the remaining classes is labelled.
"""

import argparse
from typing import NamedTuple

import numpy as np
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA

from sidelight import BayesianMixture
from sidelight.metrics import clustering_accuracy_score


class Outcome(NamedTuple):
    """Share of the hidden classes in new clusters, their purity and number, and the accuracy on the other classes."""

    covered: float
    purity: float
    new_clusters: int
    accuracy: float


def draw(X: np.ndarray, y: np.ndarray, seed: int) -> tuple[np.ndarray, Outcome]:
    """Hide three classes, label a tenth of the others, and fit."""
    rng = np.random.default_rng(seed)
    hidden = np.sort(rng.choice(10, 3, replace=False))
    known = np.full(len(y), -1)
    for label in np.setdiff1d(np.arange(10), hidden):
        rows = np.flatnonzero(y == label)
        known[rng.choice(rows, round(0.1 * len(rows)), replace=False)] = label
    model = BayesianMixture(random_state=seed).fit(X, known)
    new = np.array([str(name).startswith("new") for name in model.cluster_names_])
    in_new, of_hidden = new[model.labels_], np.isin(y, hidden)
    pure = sum(np.bincount(y[model.labels_ == cluster], minlength=10)[hidden].max() for cluster in np.flatnonzero(new))
    rest = np.flatnonzero((known < 0) & ~of_hidden)
    return hidden, Outcome(
        (in_new & of_hidden).sum() / of_hidden.sum(),
        pure / max(in_new.sum(), 1),
        int(new.sum()),
        clustering_accuracy_score(y, model.labels_, rows=rest),
    )


def main() -> None:
    """Print each draw and the mean."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--draws", type=int, default=20)
    images, y = load_digits(return_X_y=True)
    X = PCA(30, random_state=0).fit_transform(images)
    found = []
    print("hidden       covered  purity  new clusters  accuracy on unlabelled rows of labelled classes")
    for seed in range(parser.parse_args().draws):
        hidden, outcome = draw(X, y, seed)
        found.append(outcome)
        start = f"{hidden.tolist()!s:12} {outcome.covered:.3f}    {outcome.purity:.3f}   {outcome.new_clusters:2d}"
        print(f"{start}            {outcome.accuracy:.3f}", flush=True)
    covered, purity, number, accuracy = np.mean(found, axis=0)
    print(f"mean         {covered:.3f}    {purity:.3f}   {number:4.1f}          {accuracy:.3f}")


if __name__ == "__main__":
    main()
