"""Labels, links and blocks as a Potts field: statements that the assignment of the rows makes more or less probable.

plan   atoms of rows that must share a component, and the stages in which they are updated
field  the coupling with a constant potential, whose objective is a bound
"""

from sidelight.couplings.potts.field import FieldMemory, PottsField
from sidelight.couplings.potts.plan import Atoms, Plan, atoms_of, lay_stages

__all__ = ["Atoms", "FieldMemory", "Plan", "PottsField", "atoms_of", "lay_stages"]
