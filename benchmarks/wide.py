"""Tables of many columns: BayesianMixture with covariances of low rank, without side information.

    python benchmarks/wide.py [--sets srbct lung_bhattacharjee "lung_bhattacharjee, log"] [--rows 3000] [--seeds 1]
        [--components 30]

Prints the rank and the number of clusters that the mixture found, its adjusted Rand index and CPU seconds, beside the
index of k-means and Ward, which receive the number of classes and standardised columns. Larger tables are cut to a
sample of ``--rows`` rows. The folder that SIDELIGHT_DATA names must hold the tables.
"""

import argparse
import os
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.cluster import AgglomerativeClustering, KMeans
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from sidelight import BayesianMixture
from sidelight.datasets import load
from sidelight.datasets.catalogue import CATALOGUE

SETS = (
    "srbct",
    "pbmc68k_reduced",
    "leukemia_yeoh",
    "leukemia_yeoh, log",
    "lung_bhattacharjee",
    "lung_bhattacharjee, log",
    "coil20",
    "mnist_test",
    "sonar",
    "ionosphere",
    "digits",
    "satimage",
)
SYNTHETIC = "synthetic"


def synthetic(n: int = 10_000, d: int = 1024, classes: int = 8) -> tuple[np.ndarray, np.ndarray]:
    """Return rows of several classes that differ in a fifth of the columns, all columns having five factors."""
    random = np.random.default_rng(0)
    y = np.arange(n) % classes
    centres = np.zeros((classes, d))
    centres[:, : d // 5] = random.normal(size=(classes, d // 5))
    factors = random.normal(size=(n, 5)) @ random.normal(scale=0.5, size=(5, d))
    return centres[y] + factors + random.normal(size=(n, d)), y


def table(name: str, rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Return a table and its classes; "…, log" takes logarithms of cells, at least 1."""
    plain, _, transform = name.partition(", ")
    if plain == SYNTHETIC:
        return synthetic()
    if plain in CATALOGUE:
        X, y, _ = load(plain)
    else:
        frame = pd.read_csv(Path(os.environ["SIDELIGHT_DATA"]) / f"{plain}.csv.gz")
        X, y = frame.drop(columns="target"), frame["target"]
    values, codes = np.asarray(X, dtype=float), np.unique(y, return_inverse=True)[1]
    if len(values) > rows:
        chosen = np.random.default_rng(0).permutation(len(values))[:rows]
        values, codes = values[chosen], codes[chosen]
    return (np.log(np.maximum(values, 1.0)) if transform == "log" else values), codes


def main() -> None:
    """Fit and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", nargs="+", default=SETS)
    parser.add_argument("--rows", type=int, default=3000)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--components", type=int, default=None)
    asked = parser.parse_args()
    print("| table | rows × columns | classes | rank | clusters | ARI | CPU s | k-means | Ward |")
    print("|---|---|---|---|---|---|---|---|---|")
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in asked.sets:
            X, y = table(name, asked.rows)
            k, points = len(np.unique(y)), StandardScaler().fit_transform(X)
            peers = [KMeans(k, n_init=10, random_state=0).fit_predict(points)]
            # Ward's distances between all rows of the largest table would not fit into memory.
            peers += [AgglomerativeClustering(k).fit_predict(points)] if len(X) <= asked.rows else []
            start = time.process_time()
            models = [
                BayesianMixture(asked.components, covariance_type="low_rank", random_state=seed).fit(X)
                for seed in range(asked.seeds)
            ]
            seconds = (time.process_time() - start) / asked.seeds
            found = np.mean([adjusted_rand_score(y, model.labels_) for model in models])
            clusters = " ".join(str(model.n_clusters_) for model in models)
            rank = models[0].loadings_.shape[1]
            others = " | ".join(f"{adjusted_rand_score(y, labels):.2f}" for labels in peers)
            shape = f"{len(X)} × {X.shape[1]}"
            print(
                f"| {name} | {shape} | {k} | {rank} | {clusters} | {found:.2f} | {seconds:.1f} | {others} |", flush=True
            )


if __name__ == "__main__":
    main()
