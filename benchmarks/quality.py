"""All estimators and their peers on one grid: real tables × labels or links × draws, with mean ranks and a figure.

    python benchmarks/quality.py labels            fractions of the rows labelled
    python benchmarks/quality.py links             random pairs with their true relation
    python benchmarks/quality.py labels --report   no runs; table and figure from the stored trials

Scores are adjusted Rand indices on rows without side information. Tables are standardised for all methods; digits are
600 images in 15 principal components. Methods that need a number of clusters get the true one; BayesianMixture and
ClassMixture find it. A method that raises an error on a draw scores 0 there, and the table counts such draws. Trials
are stored in benchmarks/results as they finish, and a run that was stopped continues from there. Peers are not
dependencies: ``pip install --no-deps active-semi-supervised-clustering metric-learn`` and ``pip install pomegranate``
install them; methods of a missing peer are left out. Metrics of metric-learn 0.7 fail with scikit-learn 1.9.
"""

import argparse
import warnings
from collections.abc import Callable, Mapping
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from joblib import Parallel, delayed
from rich.console import Console
from rich.progress import track
from scipy.stats import rankdata
from sklearn.cluster import KMeans
from sklearn.decomposition import PCA
from sklearn.metrics import adjusted_rand_score
from sklearn.mixture import BayesianGaussianMixture, GaussianMixture
from sklearn.preprocessing import StandardScaler
from sklearn.semi_supervised import LabelSpreading, SelfTrainingClassifier
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits

import sidelight as sl
from sidelight.datasets import load
from sidelight.reproduce.framework.experiment import Experiment, Setting, Summary, Trial
from sidelight.reproduce.framework.journal import Journal
from sidelight.reproduce.framework.running import summarise
from sidelight.side import SideInformation, draw_labels, draw_links

RESULTS = Path(__file__).parent / "results"
SETS = ("iris", "wine", "glass", "ecoli", "thyroid", "breast_cancer_wisconsin", "digits")
LABELS = (0.05, 0.1, 0.2)
LINKS = (0.25, 0.5, 1.0)  # per row
DRAWS = 5
ACTIVE, POMEGRANATE = PEERS = ("active-semi-supervised-clustering", "pomegranate")
MODULES = {ACTIVE: "active_semi_clustering.semi_supervised", POMEGRANATE: "pomegranate.gmm"}


class Problem(NamedTuple):
    """A table, its classes, side information, and a seed."""

    X: np.ndarray
    y: np.ndarray
    side: SideInformation
    seed: int

    @property
    def n_classes(self) -> int:
        """The true number of classes."""
        return int(self.y.max()) + 1


Method = Callable[[Problem], np.ndarray]


