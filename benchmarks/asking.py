"""Questions about pairs, answered from the truth: GuidedMixture with `informative_pairs`, and COBRAS, round by round.

    python benchmarks/asking.py                                  run what is not stored yet, then report
    python benchmarks/asking.py --sets iris wine --draws 0 --methods asked
    python benchmarks/asking.py --report                         no runs; tables from the stored trials

Both find the number of clusters. After 10, 20, 35, 50, 75, 100, 150 and 200 answers the adjusted Rand index is taken,
on all rows and on those that no question was about. "asked" fits GuidedMixture (``warm_start=True``) after each of
these rounds, and the questions of a round are one batch. "asked, 15 % wrong" has every answer wrong with this
probability, and does not say so. COBRAS (Van Craenendonck et al. 2018; `pip install cobras-ts`, or the folder that
COBRAS names on the path) gets columns scaled to [0, 1] and chooses every question after the answer to the one before.
Of a table with more than 2500 rows a draw is a random part. Draws 0 and 1 are for choosing defaults; draws 11 and later
are reported.
"""

import argparse
import os
import sys
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from rich.console import Console
from rich.progress import track
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import minmax_scale
from threadpoolctl import threadpool_limits

from sidelight import GuidedMixture, SideInformation
from sidelight.asking import informative_pairs
from sidelight.reproduce.framework.experiment import ONE_CLUSTER, Experiment, Setting, Trial
from sidelight.reproduce.framework.journal import Journal, Results
from situations import part_of, read_table, standardised

RESULTS = Path(__file__).parent / "results"
CHOOSING, REPORTED = (0, 1), (11, 12, 13)
TABLES = (
    *("iris", "wine", "breast_cancer", "breast_cancer_wisconsin", "ionosphere", "sonar", "vehicle", "glass", "ecoli"),
    *("pima", "segment", "digits", "zoo", "dermatology", "thyroid", "seeds"),
)
MOST_ROWS = 2500
ANSWERS = (0, 10, 20, 35, 50, 75, 100, 150, 200)
# Where a method is compared with COBRAS, and answers within which .9 is demanded.
COMPARED = (20, 50, 100, 200)
DEMANDED = {"iris": 20, "wine": 60, "breast_cancer": 60, "ionosphere": 100}
MEASURES = (
    *(f"rand after {n}" for n in ANSWERS),
    *(f"rand of others after {n}" for n in ANSWERS),
    "clusters",
    "CPU seconds",
)
ASKED, WRONG, COBRAS = "asked", "asked, 15 % wrong", "COBRAS"


class Case(NamedTuple):
    """A table, its classes and the seed of the draw."""

    X: pd.DataFrame
    y: np.ndarray
    seed: int


def case_of(name: str, seed: int) -> Case:
    """Return a table, or a random part of a large one."""
    X, y = read_table(name)
    rows = part_of(y, MOST_ROWS, np.random.default_rng(seed))
    return Case(X.iloc[rows].reset_index(drop=True), np.unique(y[rows], return_inverse=True)[1], seed)


class Outcome(NamedTuple):
    """The clusters after some answers, and which rows questions have been about."""

    labels: np.ndarray
    asked: np.ndarray


# --- methods ----------------------------------------------------------------------------------------------------------


def asked(case: Case, wrong: float = 0.0) -> dict[int, Outcome]:
    """Ask, answer and fit, round after round."""
    n, random = len(case.y), np.random.default_rng(case.seed)
    side, Z = SideInformation.build(n), standardised(case.X)
    model = GuidedMixture(random_state=case.seed, warm_start=True).fit(case.X)
    outcomes = {0: Outcome(model.labels_, side.mentioned)}
    for before, after in pairwise(ANSWERS):
        state = case.seed + before
        pairs = informative_pairs(model.posterior_, side, X=Z, n_pairs=after - before, random_state=state).pairs
        same = (case.y[pairs[:, 0]] == case.y[pairs[:, 1]]) ^ (random.random(len(pairs)) < wrong)
        side = side | SideInformation.build(n, must_link=pairs[same], cannot_link=pairs[~same])
        model.fit(case.X, side=side)
        outcomes[after] = Outcome(model.labels_.copy(), side.mentioned)
    return outcomes


