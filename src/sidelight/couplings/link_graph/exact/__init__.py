"""Exact inference on pieces of a link graph: see the map in :mod:`sidelight.couplings.link_graph`."""
