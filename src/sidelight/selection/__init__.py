"""Model selection: the number of components, and the strength of side information."""

from sidelight.selection.number import select_n_components
from sidelight.selection.result import Selection
from sidelight.selection.strength import select_strength

__all__ = ["Selection", "select_n_components", "select_strength"]
