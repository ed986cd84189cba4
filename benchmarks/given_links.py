"""Many random links, by the protocol of Baumann and Hochbaum (INFORMS Journal on Computing, 2024).

    python benchmarks/given_links.py                                run what is not stored yet, then report
    python benchmarks/given_links.py --methods GuidedMixture --sets iris wine --percent 5 --draws 0
    python benchmarks/given_links.py --report                       no runs; tables from the stored trials

At k % there are (kn)(kn − 1)/2 links between random pairs of the n rows, with their true relation. Of a table with
more than 1000 rows a draw is a random part. Scores are adjusted Rand indices, on all rows, as the authors have it, and
on the rows in no link; where fewer than 20 rows are in no link, the latter has no meaning. At 10 % nearly every row is
in a link, and scores on all rows say how well links are obeyed rather than what is learned from them.

GuidedMixture and EquivalenceMixture find the number of classes where their name does not say otherwise; COPKMeans and
KMeans, which sees no link, receive it. Draws 0 and 1 are for choosing defaults; draws 11 and later are reported. Trials
are stored as they finish in benchmarks/results, and a run that was stopped continues from there.
"""

import argparse
import sys
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

import numpy as np
from joblib import Parallel, delayed
from rich.console import Console
from rich.progress import track
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score
from threadpoolctl import threadpool_limits

import sidelight as sl
from sidelight.reproduce.framework.experiment import ONE_CLUSTER, Experiment, Setting, Trial
from sidelight.reproduce.framework.journal import Journal, Results
from sidelight.side import draw_links
from situations import components, drawn

RESULTS = Path(__file__).parent / "results"
CHOOSING, REPORTED = (0, 1), (11, 12, 13)
PERCENT = (5, 10, 15)
TABLES = (
    *("iris", "wine", "glass", "ecoli", "yeast", "ionosphere", "liver", "pima", "breast_cancer_wisconsin"),
    *("breast_cancer", "sonar", "vehicle", "segment", "satimage", "zoo", "dermatology", "thyroid", "haberman"),
    *("letter", "coil20", "digits"),
)
# Tables with ten classes or more.
MANY_CLASSES = ("yeast", "letter", "coil20", "digits")
MEASURES = ("rand, all rows", "rand, rows in no link", "rows in no link", "clusters", "gave up", "CPU seconds")
LEAST_ROWS = 20
PLAIN, RECOMMENDED, RIVAL = "KMeans", "GuidedMixture", "COPKMeans"


# --- methods ----------------------------------------------------------------------------------------------------------


