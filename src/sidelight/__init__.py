"""Semi-supervised clustering with mixture models.

Clustering for people who know a little about their data: a few labels, some pairs that belong together or apart, some
rows that form a block.
"""

from sidelight._version import __version__
from sidelight.baselines import (
    ConstrainedKernelKMeans,
    ConstrainedSpectralClustering,
    COPKMeans,
    GraphPropagation,
    HMRFKMeans,
    SeededKMeans,
)
from sidelight.estimators.labelled import LabelledMixture
from sidelight.estimators.latent_process import LatentProcessDecomposition
from sidelight.estimators.registry import all_estimators
from sidelight.side import SideInformation

__all__ = [
    "COPKMeans",
    "ConstrainedKernelKMeans",
    "ConstrainedSpectralClustering",
    "GraphPropagation",
    "HMRFKMeans",
    "LabelledMixture",
    "LatentProcessDecomposition",
    "SeededKMeans",
    "SideInformation",
    "__version__",
    "all_estimators",
]
