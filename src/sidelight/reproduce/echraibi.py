"""Echraibi et al. 2019: Bayesian mixtures guided by partial labels, on four Gaussians and on five real tables."""

from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import StandardScaler

from sidelight import BayesianMixture, GraphPropagation, HMRFKMeans, LabelledMixture
from sidelight.datasets import four_gaussians, load, two_views
from sidelight.kernels.arrays import AnyArray, FloatArray, IntArray
from sidelight.metrics import clustering_accuracy_score
from sidelight.reproduce.drawing import curves
from sidelight.reproduce.experiment import (
    ONE_CLUSTER,
    Claim,
    Experiment,
    Paper,
    Printed,
    Setting,
    Summary,
    Verdict,
    graded,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PROTOCOL = """
**Protocol.** Sections 3.1 and 3.2: 400 rows from four Gaussians, of which 5 % (outer classes) and 10 % (the middle
class), or 10 % in 3.2, are labelled; truncation T = 4 and 10, or 3; concentration 1. Section 3.3: five sets of the
UCI repository, 0 to 50 % of the rows labelled, T = 10 (iris, wine) or 20, the accuracy of the best of ten runs,
labelled rows counted. Section 3.4: HMRF-KMeans with the true number of clusters.

**Left open, and chosen.** The centres of the Gaussians: the middle two lie 2.4 standard deviations apart ("close") or
8 ("far"). Priors and strength are not printed; the table comes out with a finite Dirichlet prior of 1/T on the
weights, strength 0.001 on the divergence of components (with its misprints corrected), prior means at k-means
centres, prior covariance I worth one row and d degrees of freedom; these are the settings of "SS-DPGMM" here. In
figures 3 to 5 its weights are stick-breaking with concentration 1, as the text says; strengths from 0.001 to 10
change little there. Wine is standardised, without which nothing near the print comes out (best of ten 0.31 without
labels); the other sets are taken as they are. What ten "reruns" change is not said: here labels and starts are drawn
anew each time.

**What to beware of.** A best of ten with labelled rows counted flatters twice: the runs differ widely, and half the
rows are right because somebody said so. The rows nothing was said about stand beside it.
"""

FRACTIONS = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5)
TRUNCATION = {"iris": 10, "wine": 10, "glass": 20, "yeast": 20, "digits": 20}
_TABLE = {
    "iris": (0.72, 0.98, 0.98),
    "wine": (0.49, 0.58, 0.81),
    "glass": (0.52, 0.50, 0.71),
    "yeast": (0.37, 0.41, 0.70),
    "digits": (0.61, 0.68, 0.79),
}
_FOUND_BEFORE = {
    "iris": (0.72, 0.98, 0.99),
    "wine": (0.55, 0.57, 0.82),
    "glass": (0.51, 0.49, 0.75),
    "yeast": (0.32, 0.39, 0.61),
    "digits": (0.63, 0.67, 0.80),
}
_ACCURACY, _FREE, _RAND, _CLUSTERS = "accuracy", "accuracy, no label", "adjusted Rand, no label", "clusters"
MEASURES = (_ACCURACY, _FREE, _RAND, _CLUSTERS)


class Drawn(NamedTuple):
    """A table, its classes as numbers, and the labels that are told; -1 where none is."""

    X: FloatArray
    y: IntArray
    known: IntArray


# --- sections 3.3 and 3.4 ---------------------------------------------------------------------------------------------


@lru_cache(maxsize=1)
def _table(name: str) -> tuple[FloatArray, IntArray]:
    X, y, _ = load(name)
    values = np.asarray(X, dtype=float)
    return StandardScaler().fit_transform(values) if name == "wine" else values, np.unique(y, return_inverse=True)[1]


def draw_labels_of(name: str, fraction: float, seed: int) -> Drawn:
    """Return a set with a fraction of its rows labelled."""
    X, y = _table(name)
    labelled = np.random.default_rng(seed).permutation(len(y))[: round(fraction * len(y))]
    known = np.full(len(y), -1)
    known[labelled] = y[labelled]
    return Drawn(X, y, known)


