"""Draw the pictures of the pages on concepts and on GuidedMixture: ``python docs/pictures.py``."""

from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.patches import Ellipse
from sklearn.datasets import load_wine

from sidelight import GuidedMixture, SideInformation
from sidelight.plots import ExpertsDisplay

IMAGES = Path(__file__).parent / "images"
COLOURS = np.array(["#4477aa", "#ee6677", "#228833", "#ccbb44"])
GREY, INK = "#b8b8b8", "#303030"
CENTRES = np.array([[0.0, 0.0], [3.2, 0.4], [1.4, 2.8]])


def points() -> tuple[np.ndarray, np.ndarray]:
    """Return thirty-six points in three groups, and their groups."""
    random = np.random.default_rng(4)
    group = np.repeat(np.arange(3), 12)
    return CENTRES[group] + random.normal(0, 0.5, (36, 2)), group


def clean(axis: plt.Axes, title: str) -> None:
    """Leave the points and the title."""
    axis.set(xticks=[], yticks=[], aspect="equal")
    axis.set_title(title, fontsize=12, color=INK)
    axis.spines[:].set_color("#dddddd")


def line(axis: plt.Axes, X: np.ndarray, first: int, second: int, **style: object) -> None:
    """Draw a line between two points."""
    axis.plot(*X[[first, second]].T, linewidth=2, zorder=1, **style)


def statements() -> None:
    """Draw the four kinds of statement."""
    X, group = points()
    figure, axes = plt.subplots(1, 4, figsize=(14, 3.6))
    for axis, title in zip(axes, ("labels", "must-links", "cannot-links", "a block"), strict=True):
        axis.scatter(*X.T, s=45, color=GREY, zorder=2)
        clean(axis, title)
    for row, name in ((2, "a"), (14, "b"), (27, "c"), (30, "c")):
        axes[0].scatter(*X[row], s=80, color=COLOURS[group[row]], zorder=3)
        axes[0].annotate(name, X[row], xytext=(6, 6), textcoords="offset points", fontsize=13, color=INK)
    for first, second in ((1, 5), (13, 20), (25, 33)):
        line(axes[1], X, first, second, color=INK)
    for first, second in ((3, 15), (17, 28), (8, 26)):
        line(axes[2], X, first, second, color=INK, linestyle="--")
    members = np.flatnonzero(group == 2)[:5]
    axes[3].scatter(*X[members].T, s=150, facecolors="none", edgecolors=INK, linewidths=1.8, zorder=3)
    figure.tight_layout()
    figure.savefig(IMAGES / "concepts-statements.png", dpi=80)


def chunklets() -> None:
    """Draw what follows from statements."""
    X, _ = points()
    figure, axes = plt.subplots(1, 2, figsize=(9, 3.8))
    must, cannot = ((24, 26), (26, 30), (12, 18)), ((24, 12),)
    for axis, title in zip(axes, ("what was stated", "what follows"), strict=True):
        axis.scatter(*X.T, s=40, color=GREY, zorder=2)
        for first, second in must:
            line(axis, X, first, second, color=INK)
        for first, second in cannot:
            line(axis, X, first, second, color=INK, linestyle="--")
        clean(axis, title)
    for rows, colour in (([24, 26, 30], COLOURS[2]), ([12, 18], COLOURS[1])):
        axes[1].scatter(*X[rows].T, s=110, color=colour, zorder=3)
    for first in (24, 26, 30):
        for second in (12, 18):
            line(axes[1], X, first, second, color=INK, linestyle=":", alpha=0.35)
    figure.tight_layout()
    figure.savefig(IMAGES / "concepts-chunklets.png", dpi=80)


def components() -> None:
    """Draw components, classes and clusters."""
    random = np.random.default_rng(1)
    centres = np.array([[0.0, 0.0], [1.8, 1.3], [3.8, 1.0], [1.5, -2.6]])
    classes = np.array([0, 0, 0, 1])
    component = np.repeat(np.arange(4), 20)
    X = centres[component] + random.normal(0, 0.45, (80, 2))
    figure, axes = plt.subplots(1, 3, figsize=(12, 3.8))
    for axis, title in zip(
        axes, ("components: densities", "classes: groups of components", "clusters: rows"), strict=True
    ):
        clean(axis, title)
    for axis, colours in ((axes[0], COLOURS), (axes[1], COLOURS[classes])):
        axis.scatter(*X.T, s=25, color=GREY)
        for centre, colour in zip(centres, colours, strict=True):
            axis.add_patch(Ellipse(centre, 2.2, 2.2, facecolor=colour, alpha=0.3, edgecolor=colour))
    axes[1].annotate("hound", centres[1], ha="center", fontsize=14, color=INK)
    axes[1].annotate("new 1", centres[3], ha="center", fontsize=14, color=INK)
    axes[2].scatter(*X.T, s=35, color=COLOURS[classes[component]])
    axes[2].annotate("cluster 0: hound", centres[1] + [0, 1.4], ha="center", fontsize=12, color=INK)
    axes[2].annotate("cluster 1: new 1", centres[3] + [0, -1.5], ha="center", fontsize=12, color=INK)
    axes[2].set_ylim(-4.6, 3.4)
    figure.tight_layout()
    figure.savefig(IMAGES / "concepts-components.png", dpi=80)


def experts() -> None:
    """Draw what each expert says of the wines on the page about GuidedMixture."""
    X, cultivar = load_wine(return_X_y=True, as_frame=True)
    y = np.full(178, None, dtype=object)
    labelled = np.random.default_rng(0).permutation(178)[:30]
    y[labelled] = np.array(["Barolo", "Grignolino", "Barbera"], dtype=object)[cultivar][labelled]
    model = GuidedMixture(random_state=0).fit(X, y)
    display = ExpertsDisplay.from_estimator(model, X, side=SideInformation.build(178, y=y))
    display.figure_.savefig(IMAGES / "experts.png", dpi=80)


if __name__ == "__main__":
    statements()
    chunklets()
    components()
    experts()
