"""Emissions: how the rows of a component are distributed. One family per file; they use the kernels and nothing else.

``gaussian`` holds Gaussians by maximum likelihood, ``conjugate`` families with conjugate priors, and ``evaluators`` the
ways to compute log densities and sufficient statistics of a block of rows.
"""
