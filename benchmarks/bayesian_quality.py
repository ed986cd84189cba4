"""How well BayesianMixture clusters: its default against the published form, new classes, the paper's experiments.

    python benchmarks/bayesian_quality.py table        the paper's table 1 with the authors' settings
    python benchmarks/bayesian_quality.py default      default against the authors' form, rows without labels
    python benchmarks/bayesian_quality.py novel        classes that nobody labelled
    python benchmarks/bayesian_quality.py synthetic    experiments 3.1 and 3.2

glass and yeast are read from the folder that SIDELIGHT_DATA names. Seeds are 0 to 9 (0 to 19 for ``novel``) throughout.
"""

import argparse
import os
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.datasets import load_digits, load_iris, load_wine
from sklearn.decomposition import PCA
from sklearn.exceptions import ConvergenceWarning

from sidelight import BayesianMixture
from sidelight.metrics import clustering_accuracy_score

SKLEARN = {"iris": load_iris, "wine": load_wine, "digits": load_digits}
# Echraibi et al. 2019, table 1, and the truncation of its section 3.3.
PAPER = {
    "iris": (0.72, 0.98, 0.98),
    "wine": (0.49, 0.58, 0.81),
    "glass": (0.52, 0.50, 0.71),
    "yeast": (0.37, 0.41, 0.70),
    "digits": (0.61, 0.68, 0.79),
}
TRUNCATION = {"iris": 10, "wine": 10, "glass": 20, "yeast": 20, "digits": 20}
SEEDS = range(10)


def load(name):
    if name in SKLEARN:
        return SKLEARN[name](return_X_y=True)
    folder = os.environ.get("SIDELIGHT_DATA")
    if folder is None:
        raise SystemExit(f"{name} is read from the folder that SIDELIGHT_DATA names, which is not set.")
    frame = pd.read_csv(Path(folder) / f"{name}.csv.gz", dtype={"target": str})
    return frame.drop(columns="target").to_numpy(float), pd.factorize(frame["target"])[0]


def partial_labels(y, fraction, seed):
    labelled = np.random.default_rng(seed).permutation(len(y))[: round(fraction * len(y))]
    known = np.full(len(y), -1)
    known[labelled] = y[labelled]
    return known


def authors_form(n_components, d, seed):
    """Return the settings with which the paper's table comes out."""
    return BayesianMixture(
        n_components,
        weights="dirichlet",
        concentration=1 / n_components,
        potential="divergence",
        strength=0.001,
        mean_prior="kmeans",
        mean_precision_prior=1.0,
        degrees_of_freedom_prior=float(d),
        covariance_prior=np.eye(d),
        init_params="distances",
        unlabelled_weight=1.0,
        random_state=seed,
    )


def scores(model, X, y, known):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        labels = model.fit(X, known).labels_
    free = np.flatnonzero(known < 0)
    return clustering_accuracy_score(y, labels), clustering_accuracy_score(y, labels, rows=free), model.n_clusters_


def table(names):
    print("set      labels  paper  best  all rows       rows without labels   one cluster")
    for name in names:
        X, y = load(name)
        for fraction, paper in zip((0.0, 0.2, 0.5), PAPER[name], strict=True):
            found = np.array(
                [
                    scores(authors_form(TRUNCATION[name], X.shape[1], seed), X, y, partial_labels(y, fraction, seed))
                    for seed in SEEDS
                ]
            )
            every, free = found[:, 0], found[:, 1]
            trivial = np.bincount(y).max() / len(y)
            print(
                f"{name:8} {fraction:5.0%}   {paper:.2f}   {every.max():.3f}  {every.mean():.3f} ± {every.std():.3f}  "
                f"{free.mean():.3f} ± {free.std():.3f}         {trivial:.3f}",
                flush=True,
            )


def default(names):
    print("set      labels  authors' form   default         clusters  difference")
    for name in names:
        X, y = load(name)
        for fraction in (0.2, 0.5):
            theirs, ours, n_clusters = [], [], []
            for seed in SEEDS:
                known = partial_labels(y, fraction, seed)
                theirs.append(scores(authors_form(TRUNCATION[name], X.shape[1], seed), X, y, known)[1])
                _, accuracy, found = scores(BayesianMixture(random_state=seed), X, y, known)
                ours.append(accuracy)
                n_clusters.append(found)
            print(
                f"{name:8} {fraction:5.0%}   {np.mean(theirs):.3f} ± {np.std(theirs):.3f}   "
                f"{np.mean(ours):.3f} ± {np.std(ours):.3f}   {np.mean(n_clusters):4.1f}      "
                f"{np.mean(ours) - np.mean(theirs):+.3f}",
                flush=True,
            )


