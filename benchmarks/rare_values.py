"""Columns in which one value is frequent: as Gaussians, and as what ``family="auto"`` takes them for.

    python benchmarks/rare_values.py [--sets digits ecoli segment yeast] [--draws 3]

Adjusted Rand index of BayesianMixture on unlabelled rows, with none, a twentieth and a fifth of the rows labelled;
means over draws of labels and starts. segment is read from the folder that SIDELIGHT_DATA names.
"""

import argparse
import os
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.metrics import adjusted_rand_score
from threadpoolctl import threadpool_limits

from sidelight import BayesianMixture
from sidelight.datasets import CATALOGUE, load
from sidelight.side import draw_labels
from sidelight.tables.schema import learn_schema

FRACTIONS = (0.0, 0.05, 0.2)


def table(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the cells of a data set and the codes of its classes."""
    if name in CATALOGUE:
        X, y, _ = load(name)
    else:
        frame = pd.read_csv(Path(os.environ["SIDELIGHT_DATA"]) / f"{name}.csv.gz", dtype={"target": str})
        X, y = frame.drop(columns="target").to_numpy(), frame["target"].to_numpy()
    return np.asarray(X, dtype=float), np.unique(y, return_inverse=True)[1]


def agreement(X: np.ndarray, y: np.ndarray, family: str, fraction: float, seed: int) -> float:
    """Fit with some labels, and return the adjusted Rand index on the other rows."""
    known = draw_labels(y, fraction=fraction, random_state=seed) if fraction else np.full(len(y), -1)
    model = BayesianMixture(family=family, random_state=seed).fit(X, known)
    return adjusted_rand_score(y[known < 0], model.labels_[known < 0])


def main() -> None:
    """Compare and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", nargs="+", default=["digits", "ecoli", "segment", "yeast"])
    parser.add_argument("--draws", type=int, default=3)
    asked = parser.parse_args()
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in asked.sets:
            X, y = table(name)
            kinds = learn_schema(X, "auto").kinds
            print(f"{name}: {kinds.count('atom')} atoms, {kinds.count('ignored')} constants in {len(kinds)} columns")
            for family in ("gaussian", "auto"):
                means = [
                    np.mean([agreement(X, y, family, fraction, seed) for seed in range(asked.draws)])
                    for fraction in FRACTIONS
                ]
                print(f"  {family:10} " + "  ".join(f"{mean:.3f}" for mean in means), flush=True)


if __name__ == "__main__":
    main()