class Answers:
    """Answers the questions of COBRAS, and notes which rows they were about."""

    def __init__(self, y: np.ndarray) -> None:
        self.y, self.pairs = y, []

    def query_points(self, first: int, second: int) -> bool:
        """Say whether two rows are of one class."""
        self.pairs.append((first, second))
        return bool(self.y[first] == self.y[second])

    def continue_cluster_process(self) -> bool:
        """Go on."""
        return True

    def update_clustering(self, clustering: object) -> None:
        """Do nothing."""


def cobras(case: Case) -> dict[int, Outcome]:
    """Run COBRAS of its authors."""
    if "COBRAS" in os.environ and os.environ["COBRAS"] not in sys.path:
        sys.path.insert(0, os.environ["COBRAS"])
    setattr(np, "int", int)  # noqa: B010 (as NumPy called it when COBRAS was written)
    from cobras_ts.cobras_kmeans import COBRAS_kmeans

    numbers = pd.get_dummies(case.X, dtype=float).astype(float)
    answers = Answers(case.y)
    np.random.seed(case.seed)  # noqa: NPY002 (COBRAS knows no other source of randomness)
    found = COBRAS_kmeans(minmax_scale(numbers.fillna(numbers.mean())), answers, max(ANSWERS)).cluster()[1]
    outcomes = {0: Outcome(np.zeros(len(case.y)), np.zeros(len(case.y), dtype=bool))}
    for n in ANSWERS[1:]:
        mentioned = np.zeros(len(case.y), dtype=bool)
        mentioned[np.array(answers.pairs[:n]).ravel()] = True
        outcomes[n] = Outcome(np.asarray(found[min(n, len(found)) - 1]), mentioned)
    return outcomes


METHODS: dict[str, Callable[[Case], dict[int, Outcome]]] = {
    COBRAS: cobras,
    ASKED: asked,
    WRONG: partial(asked, wrong=0.15),
}


# --- trials -----------------------------------------------------------------------------------------------------------


def measure(setting: Setting, method: str, seed: int) -> Mapping[str, float]:
    """Return the scores of one method on one draw, after every round."""
    case = case_of(str(setting[0]), seed)
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        start = time.process_time()
        outcomes = METHODS[method](case)
        seconds = time.process_time() - start
    found = {"CPU seconds": seconds, "clusters": float(len(np.unique(outcomes[max(ANSWERS)].labels)))}
    for n, outcome in outcomes.items():
        others = ~outcome.asked
        found[f"rand after {n}"] = float(adjusted_rand_score(case.y, outcome.labels))
        found[f"rand of others after {n}"] = float(adjusted_rand_score(case.y[others], outcome.labels[others]))
    return found


def experiment() -> Experiment:
    """Return the grid as an experiment, whose trials can be stored."""
    settings = [(table,) for table in TABLES]
    return Experiment(
        name="asking",
        title="adjusted Rand index by answers",
        varied=("set",),
        settings=settings,
        quick=settings[:1],
        published=tuple(METHODS),
        ours=(),
        measures=MEASURES,
        measure=measure,
        seeds=max(REPORTED) + 1,
        quick_seeds=1,
        applies=lambda setting, method: method != ONE_CLUSTER,
    )


def timed(trial: Trial) -> tuple[Trial, Mapping[str, float]]:
    """Measure a trial in a process of its own."""
    return trial, measure(*trial)


def run(trials: Sequence[Trial], folder: Path, jobs: int) -> None:
    """Run the trials that are not stored yet."""
    journal = Journal.of(experiment(), folder)
    missing = [trial for trial in trials if trial not in journal.results]
    tasks = (delayed(timed)(trial) for trial in missing)
    found = Parallel(n_jobs=jobs, return_as="generator_unordered", batch_size=1)(tasks)
    for trial, measured in track(found, "trials", total=len(missing), console=Console(stderr=True)):
        journal.add(trial, measured)
    Journal.of(experiment(), folder).sort()


# --- report -----------------------------------------------------------------------------------------------------------


def curves(results: Results, trials: Sequence[Trial], name: str) -> dict[tuple[str, str], np.ndarray]:
    """Return the scores (draws, rounds) of every table and method."""
    found: dict[tuple[str, str], list[list[float]]] = {}
    for trial in trials:
        if trial in results:
            row = [results[trial][f"{name} {n}"] for n in ANSWERS]
            found.setdefault((str(trial.setting[0]), trial.method), []).append(row)
    return {key: np.array(rows) for key, rows in found.items()}


