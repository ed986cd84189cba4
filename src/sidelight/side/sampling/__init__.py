"""Labels and links drawn from a ground truth, for experiments."""

from sidelight.side.sampling.labels import draw_labels
from sidelight.side.sampling.links import Links, draw_links
from sidelight.side.sampling.side import draw_side

__all__ = ["Links", "draw_labels", "draw_links", "draw_side"]
