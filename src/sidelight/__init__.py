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
from sidelight.estimators.bayesian.mixture import BayesianMixture
from sidelight.estimators.class_mixture import ClassMixture
from sidelight.estimators.equivalence import EquivalenceMixture
from sidelight.estimators.labelled import LabelledMixture
from sidelight.estimators.latent_process import LatentProcessDecomposition
from sidelight.estimators.pairwise import PairwiseMixture
from sidelight.estimators.posterior_constraint import PosteriorConstraintMixture
from sidelight.estimators.registry import all_estimators
from sidelight.persistence import load, save
from sidelight.side import SideInformation

__all__ = [
    "BayesianMixture",
    "COPKMeans",
    "ClassMixture",
    "ConstrainedKernelKMeans",
    "ConstrainedSpectralClustering",
    "EquivalenceMixture",
    "GraphPropagation",
    "HMRFKMeans",
    "LabelledMixture",
    "LatentProcessDecomposition",
    "PairwiseMixture",
    "PosteriorConstraintMixture",
    "SeededKMeans",
    "SideInformation",
    "__version__",
    "all_estimators",
    "load",
    "save",
]
