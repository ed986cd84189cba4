"""Semi-supervised clustering with mixture models.

Clustering for people who know a little about their data: a few labels, some pairs that belong together or apart, some
rows that form a block.
"""

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from sidelight._version import __version__
from sidelight.estimators.registry import MODULES, all_estimators

if TYPE_CHECKING:
    from sidelight.baselines import (
        ConstrainedKernelKMeans,
        ConstrainedSpectralClustering,
        COPKMeans,
        GraphPropagation,
        HMRFKMeans,
        SeededKMeans,
    )
    from sidelight.estimators.bayesian.mixture import BayesianMixture
    from sidelight.estimators.class_mixture import ClassMixture
    from sidelight.estimators.equivalence import EquivalenceMixture
    from sidelight.estimators.guided.mixture import GuidedMixture
    from sidelight.estimators.labelled import LabelledMixture
    from sidelight.estimators.latent_process import LatentProcessDecomposition
    from sidelight.estimators.pairwise import PairwiseMixture
    from sidelight.estimators.posterior_constraint import PosteriorConstraintMixture
    from sidelight.persistence import load, save
    from sidelight.side import SideInformation
    from sidelight.tables.parquet import ParquetTable

__all__ = [
    "BayesianMixture",
    "COPKMeans",
    "ClassMixture",
    "ConstrainedKernelKMeans",
    "ConstrainedSpectralClustering",
    "EquivalenceMixture",
    "GraphPropagation",
    "GuidedMixture",
    "HMRFKMeans",
    "LabelledMixture",
    "LatentProcessDecomposition",
    "PairwiseMixture",
    "ParquetTable",
    "PosteriorConstraintMixture",
    "SeededKMeans",
    "SideInformation",
    "__version__",
    "all_estimators",
    "load",
    "save",
]

_MODULES = {
    **MODULES,
    "ParquetTable": "sidelight.tables.parquet",
    "SideInformation": "sidelight.side",
    "load": "sidelight.persistence",
    "save": "sidelight.persistence",
}


if not TYPE_CHECKING:  # so that type checkers still find names that do not exist

    def __getattr__(name: str) -> Any:
        """Import an estimator, a function or a subpackage when it is first used."""
        if name in _MODULES:
            value = getattr(import_module(_MODULES[name]), name)
            globals()[name] = value
            return value
        if not name.startswith("_") and find_spec(f"{__name__}.{name}") is not None:
            return import_module(f"{__name__}.{name}")
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
