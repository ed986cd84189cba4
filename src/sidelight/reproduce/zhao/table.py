"""Zhao and Miller 2005, table 1: five sets of the UCI repository."""

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from sklearn.decomposition import PCA
from sklearn.preprocessing import StandardScaler

from sidelight import ClassMixture, EquivalenceMixture, HMRFKMeans
from sidelight._typing import AnyArray, FloatArray
from sidelight.datasets import load
from sidelight.reproduce.framework.experiment import ONE_CLUSTER, Experiment, ReferenceValue, Setting
from sidelight.reproduce.zhao.methods import BY_BIC, FREE, RAND, RHO, RIGHT, linked, scores, shental_form

RIGHT_BY_BETA, COMPONENTS = "right by β", "components"
_TWO_EACH = "EquivalenceMixture, 2 per class"
_NOT_ZERO = 0.05
_COVARIANCES = ("full", "tied")
_STORED = {"breast cancer": "breast_cancer_wisconsin"}


class Row(NamedTuple):
    """A set of table 1: dimensions (None as they are), components, classes, and ρ, each with full and tied."""

    dimensions: int | None
    n_components: int
    n_classes: int
    sgmm: tuple[float, float]
    mcgmm: tuple[float, float]
    sgmm_before: tuple[float, float]
    mcgmm_before: tuple[float, float]


TABLE = {
    "ecoli": Row(5, 5, 3, (0.7925, 0.8615), (0.8525, 0.8742), (0.849, 0.842), (0.875, 0.882)),
    "liver": Row(None, 2, 2, (0.6348, 0.6527), (0.6946, 0.7221), (0.631, 0.665), (0.686, 0.712)),
    "pima": Row(6, 3, 2, (0.6394, 0.6255), (0.7103, 0.7410), (0.669, 0.714), (0.703, 0.724)),
    "breast cancer": Row(4, 5, 2, (0.9306, 0.9720), (0.9446, 0.9635), (0.939, 0.972), (0.948, 0.949)),
    "ionosphere": Row(15, 3, 2, (0.9054, 0.7963), (0.8884, 0.8041), (0.889, 0.745), (0.904, 0.803)),
}


@lru_cache(maxsize=2)
def _table(name: str) -> tuple[FloatArray, AnyArray]:
    """Return a set as the paper uses it."""
    X, y, _ = load(_STORED.get(name, name))
    if name == "ecoli":
        y = np.where(np.isin(y, ["cp", "pp"]), y, "membrane")
    scaled = StandardScaler().fit_transform(np.asarray(X, dtype=float))
    d = TABLE[name].dimensions
    return (scaled if d is None else PCA(d, random_state=0).fit_transform(scaled)), y


def measure_table(setting: Setting, method: str, seed: int) -> Mapping[str, float]:
    """Measure a method on a set with 30 % of its rows in links."""
    name, covariance_type = str(setting[0]), str(setting[1])
    X, y = _table(name)
    row, side = TABLE[name], linked(y, seed)
    options: dict[str, Any] = {"covariance_type": covariance_type, "random_state": seed}
    models: dict[str, Callable[[], Any]] = {
        "SGMM": lambda: shental_form(row.n_classes, X.shape[1], seed, covariance_type),
        "MCGMM": lambda: ClassMixture(row.n_components, **options),
        BY_BIC: lambda: ClassMixture(**options),
        "EquivalenceMixture": lambda: EquivalenceMixture(row.n_classes, **options),
        _TWO_EACH: lambda: EquivalenceMixture(row.n_classes, components_per_class=2, **options),
        "HMRFKMeans": lambda: HMRFKMeans(row.n_classes, random_state=seed),
    }
    model = None if method == ONE_CLUSTER else models[method]().fit(X, side=side)
    labels = np.zeros(len(y), dtype=int) if model is None else model.labels_
    n_found = len(np.unique(labels))
    by_beta = int((model.allocation_ > _NOT_ZERO).any(axis=0).sum()) if isinstance(model, ClassMixture) else n_found
    return {
        **scores(y, labels, ~side.mentioned),
        RIGHT: float(n_found == row.n_classes),
        RIGHT_BY_BETA: float(by_beta == row.n_classes),
        COMPONENTS: float(len(getattr(model, "means_", range(n_found)))),
    }


def _numbers(sgmm: str, mcgmm: str) -> dict[tuple[Setting, str], ReferenceValue]:
    return {
        ((name, covariance), method): ReferenceValue(value)
        for name, row in TABLE.items()
        for method, field in (("SGMM", sgmm), ("MCGMM", mcgmm))
        for covariance, value in zip(_COVARIANCES, getattr(row, field), strict=True)
    }


# Means ± standard deviations over the same 20 draws.
_EXPLAINED: Mapping[tuple[Setting, str], str] = {
    (
        ("ecoli", "full"),
        "SGMM",
    ): "in some draws a Gaussian closes in on the nearly constant columns, and the likelihood "
    "prefers that (.65 ± .05 from k-means alone); the print, .7925, lies between.",
    (("ecoli", "full"), "MCGMM"): "the start is the best of several; from k-means alone it is .880 ± .010.",
    (("liver", "tied"), "SGMM"): "links are taken as given; from k-means and with pairs taken as random it is "
    ".675 ± .024, which agrees.",
    (("liver", "tied"), "MCGMM"): "one class is found in 60 % of the draws and scores .734; where two are found, the "
    "mean is .711, which agrees.",
    (("breast cancer", "full"), "MCGMM"): "the start is the best of several; from k-means alone it is .945 ± .018, "
    "which agrees.",
    (("breast cancer", "tied"), "MCGMM"): "the start is the best of several; from k-means alone it is .956 ± .017, "
    "which agrees.",
    (("ionosphere", "tied"), "SGMM"): "the start is the best of several, some of which see the links; from k-means "
    "alone it is .776 ± .057, which agrees.",
}
TABLE_1 = Experiment(
    name="table-1",
    title="ρ on five sets, 30 % of the rows in links",
    varied=("set", "covariance"),
    settings=[(name, covariance) for name in TABLE for covariance in _COVARIANCES],
    published=("SGMM", "MCGMM"),
    ours=(BY_BIC, "EquivalenceMixture", _TWO_EACH, "HMRFKMeans"),
    measures=(RHO, FREE, RAND, RIGHT, RIGHT_BY_BETA, COMPONENTS),
    measure=measure_table,
    seeds=20,
    quick_seeds=2,
    printed=_numbers("sgmm", "mcgmm"),
    derived=_numbers("sgmm_before", "mcgmm_before"),
    explained=_EXPLAINED,
)
