"""Emissions: what the rows of a component look like, one family per file, each with its column kind."""

from sidelight.families import provisional_kinds  # noqa: F401  (registers the kinds)