def authors_form(n_components: int, d: int, seed: int, **options: Any) -> BayesianMixture:
    """Return the model with the settings with which the paper's table comes out."""
    settings: dict[str, Any] = {
        "weights": "dirichlet",
        "concentration": 1 / n_components,
        "potential": "divergence",
        "strength": 0.001,
        "mean_prior": "kmeans",
        "mean_precision_prior": 1.0,
        "degrees_of_freedom_prior": float(d),
        "covariance_prior": np.eye(d),
        "init_params": "distances",
        "unlabelled_weight": 1.0,
    }
    return BayesianMixture(n_components, random_state=seed, **(settings | options))


def measure_set(setting: Setting, method: str, seed: int) -> Mapping[str, float]:
    """Measure a method on a set with a fraction of its rows labelled."""
    name, fraction = str(setting[0]), float(setting[1])
    drawn = draw_labels_of(name, fraction, seed)
    n_classes = int(drawn.y.max()) + 1
    models = {
        "SS-DPGMM": lambda: authors_form(TRUNCATION[name], drawn.X.shape[1], seed),
        "HMRF-KMeans": lambda: HMRFKMeans(n_classes, random_state=seed),
        "BayesianMixture": lambda: BayesianMixture(random_state=seed),
        "LabelledMixture": lambda: LabelledMixture(random_state=seed),
        "GraphPropagation": lambda: GraphPropagation(),
    }
    return scores(drawn, _labels(drawn, models, method))


def _labels(drawn: Drawn, models: Mapping[str, Any], method: str) -> AnyArray:
    if method == ONE_CLUSTER:
        return np.zeros(len(drawn.y), dtype=int)
    return np.asarray(models[method]().fit(drawn.X, drawn.known).labels_)


def scores(drawn: Drawn, labels: AnyArray) -> dict[str, float]:
    """Return all measures."""
    free = drawn.known < 0
    return {
        _ACCURACY: clustering_accuracy_score(drawn.y, labels),
        _FREE: clustering_accuracy_score(drawn.y, labels, rows=free),
        _RAND: float(adjusted_rand_score(drawn.y[free], labels[free])),
        _CLUSTERS: float(len(np.unique(labels))),
    }


def _needs_labels(setting: Setting, method: str) -> bool:
    return float(setting[1]) > 0 or method not in ("HMRF-KMeans", "GraphPropagation")


_ALL = tuple((name, fraction) for name in TRUNCATION for fraction in FRACTIONS)
_OURS = ("BayesianMixture", "LabelledMixture", "GraphPropagation")
_QUICK = tuple((name, fraction) for name in ("iris", "wine", "glass") for fraction in (0.0, 0.2, 0.5))


def _best(table: Mapping[str, tuple[float, float, float]]) -> dict[tuple[Setting, str], Printed]:
    return {
        ((name, fraction), "SS-DPGMM"): Printed(value, is_best=True)
        for name, values in table.items()
        for fraction, value in zip((0.0, 0.2, 0.5), values, strict=True)
    }


_EXPLAINED: dict[tuple[Setting, str], str] = {
    (("iris", 0.0), "SS-DPGMM"): "one of the ten starts ends there; the mean of the others is .718",
    (("glass", 0.0), "SS-DPGMM"): (
        "the starts of that run are not on record; scaled columns (best of ten .435), stick-breaking weights (.481) "
        "and more iterations (.477) do not account for it"
    ),
    (("glass", 0.5), "SS-DPGMM"): "the strength decides: 0.01 instead of 0.001 gives a best of ten of .757",
    (("yeast", 0.5), "SS-DPGMM"): (
        "the columns are taken as they are: stick-breaking weights give a best of ten of .600, and scaled columns "
        ".704, which is the print's"
    ),
}

