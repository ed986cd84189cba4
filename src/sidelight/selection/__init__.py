"""Model selection: the number of components, the structure of covariances, the strength of side information.

Folds and scorers for scikit-learn's own cross-validation are here too.
"""

from sidelight.selection.folds import LinkedKFold
from sidelight.selection.number import select_n_components
from sidelight.selection.result import Selection
from sidelight.selection.scorers import LinkScorer, labelled_accuracy
from sidelight.selection.strength import select_strength
from sidelight.selection.structure import StructureSelection, select_structure

__all__ = [
    "LinkScorer",
    "LinkedKFold",
    "Selection",
    "StructureSelection",
    "labelled_accuracy",
    "select_n_components",
    "select_strength",
    "select_structure",
]
