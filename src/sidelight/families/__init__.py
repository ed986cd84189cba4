"""Emissions: how the rows of a component are distributed. One family per file, with its column kind.

``gaussian`` holds Gaussians by maximum likelihood, ``conjugate`` families with conjugate priors, and ``evaluators`` the
ways to compute log densities and sufficient statistics of a block of rows.
"""

from sidelight.families import conjugate  # noqa: F401  (registers the kinds of columns)