FIGURE_8 = Experiment(
    name="figure-8",
    title="accuracy of SS-DPGMM against the fraction of labels",
    varied=("set", "labels"),
    settings=_ALL,
    quick=_QUICK,
    published=("SS-DPGMM",),
    ours=("HMRF-KMeans", *_OURS),
    measures=MEASURES,
    measure=measure_set,
    seeds=10,
    quick_seeds=2,
    printed=_best(_TABLE),
    derived=_best(_FOUND_BEFORE),
    explained=_EXPLAINED,
    draw=curves("labels", panel="set", methods=("SS-DPGMM", "BayesianMixture", "GraphPropagation", ONE_CLUSTER)),
    applies=_needs_labels,
)
TABLE_1 = Experiment(
    name="table-1",
    title="accuracy without labels and with 20 and 50 %",
    varied=("set", "labels"),
    settings=[setting for setting in _ALL if setting[1] in (0.0, 0.2, 0.5)],
    quick=_QUICK,
    published=("SS-DPGMM",),
    ours=("HMRF-KMeans", *_OURS),
    measures=MEASURES,
    measure=measure_set,
    seeds=10,
    quick_seeds=2,
    printed=_best(_TABLE),
    derived=_best(_FOUND_BEFORE),
    explained=_EXPLAINED,
    draw=curves("labels", panel="set", measure=_FREE),
    applies=_needs_labels,
    part_of=FIGURE_8,
)
FIGURE_9 = Experiment(
    name="figure-9",
    title="accuracy of HMRF-KMeans against the fraction of labels",
    varied=("set", "labels"),
    settings=[setting for setting in _ALL if setting[1] > 0],
    quick=[setting for setting in _QUICK if setting[1] > 0],
    published=("HMRF-KMeans",),
    ours=("SS-DPGMM", *_OURS),
    measures=MEASURES,
    measure=measure_set,
    seeds=10,
    quick_seeds=2,
    draw=curves("labels", panel="set", methods=("HMRF-KMeans", "SS-DPGMM", ONE_CLUSTER)),
    part_of=FIGURE_8,
)


# --- sections 3.1 and 3.2 ---------------------------------------------------------------------------------------------


def draw_middles(middles: str, seed: int) -> Drawn:
    """Return four Gaussians of which the middle two are one class, with 5, 5 and 10 % labelled."""
    X, y, _ = four_gaussians(half_distance={"close": 1.2, "far": 4.0}[middles], random_state=seed)
    random = np.random.default_rng(seed)
    known = np.full(len(y), -1)
    for label, fraction in ((0, 0.05), (1, 0.05), (2, 0.10)):
        rows = np.flatnonzero(y == label)
        known[random.choice(rows, round(fraction * len(rows)), replace=False)] = label
    return Drawn(X, y, known)


