"""How well a clustering fits the truth, and which statements of the user it breaks.

Adjusted Rand index, mutual information and the like are scikit-learn's own.
"""

from sidelight.metrics.accuracy import clustering_accuracy_score
from sidelight.metrics.purity import purity_accuracy_score, purity_score
from sidelight.metrics.rand import balanced_rand_score
from sidelight.metrics.violations import Violations, violations

__all__ = [
    "Violations",
    "balanced_rand_score",
    "clustering_accuracy_score",
    "purity_accuracy_score",
    "purity_score",
    "violations",
]
