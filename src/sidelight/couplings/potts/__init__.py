"""Labels, links and blocks as a Potts field: statements that the assignment of the rows makes more or less probable."""

from sidelight.couplings.potts.atoms import Atoms, atoms_of
from sidelight.couplings.potts.field import FieldMemory, PottsField
from sidelight.couplings.potts.plan import Plan, lay_stages

__all__ = ["Atoms", "FieldMemory", "Plan", "PottsField", "atoms_of", "lay_stages"]
