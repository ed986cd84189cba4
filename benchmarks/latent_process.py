"""Latent process decomposition: the cost of a pass, and tables 2 and 3 of Li, Ying and Campbell.

Run ``python benchmarks/latent_process.py pass`` for CPU and memory, or ``tables --data FOLDER`` for the tables; of the
six data sets, iris and wine come with scikit-learn, and FOLDER holds the others as ``NAME.csv.gz`` with the class in
the last column, ``target``. ``leukemia`` is tested on other classes than it is trained on, as the paper's text has it,
``leukemia-folds`` on the same, as the caption of its table has it.
"""

import argparse
import resource
import time
import tracemalloc
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.special import digamma
from sklearn.datasets import load_iris, load_wine
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import pairwise_distances_argmin, pairwise_distances_argmin_min
from sklearn.model_selection import KFold
from sklearn.preprocessing import StandardScaler

from sidelight.admixture.ascent import ProcessesOnData
from sidelight.admixture.cells import accumulate, accumulate_for
from sidelight.admixture.model import Parameters, State
from sidelight.admixture.scaling import survey_observed
from sidelight.admixture.starts import kmeans_centres
from sidelight.admixture.updates import Flat
from sidelight.estimators.latent_process import LatentProcessDecomposition
from sidelight.inference.rows import Rows
from sidelight.inference.threads import one_blas_thread
from sidelight.metrics import balanced_rand_score

FRACTIONS = (0.0, 0.25, 0.5)
PAPER = {
    "iris": (0.872, 0.910, 0.920),
    "wine": (0.930, 0.926, 0.935),
    "letter": (0.519, 0.521, 0.527),
    "digits": (0.736, 0.747, 0.755),
    "lung": (0.660, 0.665, 0.670),
    "leukemia": (0.838, 0.846, 0.851),
    "leukemia-folds": (0.838, 0.846, 0.851),
}
PAPER_KMEANS = {
    "iris": (0.824, 0.825, 0.828),
    "wine": (0.877, 0.885, 0.893),
    "letter": (0.501, 0.502, 0.501),
    "digits": (0.751, 0.758, 0.772),
    "lung": (0.578, 0.583, 0.599),
    "leukemia": (0.786, 0.782, 0.798),
    "leukemia-folds": (0.786, 0.782, 0.798),
}


# Fewer rows than attributes: a prior on the variances, where the paper reports maximum likelihood.
SHRUNK = {"lung", "leukemia", "leukemia-folds"}


# --- one pass ---------------------------------------------------------------------------------------------------------


def plain_pass(X: np.ndarray, alpha: np.ndarray, means: np.ndarray, variances: np.ndarray, gamma: np.ndarray) -> tuple:
    """E and M with the whole array Q (n, d, K), as the equations read."""
    expected = digamma(gamma) - digamma(gamma.sum(axis=1, keepdims=True))
    x = X[:, :, None]
    scores = -0.5 * np.log(2 * np.pi * variances.T) - 0.5 * (x - means.T) ** 2 / variances.T + expected[:, None, :]
    top = scores.max(axis=2, keepdims=True)
    q = np.exp(scores - top)
    total = q.sum(axis=2, keepdims=True)
    q /= total
    evidence = (np.log(total) + top).sum()
    mass = q.sum(axis=0)
    new_means = (q * x).sum(axis=0) / mass
    new_variances = (q * (x - new_means) ** 2).sum(axis=0) / mass
    return alpha + q.sum(axis=1), new_means.T, new_variances.T, evidence


def problem(n: int, d: int, n_processes: int) -> tuple[np.ndarray, State]:
    """Make a table and a state to pass from."""
    random = np.random.RandomState(0)
    X = random.standard_normal((n, d))
    parameters = Parameters(
        np.ones(n_processes), random.standard_normal((n_processes, d)), random.uniform(0.5, 2, (n_processes, d))
    )
    return X, State(parameters, random.uniform(0.1, 50, (n, n_processes)))


def on_data(X: np.ndarray, form: Callable) -> ProcessesOnData:
    """Assemble the engine on a table."""
    rows = Rows(X)
    return ProcessesOnData(rows, np.arange(len(X)), survey_observed(rows), Flat(1e-4, float(len(X))), form)


def cpu(run: Callable[[], object], repeats: int = 5) -> float:
    """Return the least CPU seconds of several runs, after one to warm up."""
    run()
    times = []
    for _ in range(repeats):
        start = time.process_time()
        run()
        times.append(time.process_time() - start)
    return min(times)