class Case:
    """A table with links: as it is and standardised, the links, the true classes and the seed."""

    def __init__(self, table: str, percent: int, seed: int) -> None:
        draw = drawn(table, seed)
        # The authors take 15 principal components of COIL-20.
        self.Z = components(draw.Z, number=15, above=100)
        self.X = draw.X if self.Z is draw.Z else self.Z
        self.y, self.seed = draw.y, seed
        few = percent / 100 * len(self.y)
        number = min(round(few * (few - 1) / 2), len(self.y) * (len(self.y) - 1) // 2)
        links = draw_links(self.y, number, random_state=1000 * percent + seed)
        self.links = {"must_link": links.must_link, "cannot_link": links.cannot_link}
        self.unlinked = np.ones(len(self.y), dtype=bool)
        self.unlinked[np.concatenate(list(self.links.values())).ravel()] = False
        self.n_classes = len(set(self.y))


def guided(case: Case, *, number_known: bool) -> np.ndarray:
    """Fit GuidedMixture to the table as it is."""
    model = sl.GuidedMixture(case.n_classes if number_known else None, random_state=case.seed)
    return model.fit(case.X, **case.links).labels_


def equivalence(case: Case, *, number_known: bool) -> np.ndarray:
    """Fit EquivalenceMixture to standardised columns, or to principal components of more than 40."""
    model = sl.EquivalenceMixture(case.n_classes if number_known else None, random_state=case.seed)
    return model.fit(components(case.Z, number=15, above=40), **case.links).labels_


def cop_kmeans(case: Case) -> np.ndarray:
    """Fit COPKMeans to standardised columns."""
    return sl.COPKMeans(case.n_classes, random_state=case.seed).fit(case.Z, **case.links).labels_


def kmeans(case: Case) -> np.ndarray:
    """Fit k-means of scikit-learn without the links."""
    return KMeans(case.n_classes, n_init=10, random_state=case.seed).fit_predict(case.Z)


METHODS: dict[str, Callable[[Case], np.ndarray]] = {
    PLAIN: kmeans,
    RIVAL: cop_kmeans,
    "EquivalenceMixture": partial(equivalence, number_known=False),
    "EquivalenceMixture, number known": partial(equivalence, number_known=True),
    RECOMMENDED: partial(guided, number_known=False),
    "GuidedMixture, number known": partial(guided, number_known=True),
}
OURS = tuple(name for name in METHODS if name not in (PLAIN, RIVAL))


# --- trials -----------------------------------------------------------------------------------------------------------


def measure(setting: Setting, method: str, seed: int) -> Mapping[str, float]:
    """Return the scores of one method on one draw."""
    case = Case(str(setting[0]), int(setting[1]), seed)
    found: dict[str, float] = dict.fromkeys(MEASURES, 0.0) | {"rows in no link": float(case.unlinked.sum())}
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        start = time.process_time()
        try:
            labels = METHODS[method](case)
        except Exception as error:  # whatever the error, the user of the method has no result
            print(f"{method}, {setting}, draw {seed}: {type(error).__name__}: {error}", file=sys.stderr)
            found["gave up"] = 1.0
            labels = np.zeros(len(case.y))
        found["CPU seconds"] = time.process_time() - start
    found["rand, all rows"] = float(adjusted_rand_score(case.y, labels))
    rows = case.unlinked
    enough = rows.sum() >= LEAST_ROWS
    found["rand, rows in no link"] = float(adjusted_rand_score(case.y[rows], labels[rows])) if enough else float("nan")
    found["clusters"] = float(len(np.unique(labels)))
    return found


def experiment() -> Experiment:
    """Return the grid as an experiment, whose trials can be stored."""
    settings = [(table, percent) for table in TABLES for percent in PERCENT]
    return Experiment(
        name="given-links",
        title="adjusted Rand index with many links",
        varied=("set", "percent"),
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


Cells = dict[tuple[Setting, str], np.ndarray]


def cells_of(results: Results, trials: Sequence[Trial], name: str) -> Cells:
    """Return one measure of every setting and method, over the draws that all asked methods have."""
    methods = {trial.method for trial in trials}
    found: dict[tuple[Setting, str], dict[int, float]] = {}
    for trial in trials:
        if trial in results:
            found.setdefault((trial.setting, trial.method), {})[trial.seed] = results[trial][name]
    cells = {}
    for setting in dict.fromkeys(trial.setting for trial in trials):
        seeds = set.intersection(*(set(found.get((setting, method), {})) for method in methods))
        for method in methods:
            if seeds:
                cells[setting, method] = np.array([found[setting, method][seed] for seed in sorted(seeds)])
    return cells


def spread(values: np.ndarray) -> str:
    """Return mean and standard error."""
    values = values[np.isfinite(values)]
    if not len(values):
        return "–"
    error = values.std(ddof=1) / np.sqrt(len(values)) if len(values) > 1 else float("nan")
    return f"{values.mean():.3f} ± {error:.3f}"


def report(results: Results, trials: Sequence[Trial]) -> None:
    """Print every cell, means over tables, and how the recommended estimator stands."""
    console = Console(width=200)
    methods = list(dict.fromkeys(trial.method for trial in trials))
    for name in MEASURES[:2]:
        cells = cells_of(results, trials, name)
        console.print(f"\n{name}: " + "; ".join(methods))
        settings = list(dict.fromkeys(setting for setting, _ in cells))
        for setting in settings:
            row = "  ".join(f"{spread(cells[setting, method]):>14}" for method in methods)
            console.print(f"{setting[0]:25}{setting[1]:>3} %  {row}", highlight=False)
        for percent in PERCENT:
            chosen = [setting for setting in settings if setting[1] == percent]
            if chosen:
                means = [[np.nanmean(cells[setting, method]) for setting in chosen] for method in methods]
                row = "  ".join(f"{spread(np.array(values)):>14}" for values in means)
                console.print(f"{'mean over tables':25}{percent:>3} %  {row}", highlight=False)
    check(cells_of(results, trials, MEASURES[0]), console)


def check(cells: Cells, console: Console) -> None:
    """Print what is demanded: lead over COPKMeans, the recommended one beside the best, never below k-means."""
    mean = {key: float(values.mean()) for key, values in cells.items()}
    settings = list(dict.fromkeys(setting for setting, _ in cells))
    present = {method for _, method in cells}
    ours = [method for method in OURS if method in present]
    if not settings or not ours:
        return
    best = {setting: max(mean[setting, method] for method in ours) for setting in settings}
    if RIVAL in present:
        lead = np.array([best[setting] - mean[setting, RIVAL] for setting in settings])
        console.print(f"\nbest of ours ahead of {RIVAL} (or equal) in {np.mean(lead >= 0):.0%} of {len(lead)} cells")
        behind = [f"{s[0]} {s[1]} % {by:+.3f}" for s, by in zip(settings, lead, strict=True) if by < -0.05]
        console.print(f"behind by more than .05: {behind}")
    if RECOMMENDED in present:
        overall = {s: max(best[s], mean.get((s, RIVAL), -1.0)) for s in settings}
        near = [mean[setting, RECOMMENDED] >= overall[setting] - 0.03 for setting in settings]
        console.print(f"{RECOMMENDED} within .03 of the best of all of ours in {np.mean(near):.0%} of cells")
        far = [
            f"{s[0]} {s[1]} % {mean[s, RECOMMENDED] - overall[s]:+.3f}"
            for s, n in zip(settings, near, strict=True)
            if not n
        ]
        console.print(f"further away: {far}")
    if RECOMMENDED in present and PLAIN in present:
        below = [f"{s[0]} {s[1]} %" for s in settings if s[0] in MANY_CLASSES and mean[s, RECOMMENDED] < mean[s, PLAIN]]
        console.print(f"ten or more classes and below {PLAIN}: {below}")


def main() -> None:
    """Run and report what the options ask for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=list(METHODS), metavar="METHOD")
    parser.add_argument("--sets", nargs="+", choices=TABLES, default=list(TABLES), metavar="TABLE")
    parser.add_argument("--percent", nargs="+", type=int, choices=PERCENT, default=list(PERCENT))
    parser.add_argument("--draws", nargs="+", type=int, choices=(*CHOOSING, *REPORTED), default=list(REPORTED))
    parser.add_argument("--jobs", type=int, default=1, help="number of processes")
    parser.add_argument("--folder", type=Path, default=RESULTS, help="where trials are stored")
    parser.add_argument("--report", action="store_true", help="use the stored trials only")
    asked = parser.parse_args()
    trials = [
        Trial((table, percent), method, draw)
        for draw in asked.draws
        for method in METHODS
        if method in asked.methods
        for table in asked.sets
        for percent in asked.percent
    ]
    if not asked.report:
        run(trials, asked.folder, asked.jobs)
    report(Journal.of(experiment(), asked.folder).results, trials)


if __name__ == "__main__":
    main()
