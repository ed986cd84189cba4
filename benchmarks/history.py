"""CPU time compared with scikit-learn, commit by commit: lines of the history, and the page made of all lines.

    python benchmarks/history.py measure [COMMIT ...]      # replaces benchmarks/results/history.csv
    python benchmarks/history.py page > docs/history.md    # the page, from all lines

`measure` takes the commits of the history, those named and the newest one, and measures all of them anew, so that all
lines are of one machine. The commits take turns, each in several processes of its own with its own sources. In a
process, ours and theirs take turns with BLAS at one thread. Only public names are used, so that old commits can be
measured; what a commit does not have yet is left out.
"""

import argparse
import csv
import os
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
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

ROOT = Path(__file__).parents[1]
RESULTS = Path(__file__).parent / "results" / "history.csv"
_FIELDS = ("commit", "date", "process", "measure", "ours", "theirs")
# What is quick is repeated until it took this many seconds, at most so many times.
_SECONDS, _TIMES = 1.0, 15


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


def measure_here() -> None:
    """Print the measures of the code as it is: name, our seconds, their seconds."""
    writer = csv.writer(sys.stdout, lineterminator="\n")
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, ours, theirs in pairs():
            ours(), theirs()  # compiles
            times: list[tuple[float, float]] = []
            while not times or (sum(map(sum, times)) < _SECONDS and len(times) < _TIMES):
                times.append((cpu_seconds(ours), cpu_seconds(theirs)))
            writer.writerow([name, *(f"{statistics.median(each):.4f}" for each in zip(*times, strict=True))])


def git(*arguments: str) -> str:
    return subprocess.run(["git", *arguments], capture_output=True, text=True, check=True, cwd=ROOT).stdout


def measure(commits: Sequence[str], processes: int) -> None:
    """Measure commits in turns, several times, and write the history."""
    described = {git("show", "--no-patch", "--date=format:%Y-%m-%d %H:%M", "--format=%cd,%h", each) for each in commits}
    dated = sorted(line.strip().split(",") for line in described)
    lines = []
    with tempfile.TemporaryDirectory() as folder:
        for _, commit in dated:
            archive = Path(folder) / f"{commit}.tar"
            git("archive", f"--output={archive}", f"--prefix={commit}/", commit, "src")
            subprocess.run(["tar", "-xf", archive.name], check=True, cwd=folder)
        for process in range(processes):
            for date, commit in dated:
                print(f"process {process + 1}, {commit}", file=sys.stderr)
                found = subprocess.run(
                    [sys.executable, __file__, "here"],
                    capture_output=True,
                    text=True,
                    check=True,
                    env=os.environ | {"PYTHONPATH": str(Path(folder) / commit / "src")},
                ).stdout
                lines += [(commit, date, process, *line) for line in csv.reader(found.splitlines())]
    with RESULTS.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerows([_FIELDS, *sorted(lines, key=lambda line: line[1:3])])


def recorded() -> list[dict[str, str]]:
    """Return the lines of the history, oldest first."""
    if not RESULTS.exists():
        return []
    with RESULTS.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def page(lines: Sequence[dict[str, str]]) -> str:
    """Return the page: a row per commit and a column per measure, of theirs : ours and of our own times."""
    # In the order of the newest commit, which has all measures.
    measures = list(dict.fromkeys(line["measure"] for line in lines if line["commit"] == lines[-1]["commit"]))
    commits = list(dict.fromkeys((line["date"], line["commit"]) for line in lines))
    ratios: dict[tuple[str, str], list[float]] = {}
    times: dict[tuple[str, str], list[float]] = {}
    for line in lines:
        cell = line["commit"], line["measure"]
        ratios.setdefault(cell, []).append(float(line["theirs"]) / float(line["ours"]))
        times.setdefault(cell, []).append(1000 * float(line["ours"]))
    n_processes = len({line["process"] for line in lines})
    apart = {
        measure: statistics.median(
            max(found) / min(found) - 1 for (_, name), found in ratios.items() if name == measure
        )
        for measure in measures
    }
    letters = "ABCDEFGH"[: len(measures)]
    legend = "\n".join(
        f"- {letter}: {measure}; processes differ by {apart[measure]:.0%}"
        for letter, measure in zip(letters, measures, strict=True)
    )

    def table(cells: dict[tuple[str, str], list[float]], form: str) -> str:
        rows = [
            f"| {date} | `{commit}` | "
            + " | ".join(
                f"{statistics.median(cells[commit, name]):{form}}" if (commit, name) in cells else "–"
                for name in measures
            )
            + " |"
            for date, commit in commits
        ]
        return "\n".join([f"| date | commit | {' | '.join(letters)} |", f"|---|---|{'---|' * len(measures)}", *rows])

    return f"""# History of speed

How quick some fits are, commit by commit. All commits were measured on one machine, in turns, each in {n_processes}
processes of its own; a cell is the median of these. In a process, ours and scikit-learn's took turns, with one thread.
Differences that are not well above those between processes are noise.

{legend}

## Compared with scikit-learn

Its CPU time divided by ours. Above 1 we are quicker.

{table(ratios, ".2f")}

The estimators do more than their counterparts: `SeededKMeans` respects labels, `GuidedMixture` weighs several experts,
of which the trees are one.

## Our own times

CPU time in milliseconds.

{table(times, ".3g")}

`python benchmarks/history.py measure` measures the newest commit and all of these again, `python benchmarks/history.py
page` makes this page.
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=["measure", "page", "here"])
    parser.add_argument("commits", nargs="*", help="to measure beside those of the history and the newest one")
    parser.add_argument("--processes", type=int, default=3, help="how often each commit is measured")
    asked = parser.parse_args()
    if asked.what == "page":
        print(page(recorded()), end="")
    elif asked.what == "here":
        measure_here()
    else:
        measure([*dict.fromkeys(line["commit"] for line in recorded()), *asked.commits, "HEAD"], asked.processes)


if __name__ == "__main__":
    main()
