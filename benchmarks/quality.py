"""All methods on one grid: 31 real tables × ten situations × draws. Trials, a table and a figure in benchmarks/results.

    python benchmarks/quality.py                                    run what is not stored yet, then report
    python benchmarks/quality.py --methods BayesianMixture --sets iris wine --situations 10% nothing --draws 11
    python benchmarks/quality.py --report                           no runs; table and figure from the stored trials
    python benchmarks/quality.py --further                          27 further tables, which `further_tables.py` fetches

Draws 0, 1 and 2 are for choosing defaults; draws 11 to 15 are reported. The score is the adjusted Rand index on rows
in no statement. Methods with probabilities also have, where there are labels and no links, log-loss and calibration
error on these rows, without rows of classes that have no label; a probability below 1e-6 counts as 1e-6. A method that
raises an error scores 0 there, and the report counts such trials. Trials are stored as they finish, and a run that was
stopped continues from there. The table and the figure are stored if nothing is left out by an option. `situations.py`
describes the tables and the situations, `quality_methods.py` the methods, `quality_checks.py` what is
demanded of the judged method.
"""

import argparse
import sys
import time
import warnings
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np
from joblib import Parallel, delayed
from rich.console import Console
from rich.progress import track
from sklearn.metrics import adjusted_rand_score
from threadpoolctl import threadpool_limits

from quality_methods import GUIDED, METHODS, Answer, available
from quality_report import renewed, report
from quality_summary import Grid, completed
from sidelight.reproduce.framework.experiment import ONE_CLUSTER, Experiment, Setting, Trial
from sidelight.reproduce.framework.journal import Journal, Results
from situations import FURTHER, SITUATIONS, TABLES, Problem, applies, problem

RESULTS = Path(__file__).parent / "results"
CHOOSING, REPORTED = (0, 1, 2), (11, 12, 13, 14, 15)
FLOOR = 1e-6
BINS = 15
MEASURES = (
    *("rand, unmentioned rows", "rand, all rows", "rand, still unmentioned rows", "log-loss", "calibration error"),
    *("names right", "largest class", "called new", "cover", "purity", "clusters", "gave up", "CPU seconds"),
)


# --- scores -----------------------------------------------------------------------------------------------------------


def rand_scores(problem: Problem, answer: Answer) -> dict[str, float]:
    """Return adjusted Rand indices: on unmentioned rows, on all, and on rows that more statements do not mention."""
    rows = {
        "rand, unmentioned rows": problem.unmentioned,
        "rand, all rows": np.ones(len(problem.y), dtype=bool),
        "rand, still unmentioned rows": problem.still_unmentioned,
    }
    return {name: float(adjusted_rand_score(problem.y[at], answer.labels[at])) for name, at in rows.items()}


def name_scores(problem: Problem, answer: Answer) -> dict[str, float]:
    """Return the share of right names, that of the largest class, and the share of rows called new."""
    if answer.names is None:
        return {}
    found = answer.names[answer.labels]
    rows = problem.unmentioned & np.isin(problem.y, problem.known)
    return {
        "names right": float(np.mean(found[rows] == problem.y[rows])),
        "largest class": float(np.unique(problem.y[rows], return_counts=True)[1].max() / rows.sum()),
        "called new": float(np.mean(~np.isin(found[problem.unmentioned], problem.known))),
    }


def new_class_scores(problem: Problem, answer: Answer) -> dict[str, float]:
    """Return how much of the classes without labels is in new clusters, and how pure these are.

    A new cluster is worth the rows of the class without labels that it has most of; purity is their share of all rows
    in new clusters, and not defined where there is no such row.
    """
    if answer.names is None:
        return {}
    without_label = ~np.isin(problem.y, problem.known)
    new = problem.unmentioned & ~np.isin(answer.names[answer.labels], problem.known)
    worth = 0
    for cluster in np.unique(answer.labels[new]):
        classes = problem.y[new & without_label & (answer.labels == cluster)]
        worth += max(np.unique(classes, return_counts=True)[1], default=0)
    return {
        "cover": float(np.mean(new[without_label])),
        "purity": float(worth / new.sum()) if new.any() else float("nan"),
    }


def probability_scores(problem: Problem, answer: Answer) -> dict[str, float]:
    """Return log-loss and expected calibration error, on unmentioned rows of classes with a label."""
    if answer.names is None or answer.probabilities is None:
        return {}
    rows = np.flatnonzero(problem.unmentioned & np.isin(problem.y, problem.known))
    names, at = np.unique(answer.names, return_inverse=True)
    by_name = answer.probabilities[rows] @ (at[:, None] == np.arange(len(names)))
    place = np.searchsorted(names, problem.y[rows]).clip(max=len(names) - 1)
    right = np.where(names[place] == problem.y[rows], by_name[np.arange(len(rows)), place], 0.0)
    top = by_name.argmax(axis=1)
    return {
        "log-loss": float(-np.log(right.clip(FLOOR, 1.0)).mean()),
        "calibration error": calibration_error(by_name.max(axis=1), names[top] == problem.y[rows]),
    }


def calibration_error(confidence: np.ndarray, correct: np.ndarray) -> float:
    """Return the mean distance of confidence and accuracy over equal bins of confidence, by the number of rows."""
    bins = np.minimum((confidence * BINS).astype(int), BINS - 1)
    return float(np.abs(np.bincount(bins, weights=correct - confidence, minlength=BINS)).sum() / len(confidence))


def scores(problem: Problem, situation: str, answer: Answer) -> dict[str, float]:
    """Return all measures that have a meaning in a situation."""
    wanted = SITUATIONS[situation]
    found = rand_scores(problem, answer) | {"clusters": float(len(np.unique(answer.labels)))}
    if wanted.has_labels and not wanted.has_links:
        found |= name_scores(problem, answer) | probability_scores(problem, answer)
    if wanted.third_unlabelled:
        found |= new_class_scores(problem, answer)
    return found


