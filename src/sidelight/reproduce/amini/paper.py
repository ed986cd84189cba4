"""Amini's lecture: the protocol, the experiments and their pictures."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.cluster import AgglomerativeClustering, KMeans

from sidelight import BayesianMixture, LabelledMixture
from sidelight.reproduce.amini.claims import CLAIMS
from sidelight.reproduce.amini.methods import (
    CLASS_MEASURES,
    CLASSIFIERS,
    CRITERION,
    FALL,
    FREE,
    GRAPHS,
    GROUP_MEASURES,
    SETS,
    SIMILARITIES,
    STEPS,
    Draw,
    class_scores,
    criterion,
    draw_fraction,
    draw_gaussians,
    draw_per_class,
    draw_unlabelled,
    graph_of,
    group_scores,
    named_classes,
    plain_mixture,
    unit_table,
)
from sidelight.reproduce.framework.drawing import curves
from sidelight.reproduce.framework.experiment import ONE_CLUSTER, Experiment, Paper, Setting
from sidelight.side import draw_labels

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PROTOCOL = """
**What is run again.** A lecture prints pictures and claims instead of experiments. Its pictures are numbered in their
order: 1 K-means step by step, 2 the lower bound of EM, 3 EM on two clusters step by step, 4 unlabelled rows beside
labelled ones, 5 and 6 the cluster and low density assumptions, 7 self-training step by step, 8 a manifold. Figures 1 to
4, 7 and 8 are experiments here. Table 1 is the list of similarity measures, which is printed without a number.

**Left open, and chosen.**

- No data are named. Sets: iris, wine (standardised), digits (30 principal components), two moons (200 rows, noise 0.1),
  yeast where unlabelled rows harm, and for figure 3 two round Gaussians in the plane, 200 and 100 rows.
- Groups are measured by purity (and normalised mutual information), as the lecture says; classes by accuracy, on all
  rows and on those without a label. Draws are of starts in figures 1 and 2, of data in figure 3, of labels elsewhere.
- K-means starts at random rows, once; the hierarchical method is Ward's. EM and CEM start at k-means++ centres, with
  labels at the labelled rows alone, as in the lecture. Covariances are full, with a prior worth one row: a class with
  fewer labels than features would have none otherwise. "Labelled rows only" is the same model without the others.
- Self-training is scikit-learn's with logistic regression, and takes over what is above 0.75.
- The graph joins ten neighbours (binary) or all pairs (Gaussian, σ the median distance of tenth neighbours); λ = 0.01.
- "LabelledMixture" with labels counts rows without one a tenth and has its own start; "BayesianMixture" and
  "GraphPropagation" have their defaults.

**Misprints that matter.** The minimum of ½‖SỸ − SY‖² + λỸᵀ(D − W)Ỹ is (S + 2λ(D − W))⁻¹SY; the lecture drops the 2,
which is the solution for half of λ and is run as "Gaussian, as printed". Dice lacks its factor 2, which halves every
edge. Jaccard as printed is right for binary features; it is Tanimoto's form here.
"""

FRACTIONS = (0.05, 0.2, 0.5)
PER_CLASS = (1, 2, 5, 10)
DISTANCES = (1.0, 2.0, 3.0, 4.0, 6.0)


def measure_partition(setting: Setting, method: str, seed: int) -> Mapping[str, float]:
    """Measure K-means from a random start, and Ward's method, on a set."""
    drawn = draw_unlabelled(str(setting[0]))
    models: Mapping[str, Callable[[], Any]] = {
        "K-means": lambda: KMeans(drawn.n_classes, init="random", n_init=1, random_state=seed),
        "hierarchical": lambda: AgglomerativeClustering(drawn.n_classes),
        "LabelledMixture": lambda: LabelledMixture(drawn.n_classes, random_state=seed),
        "BayesianMixture": lambda: BayesianMixture(drawn.n_classes, random_state=seed),
    }
    one = np.zeros(len(drawn.y), dtype=int)
    return group_scores(drawn, one if method == ONE_CLUSTER else models[method]().fit(drawn.X).labels_)


def _mixture_scores(drawn: Draw, method: str, seed: int) -> dict[str, float]:
    if method == ONE_CLUSTER:
        return {**group_scores(drawn, np.zeros(len(drawn.y), dtype=int)), FALL: 0.0, STEPS: 0.0}
    model = plain_mixture(method, drawn.n_classes, seed).fit(drawn.X)
    fall = max(0.0, -float(np.diff(model.lower_bounds_).min(initial=0.0)))
    return {**group_scores(drawn, model.labels_), FALL: fall, STEPS: float(model.n_iter_)}


