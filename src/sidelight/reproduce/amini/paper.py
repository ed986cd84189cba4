"""Amini's lecture: the experiments, their pictures, and the verdicts on the claims."""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from sidelight.reproduce.amini.methods import (
    CLASS_MEASURES,
    CRITERION,
    FALL,
    FREE,
    GRAPHS,
    GROUP_MEASURES,
    PURITY,
    SETS,
    SIMILARITIES,
    STEPS,
    draw_fraction,
    draw_gaussians,
    draw_per_class,
    draw_unlabelled,
    measure_classes,
    measure_graph,
    measure_mixture,
    measure_partition,
    plain_mixture,
)
from sidelight.reproduce.framework.drawing import curves
from sidelight.reproduce.framework.experiment import Claim, Experiment, Paper, Setting, Summary, Verdict, graded

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_FRACTIONS = (0.05, 0.2, 0.5)
_PER_CLASS = (1, 2, 5, 10)
_DISTANCES = (1.0, 2.0, 3.0, 4.0, 6.0)
_FEW_LABELS: list[Setting] = [(name, number) for name in ("two moons", *SETS) for number in _PER_CLASS]
_FEWER_LABELS: list[Setting] = [(name, number) for name in ("two moons", "iris") for number in (1, 5)]

FIGURE_1 = Experiment(
    name="figure-1",
    title="K-means from random starts",
    varied=("set",),
    settings=[(name,) for name in SETS],
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
    settings=[(name,) for name in SETS],
    published=("EM", "CEM"),
    ours=("LabelledMixture",),
    measures=(*GROUP_MEASURES, FALL, STEPS),
    measure=partial(measure_mixture, draw_unlabelled),
    seeds=20,
    quick_seeds=3,
    draw=lambda figure, summary: _draw_objectives(figure),
)
FIGURE_3 = Experiment(
    name="figure-3",
    title="EM and CEM on two Gaussians, by their distance",
    varied=("distance",),
    settings=[(distance,) for distance in _DISTANCES],
    published=("EM", "CEM"),
    ours=("LabelledMixture",),
    measures=(*GROUP_MEASURES, FALL, STEPS),
    measure=partial(measure_mixture, draw_gaussians),
    seeds=50,
    quick_seeds=5,
    draw=curves("distance"),
)
FIGURE_4 = Experiment(
    name="figure-4",
    title="EM and CEM with labels against labelled rows alone",
    varied=("set", "labels"),
    settings=[(name, fraction) for name in (*SETS, "yeast") for fraction in _FRACTIONS],
    quick=[(name, fraction) for name in ("iris", "wine") for fraction in (0.05, 0.2)],
    published=("labelled rows only", "EM with labels", "CEM with labels"),
    ours=("LabelledMixture", "BayesianMixture", "GraphPropagation"),
    measures=CLASS_MEASURES,
    measure=partial(measure_classes, draw_fraction),
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
    measure=partial(measure_classes, draw_per_class),
    seeds=20,
    quick_seeds=3,
    draw=curves("labels", panel="set", measure=FREE, logarithmic=True),
)
FIGURE_8 = replace(
    FIGURE_7,
    name="figure-8",
    title="labels spreading over a graph, by the labels of each class",
    published=tuple(GRAPHS),
    elsewhere=(),
    ours=("GraphPropagation", "LabelledMixture"),
    measures=(*CLASS_MEASURES, CRITERION),
    measure=measure_graph,
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
    measure=partial(measure_classes, partial(draw_per_class, unit=True)),
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


# --- claims -----------------------------------------------------------------------------------------------------------


def _starts_matter(figure_1: Summary) -> Verdict:
    spread = {setting[0]: figure_1.cells[setting, "K-means"] for setting in figure_1.settings}
    ranges = [float(np.ptp(cell.values[PURITY])) for cell in spread.values()]
    said = "; ".join(
        f"{name} {cell.values[PURITY].min():.3f} to {cell.best(PURITY):.3f}, sd {cell.sd(PURITY):.3f}"
        for name, cell in spread.items()
    )
    return graded(ranges, 0.05, f"purity of K-means over random starts: {said}")


def _ward_is_determined(figure_1: Summary) -> Verdict:
    ranges = {s[0]: float(np.ptp(figure_1.cells[s, "hierarchical"].values[PURITY])) for s in figure_1.settings}
    said = ", ".join(f"{name} {value:g}" for name, value in ranges.items())
    return graded([float(value == 0) for value in ranges.values()], 1.0, f"range of purity over draws: {said}")


def _never_falls(*figures: Summary) -> Verdict:
    falls = {
        method: max(
            float(figure.cells[setting, method].values[FALL].max()) for figure in figures for setting in figure.settings
        )
        for method in ("EM", "CEM")
    }
    said = ", ".join(f"{method} {fall:.1e}" for method, fall in falls.items())
    return graded([float(fall <= 1e-9) for fall in falls.values()], 1.0, f"greatest fall per row in any step: {said}")


def _as_good_as_em(figure_3: Summary) -> Verdict:
    gains = {setting[0]: figure_3.gain(setting, "CEM", "EM") for setting in figure_3.settings}
    said = "; ".join(f"{distance} sd apart {gain}" for distance, gain in gains.items())
    comparable = [float(not (-gain).is_sure) for gain in gains.values()]
    return graded(comparable, 1.0, f"purity of CEM over EM: {said}")


def _ahead(summary: Summary, pairs: Mapping[str, str], settings: list[Setting]) -> Verdict:
    """Judge whether methods are ahead of others on rows without a label, by more than two standard errors."""
    gains = [
        (setting, method, summary.gain(setting, method, over, FREE))
        for setting in settings
        for method, over in pairs.items()
    ]
    behind = sum((-gain).is_sure for _, _, gain in gains)
    said = "; ".join(f"{setting[0]} {setting[1]:g}, {method} {gain}" for setting, method, gain in gains)
    sure = [float(gain.is_sure) for _, _, gain in gains]
    return graded(sure, 1.0, f"surely ahead in {sum(sure):.0f} and surely behind in {behind} of {len(gains)}: {said}")


def _unlabelled_rows_help(figure_4: Summary) -> Verdict:
    over = dict.fromkeys(("EM with labels", "CEM with labels"), "labelled rows only")
    return _ahead(figure_4, over, figure_4.settings)


def _collapses_on_yeast(figure_4: Summary) -> Verdict:
    lowest, highest = 0.22, 0.38
    fractions = [setting for setting in figure_4.settings if setting[0] == "yeast"]
    cells = {setting[1]: figure_4.cells[setting, "EM with labels"] for setting in fractions}
    # Both runs are means of draws, of about the same error.
    errors = {fraction: 2 * 2**0.5 * cell.standard_error(FREE) for fraction, cell in cells.items()}
    inside = [
        float(lowest - errors[fraction] <= cell.mean(FREE) <= highest + errors[fraction])
        for fraction, cell in cells.items()
    ]
    said = "; ".join(
        f"{fraction:.0%} labelled {cell.mean(FREE):.3f} ± {cell.sd(FREE):.3f}" for fraction, cell in cells.items()
    )
    return graded(inside, 1.0, f"accuracy on rows without a label, inside within two standard errors: {said}")


def _self_training_helps(figure_7: Summary) -> Verdict:
    return _ahead(figure_7, {"self-training": "logistic regression"}, figure_7.settings)


def _graphs_follow_moons(figure_8: Summary) -> Verdict:
    moons = [setting for setting in figure_8.settings if setting[0] == "two moons"]
    return _ahead(figure_8, dict.fromkeys(("binary", "Gaussian"), "LabelledMixture"), moons)


def _printed_minimum(figure_8: Summary) -> Verdict:
    right, printed = "Gaussian", "Gaussian, as printed"
    above = [figure_8.gain(setting, printed, right, CRITERION) for setting in figure_8.settings]
    changed = [figure_8.gain(setting, printed, right, FREE).mean for setting in figure_8.settings]
    higher = sum(gain.mean > 1e-9 for gain in above)
    said = (
        f"the criterion is higher at the printed solution in {higher} of {len(above)} cells, by "
        f"{np.mean([gain.mean for gain in above]):.4f} on average; the accuracy changes by {min(changed):+.4f} to "
        f"{max(changed):+.4f}"
    )
    return Verdict("does not hold" if higher else "holds", said)


PAPER = Paper(
    name="amini",
    reference="Amini: Machine learning fundamentals, part II: unsupervised, semi-supervised learning (lecture)",
    experiments=(FIGURE_1, FIGURE_2, FIGURE_3, FIGURE_4, FIGURE_7, FIGURE_8, TABLE_1),
    claims=(
        Claim("Partitioning mainly depends on the initialisation.", ("figure-1",), _starts_matter),
        Claim("Hierarchical methods are purely deterministic.", ("figure-1",), _ward_is_determined),
        Claim(
            "Each step of EM raises the likelihood, each step of CEM the classification likelihood.",
            ("figure-2", "figure-3"),
            _never_falls,
        ),
        Claim("Groups can be found by CEM as by EM.", ("figure-3",), _as_good_as_em),
        Claim(
            "Semi-supervised learning enhances supervised models by the structure of unlabelled data (EM, CEM).",
            ("figure-4",),
            _unlabelled_rows_help,
        ),
        Claim(
            "Found before, not in the lecture: full-weight EM with labels collapses on yeast, to between .22 and .38.",
            ("figure-4",),
            _collapses_on_yeast,
        ),
        Claim("Self-training uses unlabelled rows to place the boundary better.", ("figure-7",), _self_training_helps),
        Claim(
            "On a manifold, propagating labels over the graph takes advantage of it.",
            ("figure-8",),
            _graphs_follow_moons,
        ),
        Claim("The minimum of the criterion is (S + λ(D − W))⁻¹SY.", ("figure-8",), _printed_minimum),
    ),
)