def measure_pass(n: int, d: int, n_processes: int, n_plain: int) -> None:
    """Print the memory of a pass over all rows; and CPU, plain and in blocks, on the same few."""
    X, state = problem(n, d, n_processes)
    model = on_data(X, accumulate_for(10**12))
    on_data(X[:100], model.accumulate).step(State(state.parameters, state.gamma[:100]))  # loads the compiled form
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    tracemalloc.start()
    start = time.process_time()
    model.step(state)
    seconds = time.process_time() - start
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    print(
        f"{n} × {d}, {n_processes} processes ({X.nbytes / 1e6:.0f} MB of data): {seconds:.2f} s CPU, "
        f"{peak / 1e6:.0f} MB beyond the data at the peak (resident set grew by {grown / 1e3:.0f} MB)"
    )
    X, state = problem(n_plain, d, n_processes)
    plain = cpu(lambda: plain_pass(X, *state.parameters, state.gamma))
    print(f"{n_plain} × {d}, {n_processes} processes, one E + M pass, CPU seconds:")
    print(f"  plain arrays          {plain:7.3f}")
    for name, form in (("NumPy", accumulate), ("compiled", accumulate_for(10**12))):
        model = on_data(X, form)
        blocks = cpu(lambda model=model: model.step(state))
        print(f"  blocks, {name:<12}  {blocks:7.3f}   {plain / blocks:.1f}× less")


# --- tables 2 and 3 ---------------------------------------------------------------------------------------------------


class Split(NamedTuple):
    """Rows to train and to test on, and the number of clusters to look for."""

    X: np.ndarray
    y: np.ndarray
    train: np.ndarray
    test: np.ndarray
    n_clusters: int


def read(folder: Path, name: str) -> tuple[np.ndarray, np.ndarray]:
    """Read a table and its classes."""
    table = pd.read_csv(folder / f"{name}.csv.gz", dtype={"target": str})
    return table.drop(columns="target").to_numpy(float), np.unique(table["target"], return_inverse=True)[1]


def classes(X: np.ndarray, y: np.ndarray, kept: list[int]) -> tuple[np.ndarray, np.ndarray]:
    """Keep some classes."""
    chosen = np.isin(y, kept)
    return X[chosen], y[chosen]


def widest(X: np.ndarray, d: int = 500) -> np.ndarray:
    """Keep the columns of largest variance."""
    return X[:, np.sort(np.argsort(-X.var(axis=0))[:d])]


def three_folds(X: np.ndarray, y: np.ndarray, random: np.random.RandomState, n: int | None = None) -> list[Split]:
    """Split rows (n of them, drawn anew, where given) into three folds, each the test set once."""
    if n is not None:
        drawn = random.permutation(len(X))[:n]
        X, y = X[drawn], y[drawn]
    n_clusters = len(np.unique(y))
    return [Split(X, y, *fold, n_clusters) for fold in KFold(3, shuffle=True, random_state=random).split(X)]


def balanced(X: np.ndarray, y: np.ndarray, random: np.random.RandomState) -> tuple[np.ndarray, np.ndarray]:
    """Draw 15 rows of each of six classes."""
    rows = np.concatenate([random.permutation(np.flatnonzero(y == c))[:15] for c in range(6)])
    return X[rows], y[rows]


def other_classes(X: np.ndarray, y: np.ndarray, random: np.random.RandomState) -> list[Split]:
    """Train on three classes, test on the other three."""
    trained = np.isin(y, random.permutation(6)[:3])
    return [Split(X, y, np.flatnonzero(trained), np.flatnonzero(~trained), 3)]


def splits_of(name: str, folder: Path | None, raw: bool) -> Callable[[np.random.RandomState], list[Split]]:
    """Return what draws the splits of a data set."""
    if name in ("iris", "wine"):
        X, y = (load_iris if name == "iris" else load_wine)(return_X_y=True)
        return lambda random: three_folds(X, y, random)
    if folder is None:
        raise SystemExit(f"{name} needs --data")
    if name == "letter":
        X, y = classes(*read(folder, "letter"), [8, 9])
        return lambda random: three_folds(X, y, random, 150)
    if name == "digits":
        X, y = classes(*read(folder, "pendigits"), [3, 6, 8])
        return lambda random: three_folds(X, y, random, 174)
    X, y = read(folder, "lung_bhattacharjee" if name == "lung" else "leukemia_yeoh")
    X = widest(X) if raw else np.log2(widest(X))
    if name == "lung":
        return lambda random: three_folds(X, y, random)
    split = other_classes if name == "leukemia" else three_folds
    return lambda random: split(*balanced(X, y, random), random)


