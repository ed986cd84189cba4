"""Sections 3.3 and 3.4 of Echraibi et al.: five real tables, a fraction of the rows labelled."""

from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache

import numpy as np
from sklearn.preprocessing import StandardScaler

from sidelight import BayesianMixture, GraphPropagation, HMRFKMeans, LabelledMixture
from sidelight._typing import FloatArray, IntArray
from sidelight.datasets import load
from sidelight.reproduce.echraibi.methods import FREE, MEASURES, Draw, fitted_labels, scores
from sidelight.reproduce.echraibi.published import SSDPGMM
from sidelight.reproduce.framework.drawing import curves
from sidelight.reproduce.framework.experiment import ONE_CLUSTER, Experiment, ReferenceValue, Setting

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


@lru_cache(maxsize=1)
def _table(name: str) -> tuple[FloatArray, IntArray]:
    X, y, _ = load(name)
    values = np.asarray(X, dtype=float)
    return StandardScaler().fit_transform(values) if name == "wine" else values, np.unique(y, return_inverse=True)[1]


def draw_labels_of(name: str, fraction: float, seed: int) -> Draw:
    """Return a set with a fraction of its rows labelled."""
    X, y = _table(name)
    labelled = np.random.default_rng(seed).permutation(len(y))[: round(fraction * len(y))]
    known = np.full(len(y), -1)
    known[labelled] = y[labelled]
    return Draw(X, y, known)


def measure_set(setting: Setting, method: str, seed: int) -> Mapping[str, float]:
    """Measure a method on a set with a fraction of its rows labelled."""
    name, fraction = str(setting[0]), float(setting[1])
    drawn = draw_labels_of(name, fraction, seed)
    n_classes = int(drawn.y.max()) + 1
    models = {
        "SS-DPGMM": lambda: SSDPGMM(TRUNCATION[name], random_state=seed),
        "HMRF-KMeans": lambda: HMRFKMeans(n_classes, random_state=seed),
        "BayesianMixture": lambda: BayesianMixture(
            family="gaussian", covariance_type="full", power=False, random_state=seed
        ),
        "LabelledMixture": lambda: LabelledMixture(covariance_type="full", accelerate=False, random_state=seed),
        "GraphPropagation": lambda: GraphPropagation(),
    }
    return scores(drawn, fitted_labels(drawn, models, method))


def _needs_labels(setting: Setting, method: str) -> bool:
    return float(setting[1]) > 0 or method not in ("HMRF-KMeans", "GraphPropagation")


_ALL = tuple((name, fraction) for name in TRUNCATION for fraction in FRACTIONS)
_OURS = ("BayesianMixture", "LabelledMixture", "GraphPropagation")
_QUICK = tuple((name, fraction) for name in ("iris", "wine", "glass") for fraction in (0.0, 0.2, 0.5))


def _best(table: Mapping[str, tuple[float, float, float]]) -> dict[tuple[Setting, str], ReferenceValue]:
    return {
        ((name, fraction), "SS-DPGMM"): ReferenceValue(value, is_best=True)
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
TABLE_1 = replace(
    FIGURE_8,
    name="table-1",
    title="accuracy without labels and with 20 and 50 %",
    settings=[setting for setting in _ALL if setting[1] in (0.0, 0.2, 0.5)],
    draw=curves("labels", panel="set", measure=FREE),
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
