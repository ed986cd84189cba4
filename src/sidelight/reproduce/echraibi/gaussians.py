"""Sections 3.1 and 3.2 of Echraibi et al.: four Gaussians, in three classes or with two views."""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from sidelight import BayesianMixture
from sidelight._typing import AnyArray, FloatArray
from sidelight.datasets import four_gaussians, two_views
from sidelight.reproduce.echraibi.methods import CLUSTERS, MEASURES, Draw, fitted_labels, scores
from sidelight.reproduce.echraibi.published import SSDPGMM
from sidelight.reproduce.framework.experiment import Experiment, Setting, Summary

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def draw_middles(middles: str, seed: int) -> Draw:
    """Return four Gaussians of which the middle two are one class, with 5, 5 and 10 % labelled."""
    X, y, _ = four_gaussians(half_distance={"close": 1.2, "far": 4.0}[middles], random_state=seed)
    random = np.random.default_rng(seed)
    known = np.full(len(y), -1)
    for label, fraction in ((0, 0.05), (1, 0.05), (2, 0.10)):
        rows = np.flatnonzero(y == label)
        known[random.choice(rows, round(fraction * len(rows)), replace=False)] = label
    return Draw(X, y, known)


def draw_view(view: str, seed: int) -> Draw:
    """Return four Gaussians with 10 % of one of two views labelled."""
    X, y, _ = two_views(view=view, random_state=seed)
    known = np.full(len(y), -1)
    labelled = np.random.default_rng(seed).permutation(len(y))[: len(y) // 10]
    known[labelled] = y[labelled]
    return Draw(X, y, known)


def _published(truncation: int, seed: int) -> SSDPGMM:
    return SSDPGMM(truncation, weights="dirichlet_process", concentration=1.0, random_state=seed)


def _models(truncation: int, seed: int) -> dict[str, Any]:
    return {
        "DPGMM": lambda: _published(truncation, seed),
        "SS-DPGMM": lambda: _published(truncation, seed),
        "BayesianMixture": lambda: BayesianMixture(
            truncation, family="gaussian", covariance_type="full", power=False, random_state=seed
        ),
    }


def _labels_for(drawn: Draw, method: str) -> Draw:
    """Return the draw as a method sees it: the classical model sees no labels."""
    return drawn._replace(known=np.full(len(drawn.y), -1)) if method == "DPGMM" else drawn


def _synthetic_scores(drawn: Draw, labels: AnyArray) -> dict[str, float]:
    found = scores(drawn, labels)
    return {**found, "right number": float(found[CLUSTERS] == len(np.unique(drawn.y)))}


_SYNTHETIC_MEASURES = (*MEASURES, "right number")


def measure_middles(truncation: int, setting: Setting, method: str, seed: int) -> Mapping[str, float]:
    """Measure on experiment 3.1."""
    drawn = draw_middles(str(setting[0]), seed)
    return _synthetic_scores(drawn, fitted_labels(_labels_for(drawn, method), _models(truncation, seed), method))


def measure_view(setting: Setting, method: str, seed: int) -> Mapping[str, float]:
    """Measure on experiment 3.2."""
    drawn = draw_view(str(setting[0]), seed)
    truncation = int(setting[1])
    return _synthetic_scores(drawn, fitted_labels(drawn, _models(truncation, seed), method))


def _draw_iterations_of(truncation: int, middles: str) -> Any:
    def draw(figure: "Figure", summary: Summary) -> None:
        drawn = draw_middles(middles, 0)
        rows = [
            (f"classical, T = {truncation}", drawn.X, _fitted(_labels_for(drawn, "DPGMM"), _published(truncation, 0))),
            (f"with labels, T = {truncation}", drawn.X, _fitted(drawn, _published(truncation, 0))),
            (
                "BayesianMixture",
                drawn.X,
                _fitted(
                    drawn,
                    BayesianMixture(truncation, family="gaussian", covariance_type="full", power=False, random_state=0),
                ),
            ),
        ]
        _draw_iterations(figure, rows)

    return draw


def _draw_views(figure: "Figure", summary: Summary) -> None:
    rows = []
    for view in ("horizontal", "vertical"):
        drawn = draw_view(view, 0)
        rows.append((f"{view} labels, T = 3", drawn.X, _fitted(drawn, _published(3, 0))))
    _draw_iterations(figure, rows)


def _fitted(drawn: Draw, model: BayesianMixture) -> BayesianMixture:
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
    published=("DPGMM", "SS-DPGMM"),
    ours=("BayesianMixture",),
    measures=_SYNTHETIC_MEASURES,
    measure=partial(measure_middles, 4),
    seeds=20,
    quick_seeds=5,
    draw=_draw_iterations_of(4, "close"),
)
FIGURE_4 = replace(
    FIGURE_3,
    name="figure-4",
    title="four Gaussians in three classes, T = 10",
    measure=partial(measure_middles, 10),
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