def spread(values: np.ndarray) -> str:
    """Return mean and standard error."""
    error = values.std(ddof=1) / np.sqrt(len(values)) if len(values) > 1 else float("nan")
    return f"{values.mean():.3f}±{error:.3f}"


def report(results: Results, trials: Sequence[Trial]) -> None:
    """Print every curve, the means over tables, and what is demanded."""
    console = Console(width=200)
    methods = list(dict.fromkeys(trial.method for trial in trials))
    for name in ("rand after", "rand of others after"):
        found = curves(results, trials, name)
        console.print(f"\n{name} {ANSWERS} answers")
        for (table, method), rows in found.items():
            cells = "  ".join(spread(rows[:, place]) for place in range(len(ANSWERS)))
            console.print(f"{table:24}{method:18} {cells}", highlight=False)
        for method in methods:
            rows = np.array([values.mean(axis=0) for (_, own), values in found.items() if own == method])
            if len(rows):
                cells = "  ".join(spread(rows[:, place]) for place in range(len(ANSWERS)))
                console.print(f"{'mean over tables':24}{method:18} {cells}", highlight=False)
    check(curves(results, trials, "rand after"), console)


def check(found: dict[tuple[str, str], np.ndarray], console: Console) -> None:
    """Print what is demanded: ahead of COBRAS, never worse than before the first answer, .9 early, wrong answers."""
    means = {key: rows.mean(axis=0) for key, rows in found.items()}
    tables = [table for table, method in means if method == ASKED]
    at = {n: place for place, n in enumerate(ANSWERS)}
    both = [table for table in tables if (table, COBRAS) in means]
    lead = {(t, n): means[t, ASKED][at[n]] - means[t, COBRAS][at[n]] for t in both for n in COMPARED}
    if lead:
        ahead = np.mean([by > 0 for by in lead.values()])
        console.print(f"\nahead of COBRAS in {ahead:.0%} of {len(lead)} cells")
        console.print(
            f"behind by more than .05: {[f'{t} {n}: {by:+.3f}' for (t, n), by in lead.items() if by < -0.05]}"
        )
    worse = [f"{t} {means[t, ASKED][at[100]] - means[t, ASKED][0]:+.3f}" for t in tables]
    fallen = [
        cell for cell, t in zip(worse, tables, strict=True) if means[t, ASKED][at[100]] < means[t, ASKED][0] - 0.01
    ]
    console.print(f"lower after 100 answers than before the first, by more than .01: {fallen}")
    if tables:
        course = np.mean([means[t, ASKED] for t in tables], axis=0)
        console.print(f"mean over tables rises with every round: {bool((np.diff(course) > 0).all())}")
    for table, n in DEMANDED.items():
        if table in tables:
            place = max(p for number, p in at.items() if number <= n)
            console.print(f"{table}: {means[table, ASKED][place]:.3f} after {ANSWERS[place]} answers (.9 within {n})")
    noisy = [table for table in tables if (table, WRONG) in means]
    if noisy:
        kept = np.mean([means[t, WRONG] for t in noisy], axis=0) / np.mean([means[t, ASKED] for t in noisy], axis=0)
        shares = ", ".join(f"{n}: {share:.0%}" for n, share in zip(ANSWERS, kept, strict=True))
        console.print(f"with 15 % wrong answers, of the score with right ones: {shares}")


def main() -> None:
    """Run and report what the options ask for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=list(METHODS), metavar="METHOD")
    parser.add_argument("--sets", nargs="+", choices=TABLES, default=list(TABLES), metavar="TABLE")
    parser.add_argument("--draws", nargs="+", type=int, choices=(*CHOOSING, *REPORTED), default=list(REPORTED))
    parser.add_argument("--jobs", type=int, default=1, help="number of processes")
    parser.add_argument("--folder", type=Path, default=RESULTS, help="where trials are stored")
    parser.add_argument("--report", action="store_true", help="use the stored trials only")
    wanted = parser.parse_args()
    trials = [
        Trial((table,), method, draw)
        for draw in wanted.draws
        for method in METHODS
        if method in wanted.methods
        for table in wanted.sets
    ]
    if not wanted.report:
        run(trials, wanted.folder, wanted.jobs)
    report(Journal.of(experiment(), wanted.folder).results, trials)


if __name__ == "__main__":
    main()
