"""CPU time compared with scikit-learn, commit by commit: a line of the history, and the page made of all lines.

    python benchmarks/history.py measure                   # the code as it is; adds to benchmarks/results/history.csv
    python benchmarks/history.py page > docs/history.md    # the page, from all lines

An older commit is measured with its sources: ``PYTHONPATH=/elsewhere/src python benchmarks/history.py measure --commit
NAME``. Only public names are used, so that it works; what a commit does not have yet is left out. Ours and
theirs take turns in one process, with BLAS at one thread; the ratio is that of the median CPU times.
"""

import argparse
import csv
import statistics
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.mixture import BayesianGaussianMixture, GaussianMixture
from sklearn.semi_supervised import LabelSpreading
from threadpoolctl import threadpool_limits

import sidelight

RESULTS = Path(__file__).parent / "results" / "history.csv"
_FIELDS = ("commit", "date", "measure", "ours", "theirs")


class Pair(NamedTuple):
    """A measure: what is compared, and the two functions."""

    name: str
    ours: Callable[[], object]
    theirs: Callable[[], object]


def pairs() -> Iterator[Pair]:
    """Yield what the code as it is can be measured by."""
    X, y = make_blobs(30_000, n_features=10, centers=10, random_state=0)
    settings = {"max_iter": 20, "tol": 0.0, "random_state": 0}
    ours = sidelight.LabelledMixture(10, covariance_type="full", n_init=1, **settings)
    theirs = GaussianMixture(10, init_params="k-means++", **settings)
    yield Pair("`LabelledMixture`, 20 iterations : `GaussianMixture`", lambda: ours.fit(X), lambda: theirs.fit(X))
    yield Pair(
        "`LabelledMixture.predict_proba` : `GaussianMixture.predict_proba`",
        lambda: ours.predict_proba(X),
        lambda: theirs.predict_proba(X),
    )
    bayes = sidelight.BayesianMixture(10, covariance_type="full", n_init=1, **settings)
    peer = BayesianGaussianMixture(n_components=10, init_params="k-means++", **settings)
    yield Pair(
        "`BayesianMixture`, 20 iterations : `BayesianGaussianMixture`", lambda: bayes.fit(X), lambda: peer.fit(X)
    )
    labels = np.where(np.arange(len(y)) % 100 == 0, y, -1)
    seeded, lloyd = sidelight.SeededKMeans(10, random_state=0), KMeans(10, n_init=1, random_state=0)
    yield Pair("`SeededKMeans` : `KMeans`", lambda: seeded.fit(X, labels), lambda: lloyd.fit(X))
    some = slice(0, 5000)
    graph, spreading = sidelight.GraphPropagation(), LabelSpreading(kernel="knn", n_neighbors=10)
    yield Pair(
        "`GraphPropagation` : `LabelSpreading`",
        lambda: graph.fit(X[some], labels[some]),
        lambda: spreading.fit(X[some], labels[some]),
    )
    if hasattr(sidelight, "GuidedMixture"):
        few, told = X[:600], np.where(np.arange(600) % 20 == 0, y[:600], -1)
        guided = sidelight.GuidedMixture(random_state=0)
        forest = ExtraTreesClassifier(300, random_state=0)
        yield Pair(
            "`GuidedMixture`, 600 rows : 300 trees of `ExtraTreesClassifier`",
            lambda: guided.fit(few, told),
            lambda: forest.fit(few, y[:600]),
        )


def cpu_seconds(function: Callable[[], object]) -> float:
    start = time.process_time()
    function()
    return time.process_time() - start


def measure(commit: str, date: str, repeats: int) -> None:
    """Add the measures of the code as it is to the history; those of the same commit are replaced."""
    lines = [line for line in recorded() if line["commit"] != commit]
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, ours, theirs in pairs():
            ours(), theirs()  # compiles
            times = [(cpu_seconds(ours), cpu_seconds(theirs)) for _ in range(repeats)]
            mine, other = (statistics.median(values) for values in zip(*times, strict=True))
            lines.append(dict(zip(_FIELDS, (commit, date, name, f"{mine:.4f}", f"{other:.4f}"), strict=True)))
            print(f"{name}: {other / mine:.2f}", file=sys.stderr)
    with RESULTS.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, _FIELDS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(sorted(lines, key=lambda line: line["date"]))


def recorded() -> list[dict[str, str]]:
    """Return the lines of the history, oldest first."""
    if not RESULTS.exists():
        return []
    with RESULTS.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def page(lines: list[dict[str, str]]) -> str:
    """Return the page: a row per commit, a column per measure, each cell theirs : ours."""
    measures = list(dict.fromkeys(line["measure"] for line in reversed(lines)))
    # In the order of the newest commit, which has all of them.
    newest = [line["measure"] for line in lines if line["commit"] == lines[-1]["commit"]]
    measures.sort(key=lambda name: newest.index(name) if name in newest else len(newest))
    commits: dict[tuple[str, str], dict[str, float]] = {}
    for line in lines:
        ratios = commits.setdefault((line["date"], line["commit"]), {})
        ratios[line["measure"]] = float(line["theirs"]) / float(line["ours"])
    legend = "\n".join(f"- {letter}: {name}" for letter, name in zip("ABCDEFGH", measures, strict=False))
    rows = [
        f"| {date} | `{commit}` | " + " | ".join(f"{r[m]:.2f}" if m in r else "–" for m in measures) + " |"
        for (date, commit), r in commits.items()
    ]
    letters = "ABCDEFGH"[: len(measures)]
    return f"""# History of speed

How many times as fast as scikit-learn, commit by commit: its CPU time divided by ours, both measured in turns in one
process with one thread. Above 1 we are quicker. Ratios of one row were measured in one run. Between rows, differences
below a tenth are noise; fits of `SeededKMeans` take 25 ms here, and differ by a third.

{legend}

| date | commit | {" | ".join(letters)} |
|---|---|{"---|" * len(measures)}
{chr(10).join(rows)}

The estimators do more than their counterparts: `SeededKMeans` respects labels, `GuidedMixture` weighs several experts,
of which the trees are one. `python benchmarks/history.py measure` adds a row, `python benchmarks/history.py page`
makes this page.
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=["measure", "page"])
    parser.add_argument("--commit", default="HEAD", help="whose sources are measured")
    parser.add_argument("--repeats", type=int, default=3)
    asked = parser.parse_args()
    if asked.what == "page":
        print(page(recorded()), end="")
        return
    written = subprocess.run(
        ["git", "show", "--no-patch", "--date=format:%Y-%m-%d %H:%M", "--format=%h,%cd", asked.commit],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    commit, date = written.strip().split(",")
    measure(commit, date, asked.repeats)


if __name__ == "__main__":
    main()
