"""How many components, and how far to trust what is said: choices that fits alone do not make."""

from sidelight.selection.number import select_n_components
from sidelight.selection.result import Selection
from sidelight.selection.strength import select_strength

__all__ = ["Selection", "select_n_components", "select_strength"]