def measure_mixture(setting: Setting, method: str, seed: int) -> Mapping[str, float]:
    """Measure EM or CEM on a set."""
    return _mixture_scores(draw_unlabelled(str(setting[0])), method, seed)


def measure_gaussians(setting: Setting, method: str, seed: int) -> Mapping[str, float]:
    """Measure EM or CEM on two Gaussians at a distance."""
    return _mixture_scores(draw_gaussians(float(setting[0]), seed), method, seed)


def measure_fraction(setting: Setting, method: str, seed: int) -> Mapping[str, float]:
    """Measure a method with a fraction of the labels."""
    drawn = draw_fraction(str(setting[0]), float(setting[1]), seed)
    return class_scores(drawn, CLASSIFIERS[method](drawn, seed))


def measure_per_class(setting: Setting, method: str, seed: int) -> Mapping[str, float]:
    """Measure a method with a number of labels of each class."""
    drawn = draw_per_class(str(setting[0]), int(setting[1]), seed)
    return class_scores(drawn, CLASSIFIERS[method](drawn, seed))


def measure_graph(setting: Setting, method: str, seed: int) -> Mapping[str, float]:
    """Measure label propagation; the criterion is 0 for methods without one."""
    drawn = draw_per_class(str(setting[0]), int(setting[1]), seed)
    if method not in GRAPHS:
        return {**class_scores(drawn, CLASSIFIERS[method](drawn, seed)), CRITERION: 0.0}
    model = GRAPHS[method]()
    return {**class_scores(drawn, named_classes(model, drawn)), CRITERION: criterion(model, drawn)}


def measure_similarity(setting: Setting, method: str, seed: int) -> Mapping[str, float]:
    """Measure label propagation on a graph of the rows that are most similar by some measure."""
    X, y = unit_table(str(setting[0]))
    drawn = Draw(X, y, draw_labels(y, per_class=int(setting[1]), random_state=seed))
    if method in SIMILARITIES:
        return class_scores(drawn, named_classes(graph_of(SIMILARITIES[method]), drawn))
    return class_scores(drawn, CLASSIFIERS[method](drawn, seed))


# --- experiments ------------------------------------------------------------------------------------------------------

_NAMES = [(name,) for name in SETS]
_FEW_LABELS: list[Setting] = [(name, number) for name in ("two moons", *SETS) for number in PER_CLASS]
_FEWER_LABELS: list[Setting] = [(name, number) for name in ("two moons", "iris") for number in (1, 5)]

