"""Draw labels and links from a ground truth, for experiments."""

from sidelight.side.sampling.both import draw_side
from sidelight.side.sampling.labels import draw_labels, rank_within
from sidelight.side.sampling.links import Links, draw_links

__all__ = ["Links", "draw_labels", "draw_links", "draw_side", "rank_within"]
