"""Columns of whole numbers: all of them as one kind, and as the kinds that are recognised.

    python benchmarks/whole_numbers.py [--sets dermatology penguins] [--kinds gaussian ordinal] [--draws 3]

For each table and kind: number of clusters and adjusted Rand index of BayesianMixture without side information, and
with a tenth of the rows labelled (on the other rows); means over draws. Columns of other types keep the kind that is
recognised. The tables are in the folder that SIDELIGHT_DATA names.
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

SETS = ("authorship", "dermatology", "breast_cancer_wisconsin", "penguins", "zoo", "haberman", "vehicle")
KINDS = ("auto", "gaussian", "poisson", "negative_binomial", "categorical", "ordinal")
# With more values than this, categories are not tried.
MOST_VALUES = 20
LABELLED = 0.1


def families(table: pd.DataFrame, kind: str) -> dict[str, str]:
    """Return the kind for the columns of whole numbers that are not just 0 and 1."""
    whole = [name for name in table if table[name].dtype.kind == "i" and table[name].nunique() > 2]
    if kind in ("categorical", "ordinal"):
        whole = [name for name in whole if table[name].nunique() <= MOST_VALUES]
    return dict.fromkeys(whole, kind)


def figures(table: pd.DataFrame, truth: np.ndarray, kind: str, seed: int) -> tuple[float, float, float, float]:
    """Return clusters and adjusted Rand index without labels, then with some."""
    family = families(table, kind)
    free = BayesianMixture(family=family, random_state=seed).fit(table)
    labelled = np.random.default_rng(seed).random(len(truth)) < LABELLED
    labels = np.where(labelled, truth, None)
    guided = BayesianMixture(family=family, random_state=seed).fit(table, labels)
    others = adjusted_rand_score(truth[~labelled], guided.labels_[~labelled])
    return free.n_clusters_, adjusted_rand_score(truth, free.labels_), guided.n_clusters_, others


def main() -> None:
    """Compare and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", nargs="+", default=SETS)
    parser.add_argument("--kinds", nargs="+", default=KINDS)
    parser.add_argument("--draws", type=int, default=3)
    asked = parser.parse_args()
    folder = Path(os.environ["SIDELIGHT_DATA"])
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in asked.sets:
            table = pd.read_csv(folder / f"{name}.csv.gz", dtype={"target": str})
            truth = table.pop("target").to_numpy(dtype=object)
            for kind in asked.kinds:
                means = np.mean([figures(table, truth, kind, seed) for seed in range(asked.draws)], axis=0)
                found = "{:5.1f} {:.3f}  {:5.1f} {:.3f}".format(*means)
                print(f"{name:24} {kind:18} {found}", flush=True)


if __name__ == "__main__":
    main()
