"""Model selection: the number of components, the structure of covariances, and the strength of side information."""

from sidelight.selection.number import select_n_components
from sidelight.selection.result import Selection
from sidelight.selection.strength import select_strength
from sidelight.selection.structure import StructureSelection, select_structure

__all__ = ["Selection", "StructureSelection", "select_n_components", "select_strength", "select_structure"]
