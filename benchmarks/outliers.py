"""Outliers: a tenth of the rows replaced by rows from anywhere, five times as far out as the table reaches.

    python benchmarks/outliers.py [--draws 0] [--only synthetic|real]

Ten synthetic tables (2 to 8 clusters, 2 to 10 columns, unequal sizes and covariances) and five real ones. Adjusted Rand
index on the rows that were not replaced, before and after the others were: Gaussians, Gaussians with ``noise=True``,
Student t components, and these with noise. BayesianMixture finds the number of clusters, LabelledMixture is told it.
"""

import argparse
import os
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from sklearn.metrics import adjusted_rand_score
from threadpoolctl import threadpool_limits

from sidelight import BayesianMixture, LabelledMixture
from sidelight.datasets import load

# Numbers of clusters and of columns.
SYNTHETIC = ((2, 2), (3, 2), (4, 3), (5, 4), (3, 5), (6, 5), (4, 6), (8, 8), (2, 8), (5, 10))
REAL = ("iris", "wine", "seeds", "thyroid", "breast_cancer_wisconsin")
SHARE = 0.1
WIDER = 5.0
SETTINGS: dict[str, dict[str, Any]] = {
    "Gaussian": {"family": "gaussian"},
    "noise=True": {"family": "gaussian", "noise": True},
    "student_t": {"family": "student_t"},
    "both": {"family": "student_t", "noise": True},
}


class Table(NamedTuple):
    """A table, its name and its classes."""

    name: str
    X: np.ndarray
    y: np.ndarray


def synthetic(seed: int, n_clusters: int, d: int, n: int = 600) -> Table:
    """Return clusters of unequal sizes and covariances, whose means are a few deviations apart."""
    random = np.random.default_rng(seed)
    sizes = random.dirichlet(np.full(n_clusters, 4.0))
    y = random.choice(n_clusters, size=n, p=0.7 * sizes + 0.3 / n_clusters)
    means = np.empty((n_clusters, d))
    for k in range(n_clusters):
        candidates = random.normal(scale=4.5 / np.sqrt(2 * d), size=(50, d))
        nearest = np.min([np.linalg.norm(candidates - mean, axis=1) for mean in means[:k]] or np.zeros((1, 50)), axis=0)
        # The first that is far enough from the others, or the farthest.
        far = np.flatnonzero(nearest > 2.5)
        means[k] = candidates[far[0] if len(far) else nearest.argmax()]
    factors = random.normal(size=(n_clusters, d, d)) * 0.5 + np.eye(d)
    factors *= random.uniform(0.5, 1.4, size=(n_clusters, 1, 1))
    X = means[y] + np.einsum("nij,nj->ni", factors[y], random.normal(size=(n, d))) / np.sqrt(1 + 0.25 * d)
    return Table(f"{n_clusters} clusters, {d} columns", X * random.uniform(0.1, 50, size=d), y)


def real(name: str) -> Table:
    """Return a data set; seeds are not in the catalogue."""
    if name == "seeds":
        frame = pd.read_csv(Path(os.environ["SIDELIGHT_DATA"]) / "seeds.csv.gz")
        return Table(name, frame.iloc[:, :-1].to_numpy(dtype=float), frame.iloc[:, -1].to_numpy())
    X, y, _ = load(name)
    return Table(name, np.asarray(X, dtype=float), np.asarray(y))


def tables(only: str | None, draw: int) -> Iterator[Table]:
    """Yield the tables."""
    if only != "real":
        for number, (n_clusters, d) in enumerate(SYNTHETIC):
            yield synthetic(100 * draw + number, n_clusters, d)
    if only != "synthetic":
        for name in REAL:
            yield real(name)


def with_outliers(X: np.ndarray, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Replace a tenth of the rows; return the table and which rows are left."""
    random = np.random.default_rng(1000 + seed)
    replaced = np.zeros(len(X), dtype=bool)
    replaced[random.choice(len(X), round(SHARE * len(X)), replace=False)] = True
    low, high = X.min(axis=0), X.max(axis=0)
    changed = X.copy()
    offsets = random.uniform(-0.5, 0.5, size=(replaced.sum(), X.shape[1]))
    changed[replaced] = 0.5 * (low + high) + WIDER * (high - low) * offsets
    return changed, ~replaced


def estimator(kind: str, n_clusters: int, settings: dict[str, Any]) -> Any:
    """Return the estimator to fit: told the number of clusters, or not."""
    if kind == "LabelledMixture":
        return LabelledMixture(n_clusters, random_state=0, **settings)
    return BayesianMixture(random_state=0, **settings)


def main() -> None:
    """Compare and print tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--draws", nargs="+", type=int, default=[0])
    parser.add_argument("--only", choices=("synthetic", "real"))
    asked = parser.parse_args()
    began = time.process_time()
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for kind in ("BayesianMixture", "LabelledMixture"):
            scores: dict[str, list[tuple[float, float, float]]] = {title: [] for title in SETTINGS}
            print(f"\n{kind}: ARI before and after, clusters found, share of outliers that are noise")
            for draw in asked.draws:
                for number, table in enumerate(tables(asked.only, draw)):
                    changed, left = with_outliers(table.X, 100 * draw + number)
                    cells = []
                    for title, settings in SETTINGS.items():
                        n_clusters = len(np.unique(table.y))
                        before = estimator(kind, n_clusters, settings).fit(table.X)
                        after = estimator(kind, n_clusters, settings).fit(changed)
                        aris = [adjusted_rand_score(table.y[left], model.labels_[left]) for model in (before, after)]
                        apart = float(np.mean(after.labels_[~left] == -1))
                        scores[title].append((aris[0], aris[1], apart))
                        cells.append(f"{aris[0]:.3f} {aris[1]:.3f} {after.n_clusters_:2d} {apart:4.2f}")
                    print(f"{table.name:24} {' | '.join(cells)}", flush=True)
            for title, found in scores.items():
                before, after, apart = np.mean(found, axis=0)
                print(
                    f"{title:12} before {before:.3f}  after {after:.3f}  fall {before - after:+.3f}  noise {apart:.2f}"
                )
    print(f"{time.process_time() - began:.0f} s of CPU")


if __name__ == "__main__":
    main()
