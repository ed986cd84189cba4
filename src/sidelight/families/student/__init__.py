"""Student t emissions: Gaussians whose rows have latent scales, so that rows far out count less.

rows        log densities, scales and statistics of a block of rows, from distances
tails       the degrees of freedom
likelihood  the column kind, and components by maximum likelihood
conjugate   components with conjugate posteriors
"""

from sidelight.families.student.conjugate import DiagonalStudent, FullStudent, student_of
from sidelight.families.student.likelihood import LikelihoodStudent, StudentT
from sidelight.families.student.rows import StudentParameters, StudentStatistics

__all__ = [
    "DiagonalStudent",
    "FullStudent",
    "LikelihoodStudent",
    "StudentParameters",
    "StudentStatistics",
    "StudentT",
    "student_of",
]
