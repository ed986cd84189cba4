"""How well a clustering agrees with the true classes, and which statements of the user it breaks.

The adjusted Rand index, mutual information and similar scores are in scikit-learn.
"""

from sidelight.metrics.scores import (
    balanced_rand_score,
    clustering_accuracy_score,
    purity_accuracy_score,
    purity_score,
)
from sidelight.metrics.violations import Suspicions, Violations, violations

__all__ = [
    "Suspicions",
    "Violations",
    "balanced_rand_score",
    "clustering_accuracy_score",
    "purity_accuracy_score",
    "purity_score",
    "violations",
]
