"""Columns that hold one value in nearly all rows: used as they are, and as booleans that mark the other values.

    python benchmarks/rare_values.py [--sets ecoli yeast digits] [--draws 5]

Accuracy of BayesianMixture on unlabelled rows, with none, a twentieth and a fifth of the rows labelled; means over
draws.
"""

import argparse
import warnings

import numpy as np
import pandas as pd
from threadpoolctl import threadpool_limits

from sidelight import BayesianMixture
from sidelight.datasets import load
from sidelight.metrics import clustering_accuracy_score
from sidelight.side import draw_labels

FRACTIONS = (0.0, 0.05, 0.2)
NEARLY = 0.95


def with_booleans(table: pd.DataFrame) -> pd.DataFrame:
    """Return a table whose nearly constant columns are booleans."""
    usual = table.mode().iloc[0]
    rare = table.columns[(table == usual).mean() >= NEARLY]
    return table.assign(**{name: table[name] != usual[name] for name in rare})


def accuracy(table: pd.DataFrame, y: np.ndarray, fraction: float, seed: int) -> float:
    """Fit with some labels, and return the accuracy on the other rows."""
    known = draw_labels(y, fraction=fraction, random_state=seed) if fraction else np.full(len(y), -1)
    model = BayesianMixture(random_state=seed).fit(table, known)
    return clustering_accuracy_score(y, model.labels_, rows=known < 0)


def main() -> None:
    """Compare and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", nargs="+", default=["ecoli", "yeast", "digits"])
    parser.add_argument("--draws", type=int, default=5)
    asked = parser.parse_args()
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in asked.sets:
            X, y, _ = load(name)
            plain = pd.DataFrame(np.asarray(X, dtype=float)).add_prefix("column ")
            codes = np.unique(y, return_inverse=True)[1]
            for title, table in (("as it is", plain), ("rare values as booleans", with_booleans(plain))):
                means = [
                    np.mean([accuracy(table, codes, fraction, seed) for seed in range(asked.draws)])
                    for fraction in FRACTIONS
                ]
                print(f"{name:8} {title:24} " + "  ".join(f"{mean:.3f}" for mean in means), flush=True)


if __name__ == "__main__":
    main()