# --- the grid ---------------------------------------------------------------------------------------------------------


def measure(setting: Setting, method: str, seed: int) -> Mapping[str, float]:
    """Return the measures of one method on one draw; NaN where one has no meaning."""
    table, situation = map(str, setting)
    posed = problem(table, situation, seed)
    nothing = dict.fromkeys(MEASURES, float("nan"))
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        start = time.process_time()
        try:
            answer = METHODS[method].answer(posed)
            found = scores(posed, situation, answer) | {"gave up": 0.0}
        except Exception as error:  # whatever the error, the user of the method has no result
            print(f"{method}, {table}, {situation}, draw {seed}: {type(error).__name__}: {error}", file=sys.stderr)
            found = dict.fromkeys(MEASURES[:3], 0.0) | {"gave up": 1.0}
        found["CPU seconds"] = time.process_time() - start
    return nothing | found


def belongs(setting: Setting, method: str) -> bool:
    """Say whether a method is run on a setting."""
    table, situation = map(str, setting)
    return method != ONE_CLUSTER and METHODS[method].applies(SITUATIONS[situation]) and applies(table, situation)


def grid(
    sets: Sequence[str] = TABLES, situations: Sequence[str] = tuple(SITUATIONS), name: str = "quality"
) -> Experiment:
    """Return the grid as an experiment, whose trials can be stored."""
    settings = [(table, situation) for table in sets for situation in situations]
    return Experiment(
        name=name,
        title="adjusted Rand index in ten situations",
        varied=("set", "situation"),
        settings=settings,
        quick=settings[:1],
        published=tuple(METHODS),
        ours=(),
        measures=MEASURES,
        measure=measure,
        seeds=max(REPORTED) + 1,
        quick_seeds=1,
        applies=belongs,
    )


def grid_of(asked: argparse.Namespace) -> Experiment:
    """Return the grid of the tables that defaults were chosen on, or that of the further ones."""
    return grid(FURTHER, name="quality-further") if asked.further else grid()


def wanted_trials(asked: argparse.Namespace, methods: Collection[str]) -> list[Trial]:
    """Return the trials of the tables, situations and draws asked for: draw by draw, and there method by method."""
    return [
        Trial((table, situation), method, draw)
        for draw in asked.draws
        for method in METHODS
        if method in methods
        for table in asked.sets
        for situation in asked.situations
        if belongs((table, situation), method)
    ]


def judged_grid(results: Results, asked: argparse.Namespace) -> Grid:
    """Return the stored trials of all methods, as far as draws are complete, and the method to judge."""
    return completed(results, wanted_trials(asked, METHODS), asked.judged)


def timed(trial: Trial) -> tuple[Trial, Mapping[str, float]]:
    """Measure a trial in a process of its own."""
    return trial, measure(*trial)


def run(trials: Iterable[Trial], experiment: Experiment, folder: Path, jobs: int) -> None:
    """Run the trials that are not stored yet; methods that are not there are left out."""
    journal = Journal.of(experiment, folder)
    runnable = set(available())
    missing = [trial for trial in trials if trial.method in runnable and trial not in journal.results]
    tasks = (delayed(timed)(trial) for trial in missing)
    found = Parallel(n_jobs=jobs, return_as="generator_unordered", batch_size=1)(tasks)
    for trial, measured in track(found, "trials", total=len(missing), console=Console(stderr=True)):
        journal.add(trial, measured)
    # Read again: another run may have added trials of other methods.
    Journal.of(experiment, folder).sort()


def options() -> argparse.ArgumentParser:
    """Return the options of the command; the defaults are the whole grid."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=list(METHODS), metavar="METHOD")
    parser.add_argument("--further", action="store_true", help="the tables on which no default was chosen")
    parser.add_argument("--sets", nargs="+", choices=(*TABLES, *FURTHER), metavar="TABLE")
    parser.add_argument("--situations", nargs="+", choices=SITUATIONS, default=list(SITUATIONS), metavar="SITUATION")
    parser.add_argument(
        "--draws", nargs="+", type=int, choices=(*CHOOSING, *REPORTED), default=list(REPORTED), metavar="DRAW"
    )
    parser.add_argument("--jobs", type=int, default=1, help="number of processes")
    parser.add_argument("--folder", type=Path, default=RESULTS, help="where trials, table and figure are stored")
    parser.add_argument("--report", action="store_true", help="use the stored trials only")
    parser.add_argument("--page", type=Path, help="a Markdown file whose table of all methods is made anew")
    parser.add_argument("--judged", choices=METHODS, default=GUIDED, metavar="METHOD", help="compared with all others")
    return parser


def read(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Return what is asked for; without names of tables, those of the grid."""
    asked = options().parse_args(arguments)
    if asked.sets is None:
        asked.sets = list(FURTHER if asked.further else TABLES)
    return asked


def main() -> None:
    """Run and report what the options ask for."""
    asked, whole = read(None), read(["--further"] if "--further" in sys.argv else [])
    experiment = grid_of(asked)
    if not asked.report:
        run(wanted_trials(asked, asked.methods), experiment, asked.folder, asked.jobs)
    is_whole = all(getattr(asked, name) == getattr(whole, name) for name in ("sets", "situations", "draws", "judged"))
    found = judged_grid(Journal.of(experiment, asked.folder).results, asked)
    report(found, asked.folder / experiment.name if is_whole else None)
    if asked.page:
        asked.page.write_text(renewed(asked.page.read_text(encoding="utf-8"), found), encoding="utf-8")


if __name__ == "__main__":
    main()