def table(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return a table, standardised, and its classes as numbers."""
    X, y, _ = load(name)
    values, codes = np.asarray(X, dtype=float), np.unique(y, return_inverse=True)[1]
    if name == "digits":
        rows = np.random.default_rng(0).permutation(len(codes))[:600]
        return PCA(15, random_state=0).fit_transform(values[rows]), codes[rows]
    return StandardScaler().fit_transform(values), codes


def labelled(name: str, fraction: float, seed: int) -> Problem:
    """Draw labels in proportion to the classes, at least one of each class."""
    X, y = table(name)
    known = draw_labels(y, fraction=fraction, stratify=True, random_state=seed)
    for label in np.setdiff1d(y, known):
        known[np.random.default_rng(seed).choice(np.flatnonzero(y == label))] = label
    return Problem(X, y, SideInformation.build(len(y), y=known), seed)


def linked(name: str, per_row: float, seed: int) -> Problem:
    """Draw random pairs with their true relation."""
    X, y = table(name)
    links = draw_links(y, round(per_row * len(y)), random_state=seed)
    return Problem(X, y, SideInformation.build(len(y), must_link=links.must_link, cannot_link=links.cannot_link), seed)


# --- methods ----------------------------------------------------------------------------------------------------------


def ours(make: Callable[..., Any], problem: Problem) -> np.ndarray:
    """Fit an estimator of sidelight."""
    return np.asarray(make(problem.n_classes, random_state=problem.seed).fit(problem.X, side=problem.side).labels_)


def unsupervised(make: Callable[..., Any], problem: Problem) -> np.ndarray:
    """Fit a method of scikit-learn that takes only the number of clusters."""
    return np.asarray(make(problem.n_classes, random_state=problem.seed).fit_predict(problem.X))


def classifier(make: Callable[[], Any], problem: Problem) -> np.ndarray:
    """Fit a semi-supervised classifier of scikit-learn."""
    return np.asarray(make().fit(problem.X, problem.side.labels).predict(problem.X))


def active(module: str, name: str) -> Any:
    """Return a class of active-semi-supervised-clustering, which sets NumPy to raise on underflow when imported."""
    with np.errstate():
        return getattr(import_module(f"{MODULES[ACTIVE]}.{module}"), name)


def active_with_links(name: str, problem: Problem) -> np.ndarray:
    """Fit a method of active-semi-supervised-clustering that takes links."""
    model = active("pairwise_constraints", name)(n_clusters=problem.n_classes)
    must, cannot = (
        [tuple(pair) for pair in pairs.tolist()] for pairs in (problem.side.must_link, problem.side.cannot_link)
    )
    np.random.seed(problem.seed)  # noqa: NPY002  (the peer draws from NumPy's global state)
    with np.errstate(all="ignore"):
        model.fit(problem.X, ml=must, cl=cannot)
    return np.asarray(model.labels_)


def active_with_labels(name: str, problem: Problem) -> np.ndarray:
    """Fit a method of active-semi-supervised-clustering that takes labels."""
    model = active("labeled_data", name)(n_clusters=problem.n_classes)
    np.random.seed(problem.seed)  # noqa: NPY002  (the peer draws from NumPy's global state)
    with np.errstate(all="ignore"):
        model.fit(problem.X, y=problem.side.labels)
    return np.asarray(model.labels_)


def pomegranate_with_labels(covariance_type: str, problem: Problem) -> np.ndarray:
    """Fit a Gaussian mixture of pomegranate, with certain priors for labelled rows and even ones for the others.

    It starts at the means of the labelled rows, with the covariance of the table.
    """
    torch = import_module("torch")
    torch.set_num_threads(1)
    X, labels, classes = torch.tensor(problem.X), problem.side.labels, np.arange(problem.n_classes)
    spread = np.cov(problem.X.T) if covariance_type == "full" else problem.X.var(axis=0)
    normal = import_module("pomegranate.distributions").Normal
    start = [
        normal(torch.tensor(problem.X[labels == c].mean(axis=0)), torch.tensor(spread), covariance_type)
        for c in classes
    ]
    priors = np.where(labels[:, None] >= 0, labels[:, None] == classes, 1 / len(classes))
    model = import_module(MODULES[POMEGRANATE]).GeneralMixtureModel(start).fit(X, priors=torch.tensor(priors))
    return np.asarray(model.predict(X))


MIXTURES: dict[str, Method] = {
    "BayesianMixture": partial(ours, lambda k, random_state: sl.BayesianMixture(random_state=random_state)),
    "EquivalenceMixture": partial(ours, sl.EquivalenceMixture),
    "PairwiseMixture": partial(ours, sl.PairwiseMixture),
    "PosteriorConstraintMixture": partial(ours, sl.PosteriorConstraintMixture),
    "ClassMixture": partial(ours, lambda k, random_state: sl.ClassMixture(random_state=random_state)),
}
BASELINES: dict[str, Method] = {
    "COPKMeans": partial(ours, sl.COPKMeans),
    "HMRFKMeans": partial(ours, sl.HMRFKMeans),
    "ConstrainedKernelKMeans": partial(ours, sl.ConstrainedKernelKMeans),
    "ConstrainedSpectralClustering": partial(ours, sl.ConstrainedSpectralClustering),
}
UNSUPERVISED: dict[str, Method] = {
    "k-means, unsupervised": partial(unsupervised, lambda k, **o: KMeans(k, n_init=10, **o)),
    "GaussianMixture, unsupervised": partial(unsupervised, GaussianMixture),
    "BayesianGaussianMixture, unsupervised": partial(
        unsupervised, lambda k, **o: BayesianGaussianMixture(n_components=k, **o)
    ),
}
METHODS: dict[str, dict[str, Method]] = {
    "labels": {
        **MIXTURES,
        "LabelledMixture": partial(ours, sl.LabelledMixture),
        "LatentProcessDecomposition": partial(ours, sl.LatentProcessDecomposition),
        **BASELINES,
        "SeededKMeans": partial(ours, sl.SeededKMeans),
        "GraphPropagation": partial(ours, lambda k, random_state: sl.GraphPropagation()),
        "LabelSpreading (scikit-learn)": partial(classifier, lambda: LabelSpreading(kernel="knn", n_neighbors=7)),
        "SelfTraining, SVC (scikit-learn)": partial(
            classifier, lambda: SelfTrainingClassifier(SVC(probability=True, random_state=0))
        ),
        f"SeededKMeans ({ACTIVE})": partial(active_with_labels, "SeededKMeans"),
        f"ConstrainedKMeans ({ACTIVE})": partial(active_with_labels, "ConstrainedKMeans"),
        f"GeneralMixtureModel, full ({POMEGRANATE})": partial(pomegranate_with_labels, "full"),
        f"GeneralMixtureModel, diagonal ({POMEGRANATE})": partial(pomegranate_with_labels, "diag"),
        **UNSUPERVISED,
    },
    "links": {
        **MIXTURES,
        **BASELINES,
        f"COPKMeans ({ACTIVE})": partial(active_with_links, "COPKMeans"),
        f"PCKMeans ({ACTIVE})": partial(active_with_links, "PCKMeans"),
        f"MPCKMeans ({ACTIVE})": partial(active_with_links, "MPCKMeans"),
        **UNSUPERVISED,
    },
}


# --- the grid ---------------------------------------------------------------------------------------------------------


def measure(kind: str, setting: Setting, method: str, seed: int) -> Mapping[str, float]:
    """Return the adjusted Rand index on rows without side information, on all rows, and whether the method failed."""
    problem = (labelled if kind == "labels" else linked)(str(setting[0]), float(setting[1]), seed)
    free = ~problem.side.mentioned
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            labels = METHODS[kind][method](problem)
        except Exception as refusal:  # a peer may raise any error; the user has no result
            if peer_of(method) is None and not isinstance(refusal, ValueError):
                raise
            return {"rand, free rows": 0.0, "rand, all rows": 0.0, "gave up": 1.0}
    return {
        "rand, free rows": float(adjusted_rand_score(problem.y[free], labels[free])),
        "rand, all rows": float(adjusted_rand_score(problem.y, labels)),
        "gave up": 0.0,
    }


def grid(kind: str, methods: tuple[str, ...]) -> Experiment:
    """Return the grid as an experiment, whose trials can be stored."""
    levels = LABELS if kind == "labels" else LINKS
    settings = [(name, level) for name in SETS for level in levels]
    return Experiment(
        name=f"quality-{kind}",
        title=f"adjusted Rand index against {kind}",
        varied=("set", kind),
        settings=settings,
        quick=settings[:1],
        published=methods,
        ours=(),
        measures=("rand, free rows", "rand, all rows", "gave up"),
        measure=partial(measure, kind),
        seeds=DRAWS,
        quick_seeds=1,
    )


def peer_of(method: str) -> str | None:
    """Return the package of a peer's method, None for other methods."""
    return next((peer for peer in PEERS if method.endswith(f"({peer})")), None)


def available(kind: str) -> list[str]:
    """Return the methods that can be run here."""
    missing = set()
    for peer, module in MODULES.items():
        try:
            with np.errstate():
                import_module(module)
        except ImportError:
            missing.add(peer)
    return [name for name in METHODS[kind] if peer_of(name) not in missing]


def timed(kind: str, trial: Trial) -> tuple[Trial, Mapping[str, float]]:
    """Measure a trial in a process of its own."""
    return trial, measure(kind, *trial)


def run(kind: str) -> None:
    """Run the trials that are not stored yet."""
    experiment = grid(kind, tuple(METHODS[kind]))
    journal = Journal.of(experiment, RESULTS)
    runnable = set(available(kind))
    missing = [t for t in experiment.trials(quick=False) if t.method in runnable and t not in journal.results]
    tasks = (delayed(timed)(kind, trial) for trial in missing)
    found = Parallel(n_jobs=-1, return_as="generator_unordered", batch_size=1)(tasks)
    for trial, measured in track(found, kind, total=len(missing), console=Console(stderr=True)):
        journal.add(trial, measured)
    journal.sort()


# --- the report -------------------------------------------------------------------------------------------------------


class Ranking(NamedTuple):
    """The stored results, and their methods from the best mean rank over all cells to the worst."""

    summary: Summary
    methods: list[str]
    ranks: np.ndarray


def ranked(kind: str) -> Ranking:
    """Return the methods that ran on all cells, by mean rank."""
    experiment = grid(kind, tuple(METHODS[kind]))
    summary = summarise(experiment, Journal.of(experiment, RESULTS).results, experiment.trials(quick=False))
    methods = [name for name in METHODS[kind] if all((s, name) in summary.cells for s in summary.settings)]
    means = np.array([[summary.mean(s, name) for s in summary.settings] for name in methods])
    ranks = np.array([rankdata(-column) for column in means.T]).T.mean(axis=1)
    order = np.argsort(ranks, kind="stable")
    return Ranking(summary, [methods[i] for i in order], ranks[order])


def report(kind: str) -> None:
    """Print the table of means and mean ranks, store it as Markdown, and draw the figure."""
    ranking = ranked(kind)
    text = markdown(kind, ranking)
    (RESULTS / f"quality-{kind}.md").write_text(text, encoding="utf-8")
    print(text)
    draw(kind, ranking)


def markdown(kind: str, ranking: Ranking) -> str:
    """Return mean ranks over all cells, and for each set the mean over levels, with the sd over draws and levels."""
    summary, methods, ranks = ranking
    lines = [
        f"`python benchmarks/quality.py {kind}`: adjusted Rand index on rows without side information, mean over "
        f"{', '.join(str(level) for level in (LABELS if kind == 'labels' else LINKS))} "
        f"({'fraction labelled' if kind == 'labels' else 'links per row'}) and {DRAWS} draws; mean rank over all "
        f"cells; draws on which a method gave up count as 0.\n",
        "| method | mean rank | " + " | ".join(SETS) + " | gave up |",
        "|---" * (len(SETS) + 3) + "|",
    ]
    for method, rank in zip(methods, ranks, strict=True):
        cells = []
        for name in SETS:
            chosen = [summary.cells[s, method].values["rand, free rows"] for s in summary.settings if s[0] == name]
            cells.append(f"{np.mean(chosen):.3f} ± {np.std(chosen):.3f}" if chosen else "")
        gave_up = sum(summary.cells[s, method].values["gave up"].sum() for s in summary.settings)
        lines.append(f"| {method} | {rank:.1f} | " + " | ".join(cells) + f" | {gave_up:.0f} |")
    return "\n".join(lines) + "\n"


def draw(kind: str, ranking: Ranking) -> None:
    """Draw mean ranks, and the score on each set."""
    summary, methods, ranks = ranking
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(12, 0.32 * len(methods) + 1.6), layout="constrained")
    FigureCanvasAgg(figure)
    left, right = figure.subplots(1, 2, sharey=True, width_ratios=(1, 2))
    places = np.arange(len(methods))
    colours = ["#9aa0a6" if "(" in name or "unsupervised" in name else "#1f6fb2" for name in methods]
    left.barh(places, ranks, color=colours)
    left.set_yticks(places, methods, fontsize=8)
    left.invert_yaxis()
    left.set_xlabel("mean rank (lower is better)")
    scores = np.array(
        [[np.mean([summary.mean(s, m) for s in summary.settings if s[0] == name]) for name in SETS] for m in methods]
    )
    right.imshow(scores, aspect="auto", cmap="YlGnBu", vmin=0, vmax=1)
    for row, column in np.ndindex(scores.shape):
        value = scores[row, column]
        right.text(column, row, f"{value:.2f}", ha="center", va="center", fontsize=7, color="w" if value > 0.6 else "k")
    right.set_xticks(range(len(SETS)), [name.split("_")[0] for name in SETS], fontsize=8)
    right.set_title(f"adjusted Rand index on rows without side information, {kind}", fontsize=9)
    for axes in (left, right):
        axes.spines[:].set_visible(False)
    figure.savefig(RESULTS / f"quality-{kind}.png", dpi=110, metadata={"Software": None})


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kind", choices=("labels", "links"))
    parser.add_argument("--report", action="store_true", help="use the stored trials only")
    asked = parser.parse_args()
    if not asked.report:
        run(asked.kind)
    report(asked.kind)
