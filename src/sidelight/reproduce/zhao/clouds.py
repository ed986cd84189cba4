"""Zhao and Miller 2005, figure 1: clouds of which several make a class."""

import warnings
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from sklearn.metrics import adjusted_rand_score, pairwise_distances, pairwise_distances_argmin

from sidelight import ClassMixture, EquivalenceMixture
from sidelight._typing import FloatArray, IntArray
from sidelight.datasets import three_components
from sidelight.reproduce.framework.experiment import ONE_CLUSTER, Experiment, Setting, Summary
from sidelight.reproduce.zhao.methods import BY_BIC, FREE, RAND, RHO, RIGHT, linked, scores, shental_form

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FOUND, FOUND_CLASSES = "components found", "classes found"
AS_CLASSES, AS_COMPONENTS = "SGMM, true classes", "SGMM, one per component"
_THREE, _EIGHT = "3 in 2", "8 in 3"


class Clouds(NamedTuple):
    """Rows of round clouds of unit width and equal size, their classes, the centres and the centres' classes."""

    X: FloatArray
    y: IntArray
    centres: FloatArray
    allocation: IntArray

    @property
    def best(self) -> IntArray:
        """The classes that the true components would give the rows."""
        return self.allocation[pairwise_distances_argmin(self.X, self.centres)]

    def components_found(self, means: FloatArray) -> bool:
        """Whether there is one mean within one width of each centre, and no other."""
        if len(means) != len(self.centres):
            return False
        nearest = pairwise_distances_argmin(self.centres, means)
        return len(np.unique(nearest)) == len(means) and bool(
            (pairwise_distances(self.centres, means).min(axis=1) < 1).all()
        )


def three_in_two(spacing: float, seed: int) -> Clouds:
    """Draw three clouds in a row, of which the outer two are one class."""
    X, y, _ = three_components(spacing=spacing, random_state=seed)
    return Clouds(X, y, spacing * np.array([[-1.0, 0.0], [0.0, 0.0], [1.0, 0.0]]), np.array([0, 1, 0]))


def eight_in_three(spacing: float, seed: int) -> Clouds:
    """Draw eight clouds on a grid, put into three classes at random."""
    random = np.random.RandomState(seed)
    centres = spacing * np.array([(i, j) for i in range(3) for j in range(3)], dtype=float)[:8]
    component = np.arange(800) % 8
    X = centres[component] + random.normal(size=(800, 2))
    allocation = random.permutation([0, 0, 0, 1, 1, 1, 2, 2])
    return Clouds(X, allocation[component], centres, allocation)


_DRAWN: Mapping[str, Callable[[float, int], Clouds]] = {_THREE: three_in_two, _EIGHT: eight_in_three}


def measure_clouds(setting: Setting, method: str, seed: int) -> Mapping[str, float]:
    """Measure whether a method finds the components and classes of clouds."""
    clouds = _DRAWN[str(setting[0])](float(setting[1]), seed)
    side = linked(clouds.y, seed)
    model = None if method == ONE_CLUSTER else _cloud_model(clouds, method, seed).fit(clouds.X, side=side)
    labels = np.zeros(len(clouds.y), dtype=int) if model is None else model.labels_
    return {
        **scores(clouds.y, labels, ~side.mentioned),
        FOUND: float(model is not None and clouds.components_found(model.means_)),
        FOUND_CLASSES: float(adjusted_rand_score(clouds.best, labels) > 0.85),
        RIGHT: float(len(np.unique(labels)) == len(np.unique(clouds.y))),
    }


def _cloud_model(clouds: Clouds, method: str, seed: int) -> Any:
    n_components, n_classes = len(clouds.centres), len(np.unique(clouds.allocation))
    models: dict[str, Callable[[], Any]] = {
        AS_CLASSES: lambda: shental_form(n_classes, 2, seed),
        AS_COMPONENTS: lambda: shental_form(n_components, 2, seed),
        "MCGMM": lambda: ClassMixture(n_components, random_state=seed),
        BY_BIC: lambda: ClassMixture(random_state=seed),
        "EquivalenceMixture": lambda: EquivalenceMixture(n_classes, random_state=seed),
    }
    return models[method]()


def _draw_clouds(figure: "Figure", summary: Summary) -> None:
    """Draw what each published method makes of the first draw, with the links."""
    from sidelight.plots import ClustersDisplay

    shown = [
        next(s for s in summary.settings if s[0] == kind) for kind in dict.fromkeys(s[0] for s in summary.settings)
    ]
    figure.set_size_inches(12, 3.6 * len(shown))
    grid = figure.subplots(len(shown), 3, squeeze=False)
    for line, setting in zip(grid, shown, strict=True):
        clouds = _DRAWN[str(setting[0])](float(setting[1]), 0)
        side = linked(clouds.y, 0)
        for ax, method in zip(line, summary.experiment.published, strict=True):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # the published form need not converge
                model = _cloud_model(clouds, method, 0).fit(clouds.X, side=side)
            ClustersDisplay.from_estimator(model, clouds.X, side=side, ax=ax)
            ax.get_legend().remove()
            ax.set_title(f"{setting[0]}: {method}", fontsize=10)
    figure.supxlabel(
        "lines: must-links, dashed: cannot-links; ellipses: two standard deviations of a component", fontsize=10
    )


FIGURE_1 = Experiment(
    name="figure-1",
    title="clouds of which several make a class, 30 % of the rows in links",
    varied=("clouds", "spacing"),
    settings=[(_THREE, 5.0), (_THREE, 4.0), (_EIGHT, 6.0), (_EIGHT, 4.5)],
    quick=[(_THREE, 5.0), (_EIGHT, 6.0)],
    published=(AS_CLASSES, AS_COMPONENTS, "MCGMM"),
    ours=(BY_BIC, "EquivalenceMixture"),
    measures=(RHO, FREE, RAND, FOUND, FOUND_CLASSES, RIGHT),
    measure=measure_clouds,
    seeds=20,
    quick_seeds=2,
    draw=_draw_clouds,
)