def lpd_score(split: Split, known: np.ndarray, seed: int, prior: str) -> float:
    """Fit on the training rows and score the test rows."""
    model = LatentProcessDecomposition(split.n_clusters, prior=prior, random_state=seed)
    model.fit(split.X[split.train], known)
    return balanced_rand_score(split.y[split.test], model.predict(split.X[split.test]))


def kmeans_score(split: Split, known: np.ndarray, seed: int) -> float:
    """Do the same by k-means in standard deviations, labels kept: the best of ten starts, the first from the labels."""
    scaler = StandardScaler().fit(split.X[split.train])
    train, test = scaler.transform(split.X[split.train]), scaler.transform(split.X[split.test])
    codes = np.full(len(known), -1)
    codes[known >= 0] = np.unique(known[known >= 0], return_inverse=True)[1]
    random = np.random.RandomState(seed)
    found = []
    for start in range(10):
        centres = kmeans_centres(train, codes, split.n_clusters, random, guided=start == 0)
        free = pairwise_distances_argmin_min(train[codes < 0], centres)[1] if (codes < 0).any() else np.zeros(1)
        kept = np.linalg.norm(train[codes >= 0] - centres[codes[codes >= 0]], axis=1)
        found.append((float(np.square(free).sum() + np.square(kept).sum()), start, centres))
    return balanced_rand_score(split.y[split.test], pairwise_distances_argmin(test, min(found)[2]))


def measure_table(name: str, folder: Path | None, n_trials: int, *, ml: bool, raw: bool) -> None:
    """Print the balanced Rand index of held-out rows at each fraction of labelled training rows."""
    draw = splits_of(name, folder, raw)
    prior = "map" if name in SHRUNK and not ml else "ml"
    scores = np.zeros((2, len(FRACTIONS), n_trials))
    for trial in range(n_trials):
        random = np.random.RandomState(trial)
        splits = draw(random)
        for split in splits:
            order = random.permutation(len(split.train))
            for column, fraction in enumerate(FRACTIONS):
                known = np.full(len(split.train), -1)
                told = order[: round(fraction * len(split.train))]
                known[told] = split.y[split.train][told]
                scores[0, column, trial] += lpd_score(split, known, trial, prior) / len(splits)
                scores[1, column, trial] += kmeans_score(split, known, trial) / len(splits)
    for label, values, printed in (
        (f"LPD, {prior}", scores[0], PAPER[name]),
        ("k-means", scores[1], PAPER_KMEANS[name]),
    ):
        cells = " | ".join(
            f"{v.mean():.3f} ± {v.std(ddof=min(1, n_trials - 1)):.3f} ({p:.3f}, {v.mean() - p:+.3f})"
            for v, p in zip(values, printed, strict=True)
        )
        print(f"| {name} | {label} | {cells} |", flush=True)


def measure_tables(names: list[str], folder: Path | None, n_trials: int, *, ml: bool, raw: bool) -> None:
    """Print the tables as Markdown."""
    warnings.simplefilter("ignore", ConvergenceWarning)
    print(f"Balanced Rand index of held-out rows, mean ± sd over {n_trials} trials (paper, difference)")
    print("| data | method | 0 % | 25 % | 50 % |\n|---|---|---|---|---|")
    for name in names:
        measure_table(name, folder, n_trials, ml=ml, raw=raw)


def main() -> None:
    """Read the command line and run the part it names."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parts = parser.add_subparsers(dest="part", required=True)
    one_pass = parts.add_parser("pass", help="CPU and memory of one E + M pass")
    one_pass.add_argument("--shape", type=int, nargs=3, default=(20_000, 500, 20), metavar=("N", "D", "K"))
    one_pass.add_argument("--plain-rows", type=int, default=2000, help="rows for the plain arrays")
    tables = parts.add_parser("tables", help="tables 2 and 3: balanced Rand index of held-out rows")
    tables.add_argument("--data", type=Path, help="folder with the data sets that scikit-learn lacks")
    tables.add_argument("--sets", nargs="+", default=["iris", "wine"], choices=list(PAPER))
    tables.add_argument("--trials", type=int, default=20)
    tables.add_argument("--ml", action="store_true", help="maximum likelihood for lung and leukemia too")
    tables.add_argument("--raw", action="store_true", help="intensities of lung and leukemia as they are, not logged")
    arguments = parser.parse_args()
    with one_blas_thread():
        if arguments.part == "pass":
            measure_pass(*arguments.shape, arguments.plain_rows)
        else:
            measure_tables(arguments.sets, arguments.data, arguments.trials, ml=arguments.ml, raw=arguments.raw)


if __name__ == "__main__":
    main()
