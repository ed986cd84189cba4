"""The Bayesian mixture."""
