"""Methods that the papers compare with: k-means with constraints, kernel, spectral and graph methods.

cop_kmeans     no link is broken
seeded_kmeans  labels as starts
hmrf_kmeans    broken links cost, the metric may be learned
kernel_kmeans  links added to a kernel
spectral       links added to a graph
propagation    labels spread over a graph
base           the fit they share
support        the algorithms they are made of
"""

from sidelight.baselines.cop_kmeans import COPKMeans
from sidelight.baselines.hmrf_kmeans import HMRFKMeans
from sidelight.baselines.kernel_kmeans import ConstrainedKernelKMeans
from sidelight.baselines.propagation import GraphPropagation
from sidelight.baselines.seeded_kmeans import SeededKMeans
from sidelight.baselines.spectral import ConstrainedSpectralClustering
from sidelight.exceptions import InfeasibleError

__all__ = [
    "COPKMeans",
    "ConstrainedKernelKMeans",
    "ConstrainedSpectralClustering",
    "GraphPropagation",
    "HMRFKMeans",
    "InfeasibleError",
    "SeededKMeans",
]