FIGURE_1 = Experiment(
    name="figure-1",
    title="K-means from random starts",
    varied=("set",),
    settings=_NAMES,
    quick=_NAMES,
    published=("K-means", "hierarchical"),
    elsewhere=("K-means", "hierarchical"),
    ours=("LabelledMixture", "BayesianMixture"),
    measures=GROUP_MEASURES,
    measure=measure_partition,
    seeds=20,
    quick_seeds=3,
    draw=lambda figure, summary: _draw_steps(figure),
)
FIGURE_2 = Experiment(
    name="figure-2",
    title="the objectives of EM and CEM",
    varied=("set",),
    settings=_NAMES,
    quick=_NAMES,
    published=("EM", "CEM"),
    ours=("LabelledMixture",),
    measures=(*GROUP_MEASURES, FALL, STEPS),
    measure=measure_mixture,
    seeds=20,
    quick_seeds=3,
    draw=lambda figure, summary: _draw_objectives(figure),
)
FIGURE_3 = Experiment(
    name="figure-3",
    title="EM and CEM on two Gaussians, by their distance",
    varied=("distance",),
    settings=[(distance,) for distance in DISTANCES],
    quick=[(distance,) for distance in DISTANCES],
    published=("EM", "CEM"),
    ours=("LabelledMixture",),
    measures=(*GROUP_MEASURES, FALL, STEPS),
    measure=measure_gaussians,
    seeds=50,
    quick_seeds=5,
    draw=curves("distance"),
)
FIGURE_4 = Experiment(
    name="figure-4",
    title="EM and CEM with labels against labelled rows alone",
    varied=("set", "labels"),
    settings=[(name, fraction) for name in (*SETS, "yeast") for fraction in FRACTIONS],
    quick=[(name, fraction) for name in ("iris", "wine") for fraction in (0.05, 0.2)],
    published=("labelled rows only", "EM with labels", "CEM with labels"),
    ours=("LabelledMixture", "BayesianMixture", "GraphPropagation"),
    measures=CLASS_MEASURES,
    measure=measure_fraction,
    seeds=20,
    quick_seeds=3,
    draw=curves("labels", panel="set", measure=FREE),
)
FIGURE_7 = Experiment(
    name="figure-7",
    title="self-training, by the labels of each class",
    varied=("set", "labels"),
    settings=_FEW_LABELS,
    quick=_FEWER_LABELS,
    published=("logistic regression", "self-training"),
    elsewhere=("logistic regression", "self-training"),
    ours=("CEM with labels", "LabelledMixture", "GraphPropagation"),
    measures=CLASS_MEASURES,
    measure=measure_per_class,
    seeds=20,
    quick_seeds=3,
    draw=curves("labels", panel="set", measure=FREE, logarithmic=True),
)
FIGURE_8 = Experiment(
    name="figure-8",
    title="labels spreading over a graph, by the labels of each class",
    varied=("set", "labels"),
    settings=_FEW_LABELS,
    quick=_FEWER_LABELS,
    published=tuple(GRAPHS),
    ours=("GraphPropagation", "LabelledMixture"),
    measures=(*CLASS_MEASURES, CRITERION),
    measure=measure_graph,
    seeds=20,
    quick_seeds=3,
    draw=curves("labels", panel="set", measure=FREE, logarithmic=True),
)
TABLE_1 = Experiment(
    name="table-1",
    title="similarity measures: labels spreading over the ten most similar rows",
    varied=("set", "labels"),
    settings=[(name, number) for name in SETS for number in (1, 5)],
    quick=[(name, 5) for name in SETS],
    published=tuple(SIMILARITIES),
    ours=("LabelledMixture",),
    measures=CLASS_MEASURES,
    measure=measure_similarity,
    seeds=20,
    quick_seeds=3,
)


# --- pictures ---------------------------------------------------------------------------------------------------------


def _draw_steps(figure: "Figure") -> None:
    """Draw K-means step by step on three clusters, from three random rows."""
    from sidelight.plots.figures import cluster_colours

    random = np.random.RandomState(4)
    X = np.concatenate([centre + random.normal(size=(60, 2)) for centre in ([0, 0], [4, 0], [2, 3.5])])
    centres, colours = X[random.permutation(60)[:3]], cluster_colours(3)
    figure.set_size_inches(12, 2.8)
    for step, axes in enumerate(figure.subplots(1, 5, sharex=True, sharey=True)):
        nearest = np.square(X[:, None] - centres).sum(axis=2).argmin(axis=1)
        axes.scatter(*X.T, s=8, c=colours[nearest], alpha=0.7, linewidths=0)
        axes.scatter(*centres.T, s=70, c=colours, marker="X", edgecolors="black", linewidths=0.8)
        axes.set_title(f"{step} steps" if step != 1 else "1 step", fontsize=9)
        centres = np.array([X[nearest == cluster].mean(axis=0) for cluster in range(3)])


def _draw_objectives(figure: "Figure") -> None:
    """Draw the objectives of EM and CEM by step, from the first start."""
    figure.set_size_inches(10, 3.2)
    for axes, name in zip(figure.subplots(1, len(SETS)), SETS, strict=True):
        drawn = draw_unlabelled(name)
        for method in FIGURE_2.published:
            heights = plain_mixture(method, drawn.n_classes, 0).fit(drawn.X).lower_bounds_
            axes.plot(heights, marker="o", markersize=3, lw=1.2, label=method)
        axes.set(title=name, xlabel="step")
        axes.spines[["top", "right"]].set_visible(False)
    figure.axes[0].set_ylabel("objective per row")
    figure.axes[-1].legend(frameon=False)


PAPER = Paper(
    name="amini",
    reference="Amini: Machine learning fundamentals, part II: unsupervised, semi-supervised learning (lecture)",
    protocol=PROTOCOL,
    experiments=(FIGURE_1, FIGURE_2, FIGURE_3, FIGURE_4, FIGURE_7, FIGURE_8, TABLE_1),
    claims=CLAIMS,
)
