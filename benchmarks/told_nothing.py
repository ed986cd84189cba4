"""BayesianMixture without side information, beside k-means, Ward and Gaussian mixtures that know the number of classes.

    python benchmarks/told_nothing.py [--sets iris wine …] [--draws 1 2] [--without | --settings default …]

Adjusted Rand index and number of clusters on real tables as they are: numbers, categories, counts, empty cells, more
columns than rows. A draw is a random part, four fifths, of the rows; draw 0 is all rows, by which defaults were chosen.
At most 3000 rows are taken. Peers get standardised columns, categories as indicators, and the true number of clusters.
``--without`` repeats the fit with one part of the default left out at a time, and with canonical scales; ``--settings``
names some of these. Tables that scikit-learn does not have are read from the folder that SIDELIGHT_DATA names.
"""

import argparse
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from sklearn.cluster import AgglomerativeClustering, KMeans
from sklearn.metrics import adjusted_rand_score
from sklearn.mixture import GaussianMixture
from threadpoolctl import threadpool_limits

from sidelight import BayesianMixture
from sidelight.tables.schema import learn_schema
from situations import OF_THE_PAPERS, OTHERS, SHIPPED, components, read_table, standardised

MOST_ROWS = 3000
PART = 0.8


def table(name: str, draw: int) -> tuple[pd.DataFrame, np.ndarray]:
    """Return a table as it is and its classes; of a draw other than 0, a part of the rows."""
    X, y = read_table(name)
    wanted = len(X) if draw == 0 else round(PART * len(X))
    rows = np.sort(np.random.RandomState(draw).permutation(len(X))[: min(wanted, MOST_ROWS)])
    return X.iloc[rows].reset_index(drop=True), y[rows]


def peers(X: pd.DataFrame, y: np.ndarray) -> list[float]:
    """Return the scores of k-means, Ward and a Gaussian mixture, told the number of classes."""
    Z, k = standardised(X), len(set(y))
    # With very many columns a Gaussian mixture takes minutes, and principal components serve it as well.
    few = components(Z, number=50, above=100)
    found = (
        KMeans(k, n_init=10, random_state=0).fit_predict(Z),
        AgglomerativeClustering(k).fit_predict(Z),
        GaussianMixture(k, random_state=0).fit_predict(few),
    )
    return [adjusted_rand_score(y, labels) for labels in found]


def with_kinds(X: pd.DataFrame, replaced: dict[str, str]) -> dict[Any, str]:
    """Return the kinds of the columns as they are recognised, some of them replaced by others."""
    kinds = learn_schema(X, "auto").kinds
    return {name: replaced.get(kind, kind) for name, kind in zip(X.columns, kinds, strict=True)}


WHOLE_NUMBERS = dict.fromkeys(("poisson", "negative_binomial", "ordinal"), "gaussian")
SETTINGS: dict[str, Callable[[pd.DataFrame], dict[str, Any]]] = {
    "default": lambda X: {},
    "no atoms": lambda X: {"family": with_kinds(X, {"atom": "gaussian"})},
    "no counts, no ordinal": lambda X: {"family": with_kinds(X, WHOLE_NUMBERS)},
    "no scales": lambda X: {"power": False},
    "canonical scales": lambda X: {"power": "canonical"},
    "no search": lambda X: {"covariance_type": "low_rank" if X.shape[1] > 100 else "full"},
}


def fitted(name: str, draw: int, setting: str) -> tuple[float, int, str, float]:
    """Return the score, the number of clusters, the structure, and the CPU time of a fit."""
    X, y = table(name, draw)
    start = time.process_time()
    model = BayesianMixture(random_state=draw, **SETTINGS[setting](X)).fit(X)
    seconds = time.process_time() - start
    return adjusted_rand_score(y, model.labels_), model.n_clusters_, model.covariance_type_, seconds


def main() -> None:
    """Fit, print a line for each table and the means."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", nargs="+", default=[*SHIPPED, *OF_THE_PAPERS, *OTHERS])
    parser.add_argument("--draws", nargs="+", type=int, default=[1])
    parser.add_argument("--without", action="store_true")
    parser.add_argument("--settings", nargs="+", choices=list(SETTINGS))
    asked = parser.parse_args()
    settings = asked.settings or (list(SETTINGS) if asked.without else ["default"])
    ours: dict[str, list[tuple[float, float]]] = {setting: [] for setting in settings}
    theirs, alone = [], []
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in asked.sets:
            for draw in asked.draws:
                X, y = table(name, draw)
                theirs.append(peers(X, y))
                line = f"{name:24s} {draw} {len(set(y)):2d} classes | peers " + " ".join(
                    f"{s:5.2f}" for s in theirs[-1]
                )
                for setting in settings:
                    score, k, structure, seconds = fitted(name, draw, setting)
                    ours[setting].append((score, k / len(set(y))))
                    line += f" | {score:5.2f} {k:2d} {structure} {seconds:.1f} s"
                    if setting == "default" and k == 1 and max(theirs[-1]) >= 0.05:
                        alone.append(name)
                print(line, flush=True)
    print("k-means, Ward, Gaussian mixture, told the number:", np.mean(theirs, axis=0).round(3))
    for setting, found in ours.items():
        scores, ratios = np.transpose(found)
        near = np.mean(np.abs(np.log2(ratios)) <= 1)
        print(f"{setting}: mean {scores.mean():.3f}, number within a factor 2 on {near:.0%}")
    print("one cluster where a peer reaches .05:", alone or "never")


if __name__ == "__main__":
    main()
