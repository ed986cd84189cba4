"""Thirty labels, drawn at random: how many rows GuidedMixture names right, beside logistic regression.

    python benchmarks/thirty_labels.py [--draws 11 12 13] [--sets iris wine]

What a user has who labels thirty rows without choosing them: large classes have more labels than small ones, and some
may have none. Tables are those of `quality.py`, with at most 1000 rows. Names are counted on the rows without a label;
a row of a class that no label names is named wrong by every method. Logistic regression is fitted to standardised,
one-hot columns, and "largest" names every row as the most frequent of its classes.
"""

import argparse
import warnings
from typing import NamedTuple

import numpy as np
from sklearn.linear_model import LogisticRegression
from threadpoolctl import threadpool_limits

from sidelight import GuidedMixture
from situations import TABLES, drawn

N_LABELS = 30
ALLOWED = 0.02


class Named(NamedTuple):
    """Shares of the rows without a label that are named right, and that GuidedMixture calls new."""

    guided: float
    linear: float
    largest: float
    called_new: float


def measure(table: str, seed: int) -> Named:
    """Label thirty rows of a draw, and name the others."""
    draw = drawn(table, seed)
    labelled, others = draw.order[:N_LABELS], draw.order[N_LABELS:]
    labels = np.full(len(draw.y), None, dtype=object)
    labels[labelled] = draw.y[labelled]
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = GuidedMixture(random_state=seed).fit(draw.X, labels)
        linear = LogisticRegression(max_iter=1000).fit(draw.Z[labelled], draw.y[labelled])
    names = np.asarray([str(name) for name in model.cluster_names_])[model.labels_][others]
    truth = draw.y[others]
    return Named(
        float(np.mean(names == truth)),
        float(np.mean(linear.predict(draw.Z[others]) == truth)),
        float(np.unique(truth, return_counts=True)[1].max() / len(truth)),
        float(np.mean(~np.isin(names, draw.y[labelled]))),
    )


def main() -> None:
    """Print each table, means over draws, and on how many the demands fail."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", nargs="+", type=int, default=[11, 12, 13])
    parser.add_argument("--sets", nargs="+", choices=TABLES, default=list(TABLES), metavar="TABLE")
    asked = parser.parse_args()
    means = {}
    print(f"{'table':25} guided  linear  largest  called new")
    for table in asked.sets:
        means[table] = Named(*np.mean([measure(table, seed) for seed in asked.draws], axis=0))
        found = means[table]
        mark = "  behind" if found.guided < found.linear - ALLOWED else ""
        mark += "  below the largest class" if found.guided < found.largest else ""
        print(f"{table:25} {'   '.join(f'{value:.3f}' for value in found)}{mark}", flush=True)
    overall = Named(*np.mean(list(means.values()), axis=0))
    print(f"{'mean':25} {'   '.join(f'{value:.3f}' for value in overall)}")
    behind = sum(found.guided < found.linear - ALLOWED for found in means.values())
    below = sum(found.guided < found.largest for found in means.values())
    print(f"behind logistic regression by more than {ALLOWED}: {behind}; below the largest class: {below}")


if __name__ == "__main__":
    main()