def novel():
    """Digits in 30 principal components, three classes never labelled, 10 % of the others."""
    X, y = load_digits(return_X_y=True)
    Z = PCA(30, random_state=0).fit_transform(X)
    found = []
    print("hidden       covered  purity  new clusters  accuracy on rows of labelled classes without a label")
    for seed in range(20):
        rng = np.random.default_rng(seed)
        hidden = np.sort(rng.choice(10, 3, replace=False))
        known = np.full(len(y), -1)
        for label in np.setdiff1d(np.arange(10), hidden):
            rows = np.flatnonzero(y == label)
            chosen = rng.choice(rows, round(0.1 * len(rows)), replace=False)
            known[chosen] = label
        model = BayesianMixture(random_state=seed).fit(Z, known)
        new = np.array([str(name).startswith("new") for name in model.cluster_names_])
        in_new, of_hidden = new[model.labels_], np.isin(y, hidden)
        pure = sum(
            np.bincount(y[model.labels_ == cluster], minlength=10)[hidden].max() for cluster in np.flatnonzero(new)
        )
        rest = np.flatnonzero((known < 0) & ~of_hidden)
        found.append(
            (
                (in_new & of_hidden).sum() / of_hidden.sum(),
                pure / max(in_new.sum(), 1),
                new.sum(),
                clustering_accuracy_score(y, model.labels_, rows=rest),
            )
        )
        covered, purity, number, accuracy = found[-1]
        row = f"{hidden.tolist()!s:12} {covered:.3f}    {purity:.3f}   {number:2d}            {accuracy:.3f}"
        print(row, flush=True)
    covered, purity, number, accuracy = np.mean(found, axis=0)
    print(f"mean         {covered:.3f}    {purity:.3f}   {number:4.1f}          {accuracy:.3f}")


def four_gaussians(seed, half_distance):
    """Experiment 3.1: bottom, top, and two in the middle that share a label; 5, 5 and 10 % labelled."""
    rng = np.random.default_rng(seed)
    centres = np.array([[0, 6], [0, -6], [-half_distance, 0], [half_distance, 0]])
    X = np.repeat(centres, 100, axis=0) + rng.normal(size=(400, 2))
    y = np.repeat([0, 1, 2, 2], 100)
    known = np.full(400, -1)
    for label, fraction in ((0, 0.05), (1, 0.05), (2, 0.10)):
        rows = np.flatnonzero(y == label)
        known[rng.choice(rows, round(fraction * len(rows)), replace=False)] = label
    return X, y, known


def two_views(seed, pairs):
    """Experiment 3.2: four Gaussians that make two classes in one of two ways; 10 % labelled."""
    rng = np.random.default_rng(seed)
    X = np.repeat([[-4, 3], [4, 3], [-4, -3], [4, -3]], 100, axis=0) + rng.normal(size=(400, 2))
    y = np.repeat(pairs, 100)
    return X, y, partial_labels(y, 0.1, seed)


def synthetic():
    settings = {
        "3.1, middles close": (lambda seed: four_gaussians(seed, 1.2), (4, 10)),
        "3.1, middles far apart": (lambda seed: four_gaussians(seed, 4.0), (4, 10)),
        "3.2, left and right": (lambda seed: two_views(seed, [0, 1, 0, 1]), (3, 10)),
        "3.2, top and bottom": (lambda seed: two_views(seed, [0, 0, 1, 1]), (3, 10)),
    }
    print("experiment               T   classes found                    least accuracy")
    for name, (draw, truncations) in settings.items():
        for truncation in truncations:
            found = [scores(BayesianMixture(truncation, random_state=seed), *draw(seed)) for seed in SEEDS]
            numbers = [number for _, _, number in found]
            print(f"{name:24} {truncation:2d}  {numbers}   {min(accuracy for accuracy, *_ in found):.3f}", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["table", "default", "novel", "synthetic"])
    parser.add_argument("--sets", nargs="+", default=list(PAPER), choices=list(PAPER))
    chosen = parser.parse_args()
    if chosen.what in ("table", "default"):
        {"table": table, "default": default}[chosen.what](chosen.sets)
    else:
        {"novel": novel, "synthetic": synthetic}[chosen.what]()