def draw_view(view: str, seed: int) -> Drawn:
    """Return four Gaussians with 10 % of one of two views labelled."""
    X, y, _ = two_views(view=view, random_state=seed)
    known = np.full(len(y), -1)
    labelled = np.random.default_rng(seed).permutation(len(y))[: len(y) // 10]
    known[labelled] = y[labelled]
    return Drawn(X, y, known)


def _published(truncation: int, seed: int) -> BayesianMixture:
    return authors_form(truncation, 2, seed, weights="dirichlet_process", concentration=1.0)


def _models(truncation: int, seed: int) -> dict[str, Any]:
    return {
        "DPGMM": lambda: _published(truncation, seed),
        "SS-DPGMM": lambda: _published(truncation, seed),
        "BayesianMixture": lambda: BayesianMixture(truncation, random_state=seed),
    }


def _told(drawn: Drawn, method: str) -> Drawn:
    """Return what a method is told: the classical model nothing."""
    return drawn._replace(known=np.full(len(drawn.y), -1)) if method == "DPGMM" else drawn


def _synthetic_scores(drawn: Drawn, labels: AnyArray) -> dict[str, float]:
    found = scores(drawn, labels)
    return {**found, "right number": float(found[_CLUSTERS] == len(np.unique(drawn.y)))}


_SYNTHETIC_MEASURES = (*MEASURES, "right number")


def measure_middles_4(setting: Setting, method: str, seed: int) -> Mapping[str, float]:
    """Measure on experiment 3.1 with truncation 4."""
    return _measure_middles(setting, method, seed, 4)


def measure_middles_10(setting: Setting, method: str, seed: int) -> Mapping[str, float]:
    """Measure on experiment 3.1 with truncation 10."""
    return _measure_middles(setting, method, seed, 10)


def _measure_middles(setting: Setting, method: str, seed: int, truncation: int) -> Mapping[str, float]:
    drawn = draw_middles(str(setting[0]), seed)
    return _synthetic_scores(drawn, _labels(_told(drawn, method), _models(truncation, seed), method))


def measure_view(setting: Setting, method: str, seed: int) -> Mapping[str, float]:
    """Measure on experiment 3.2."""
    drawn = draw_view(str(setting[0]), seed)
    truncation = int(setting[1])
    return _synthetic_scores(drawn, _labels(drawn, _models(truncation, seed), method))


def _draw_iterations_of(truncation: int, middles: str) -> Any:
    def draw(figure: "Figure", summary: Summary) -> None:
        drawn = draw_middles(middles, 0)
        rows = [
            (f"classical, T = {truncation}", drawn.X, _fitted(_told(drawn, "DPGMM"), _published(truncation, 0))),
            (f"with labels, T = {truncation}", drawn.X, _fitted(drawn, _published(truncation, 0))),
            ("BayesianMixture", drawn.X, _fitted(drawn, BayesianMixture(truncation, random_state=0))),
        ]
        _draw_iterations(figure, rows)

    return draw


def _draw_views(figure: "Figure", summary: Summary) -> None:
    rows = []
    for view in ("horizontal", "vertical"):
        drawn = draw_view(view, 0)
        rows.append((f"{view} labels, T = 3", drawn.X, _fitted(drawn, _published(3, 0))))
    _draw_iterations(figure, rows)


def _fitted(drawn: Drawn, model: BayesianMixture) -> BayesianMixture:
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the published form need not converge
        return model.set_params(keep_history=True).fit(drawn.X, drawn.known)


def _draw_iterations(figure: "Figure", rows: list[tuple[str, FloatArray, BayesianMixture]]) -> None:
    """Draw the clustering across iterations, a row of small pictures for each model."""
    from sidelight.plots import HistoryDisplay

    figure.set_size_inches(12.5, 2.7 * len(rows))
    parts = figure.subfigures(len(rows), 1, squeeze=False)[:, 0]
    for part, (title, X, model) in zip(parts, rows, strict=True):
        part.suptitle(title, fontsize=10)
        HistoryDisplay.from_estimator(model, X, figure=part)


FIGURE_3 = Experiment(
    name="figure-3",
    title="four Gaussians in three classes, T = 4",
    varied=("middles",),
    settings=[("close",), ("far",)],
    quick=[("close",), ("far",)],
    published=("DPGMM", "SS-DPGMM"),
    ours=("BayesianMixture",),
    measures=_SYNTHETIC_MEASURES,
    measure=measure_middles_4,
    seeds=20,
    quick_seeds=5,
    draw=_draw_iterations_of(4, "close"),
)
FIGURE_4 = Experiment(
    name="figure-4",
    title="four Gaussians in three classes, T = 10",
    varied=("middles",),
    settings=[("close",), ("far",)],
    quick=[("close",), ("far",)],
    published=("DPGMM", "SS-DPGMM"),
    ours=("BayesianMixture",),
    measures=_SYNTHETIC_MEASURES,
    measure=measure_middles_10,
    seeds=20,
    quick_seeds=5,
    draw=_draw_iterations_of(10, "close"),
)
FIGURE_5 = Experiment(
    name="figure-5",
    title="four Gaussians with two views",
    varied=("view", "T"),
    settings=[(view, truncation) for view in ("horizontal", "vertical") for truncation in (3, 10)],
    quick=[(view, 3) for view in ("horizontal", "vertical")],
    published=("SS-DPGMM",),
    ours=("BayesianMixture",),
    measures=_SYNTHETIC_MEASURES,
    measure=measure_view,
    seeds=20,
    quick_seeds=5,
    draw=_draw_views,
)


# --- claims -----------------------------------------------------------------------------------------------------------


def _three_clusters(figure_3: Summary, figure_4: Summary) -> Verdict:
    shares = {
        (truncation, setting[0], method): summary.mean(setting, method, "right number")
        for truncation, summary in ((4, figure_3), (10, figure_4))
        for setting in summary.settings
        for method in ("DPGMM", "SS-DPGMM", "BayesianMixture")
    }
    informed = [share for (_, _, method), share in shares.items() if method == "SS-DPGMM"]
    said = "; ".join(f"T = {t}, middles {m}, {name}: {share:.0%}" for (t, m, name), share in shares.items())
    return graded(informed, 0.9, f"three clusters found in: {said}")


def _right_view(figure_5: Summary) -> Verdict:
    found = {
        (setting, method): float((figure_5.cells[setting, method].values[_ACCURACY] >= 0.98).mean())
        for setting in figure_5.settings
        for method in ("SS-DPGMM", "BayesianMixture")
    }
    at_three = [share for (setting, method), share in found.items() if method == "SS-DPGMM" and setting[1] == 3]
    said = "; ".join(f"{s[0]}, T = {s[1]}, {name}: {share:.0%}" for (s, name), share in found.items())
    return graded(at_three, 0.9, f"accuracy of .98 or more in: {said}")


def _more_labels_help(figure_8: Summary) -> Verdict:
    sets = list(dict.fromkeys(setting[0] for setting in figure_8.settings))
    gains = {}
    for name in sets:
        fractions = [setting[1] for setting in figure_8.settings if setting[0] == name]
        ends = (name, min(fractions)), (name, max(fractions))
        gains[name] = [
            figure_8.mean(ends[1], "SS-DPGMM", measure) - figure_8.mean(ends[0], "SS-DPGMM", measure)
            for measure in (_ACCURACY, _FREE)
        ]
    said = "; ".join(
        f"{name} {every:+.3f}, {free:+.3f} on rows without a label" for name, (every, free) in gains.items()
    )
    return graded([float(free > 0.02) for _, free in gains.values()], 1.0, f"mean gain from none to half: {said}")


def _iris_jump(table_1: Summary) -> Verdict:
    none, fifth = (table_1.cells[("iris", fraction), "SS-DPGMM"] for fraction in (0.0, 0.2))
    best = fifth.best(_ACCURACY) - none.best(_ACCURACY)
    mean = fifth.mean(_FREE) - none.mean(_FREE)
    said = (
        f"best of {len(none.values[_ACCURACY])}: {none.best(_ACCURACY):.3f} to {fifth.best(_ACCURACY):.3f}; mean on "
        f"rows without a label {none.mean(_FREE):.3f} to {fifth.mean(_FREE):.3f} ± {fifth.sd(_FREE):.3f}"
    )
    if best < 0.2:
        return Verdict("does not hold", said)
    return Verdict("holds" if mean >= 0.2 else "holds in part", said)


def _beats_hmrf(figure_9: Summary) -> Verdict:
    differences = {
        setting: (
            figure_9.mean(setting, "SS-DPGMM") - figure_9.mean(setting, "HMRF-KMeans"),
            figure_9.mean(setting, "SS-DPGMM", _FREE) - figure_9.mean(setting, "HMRF-KMeans", _FREE),
        )
        for setting in figure_9.settings
    }
    ahead = [float(free > 0) for _, free in differences.values()]
    half = {s[0]: figure_9.mean(s, "HMRF-KMeans") for s in figure_9.settings if s[1] == 0.5}
    said = (
        f"ahead in {sum(every > 0 for every, _ in differences.values())} of {len(ahead)} cells, in {sum(ahead):.0f} "
        f"on rows without a label; HMRF-KMeans at 50 %: "
        + ", ".join(f"{name} {value:.2f}" for name, value in half.items())
    )
    return graded(ahead, 1.0, said)


PAPER = Paper(
    name="echraibi",
    reference="Echraibi, Flocon-Cholet, Gosselin, Vaton: Bayesian mixture models for semi-supervised clustering (2019)",
    protocol=PROTOCOL,
    experiments=(FIGURE_8, TABLE_1, FIGURE_9, FIGURE_3, FIGURE_4, FIGURE_5),
    claims=(
        Claim(
            "With partial labels three clusters are identified, with T = 4 and T = 10.",
            ("figure-3", "figure-4"),
            _three_clusters,
        ),
        Claim("Partial labels lead to the view they encode (T = 3).", ("figure-5",), _right_view),
        Claim("The accuracy improves as labels are added.", ("figure-8",), _more_labels_help),
        Claim("On iris, 20 % of the labels improve the accuracy from 72 to 98 %.", ("table-1",), _iris_jump),
        Claim(
            "SS-DPGMM clearly outperforms HMRF-KMeans, which is between .5 and .7 with half the labels.",
            ("figure-9",),
            _beats_hmrf,
        ),
    ),
)
