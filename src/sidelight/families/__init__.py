"""Emissions: how the rows of a component are distributed. One family per file, with its column kind.

``gaussian`` holds Gaussians by maximum likelihood, ``conjugate`` families with conjugate priors, ``student`` Student t
components of both sorts, and ``evaluators`` the ways to compute log densities and sufficient statistics of a block of
rows.
"""

from sidelight.families.conjugate import (
    Atom,
    Bernoulli,
    Categorical,
    Ignored,
    Multinomial,
    NegativeBinomial,
    Ordinal,
    Poisson,
)
from sidelight.families.gaussian import Date, Gaussian
from sidelight.families.student import StudentT
from sidelight.tables.kinds import register_kind

for _kind in (
    Ignored,
    Gaussian,
    StudentT,
    Date,
    Atom,
    Poisson,
    NegativeBinomial,
    Ordinal,
    Bernoulli,
    Categorical,
    Multinomial,
):
    register_kind(_kind)
