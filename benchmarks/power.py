"""Columns on the scale they want: clusters and bound of BayesianMixture with ``power="auto"`` and without.

    python benchmarks/power.py [--sets iris wine …] [--rows 2000]

No labels are given. A line has the adjusted Rand index to the classes, the number of clusters and the bound per row,
without and with transforms, and how many columns were transformed; a star marks the higher bound. Then, after
"logarithms", the adjusted Rand index between the labels of the table and those of the table with the logarithm of each
positive column, without and with transforms; after "seeds", that between two values of random_state, for comparison.
Tables that are not in the catalogue are read from the folder that SIDELIGHT_DATA names.
"""

import argparse
import os
import warnings
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer
from sklearn.metrics import adjusted_rand_score
from threadpoolctl import threadpool_limits

from sidelight import BayesianMixture
from sidelight.datasets import CATALOGUE, load

SMALL = ("iris", "wine", "glass", "thyroid", "liver", "haberman", "seeds", "penguins", "ecoli", "pima")
LARGE = ("breast_cancer", "vehicle", "ionosphere", "sonar", "segment", "satimage")


def read(name: str, most_rows: int) -> tuple[pd.DataFrame, np.ndarray]:
    """Return the columns of numbers of a set and its classes, at most so many rows, evenly spaced."""
    if name == "breast_cancer":
        X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    elif name in CATALOGUE:
        X, y, _ = load(name)
    else:
        X = pd.read_csv(Path(os.environ["SIDELIGHT_DATA"]) / f"{name}.csv.gz")
        y = X.pop("target")
    table = pd.DataFrame(X).select_dtypes("number").astype(float).rename(columns=str)
    rows = np.linspace(0, len(table) - 1, min(len(table), most_rows)).astype(int)
    return table.iloc[rows].reset_index(drop=True), np.asarray(y)[rows]


def logarithms(table: pd.DataFrame) -> pd.DataFrame:
    """Return the table with the logarithm of each positive column."""
    positive = [name for name in table if table[name].min() > 0]
    return table.assign(**{name: np.log(table[name]) for name in positive})


class Measured(NamedTuple):
    """What one setting gives on a table; agreements are adjusted Rand indices."""

    with_classes: float
    n_clusters: int
    bound: float
    n_transformed: int
    with_logarithms: float
    with_other_seed: float


def measure(table: pd.DataFrame, classes: np.ndarray, covariance_type: str, power: str | bool) -> Measured:
    """Fit the table, its logarithms, and the table again from another seed."""
    base = BayesianMixture(covariance_type=covariance_type, power=power, random_state=0)
    model = clone(base).fit(table)
    labels = model.labels_
    return Measured(
        adjusted_rand_score(classes, labels),
        len(np.unique(labels)),
        model.lower_bound_,
        len(model.column_powers_),
        adjusted_rand_score(labels, clone(base).fit(logarithms(table)).labels_),
        adjusted_rand_score(labels, clone(base).set_params(random_state=1).fit(table).labels_),
    )


def line(plain: Measured, chosen: Measured) -> str:
    """Return the two settings side by side."""
    highest = max(plain.bound, chosen.bound)
    parts = [
        f"{found.with_classes:.3f} {found.n_clusters:2d} {found.bound:9.3f}{'*' if found.bound == highest else ' '}"
        for found in (plain, chosen)
    ]
    parts.append(f"{chosen.n_transformed:2d} transformed")
    parts.append(f"logarithms {plain.with_logarithms:.3f} {chosen.with_logarithms:.3f}")
    parts.append(f"seeds {plain.with_other_seed:.3f} {chosen.with_other_seed:.3f}")
    return "  ".join(parts)


def main() -> None:
    """Fit and print, table by table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", nargs="+", default=[*SMALL, *LARGE])
    parser.add_argument("--rows", type=int, default=2000)
    parser.add_argument("--covariances", nargs="+", default=["full", "diag"])
    asked = parser.parse_args()
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in asked.sets:
            table, classes = read(name, asked.rows)
            for covariance_type in asked.covariances:
                plain, chosen = (measure(table, classes, covariance_type, power) for power in (False, "auto"))
                print(f"{name:14}{covariance_type:6}{line(plain, chosen)}", flush=True)


if __name__ == "__main__":
    main()
