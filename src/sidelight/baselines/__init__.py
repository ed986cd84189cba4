"""What the papers compare with and mixtures do not cover: k-means with constraints, kernel, spectral, graph methods."""

from sidelight.baselines.cop_kmeans import COPKMeans
from sidelight.baselines.hmrf_kmeans import HMRFKMeans
from sidelight.baselines.infeasible import InfeasibleError
from sidelight.baselines.kernel_kmeans import ConstrainedKernelKMeans
from sidelight.baselines.propagation import GraphPropagation
from sidelight.baselines.seeded_kmeans import SeededKMeans
from sidelight.baselines.spectral import ConstrainedSpectralClustering

__all__ = [
    "COPKMeans",
    "ConstrainedKernelKMeans",
    "ConstrainedSpectralClustering",
    "GraphPropagation",
    "HMRFKMeans",
    "InfeasibleError",
    "SeededKMeans",
]
