"""Labels, links and blocks as a Potts field: statements that the assignment of the rows makes more or less probable."""

from sidelight.couplings.field.atoms import Atoms, atoms_of
from sidelight.couplings.field.plan import Plan, lay_stages
from sidelight.couplings.field.potts import FieldMemory, PottsField

__all__ = ["Atoms", "FieldMemory", "Plan", "PottsField", "atoms_of", "lay_stages"]
