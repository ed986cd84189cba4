"""Side information: labels, links and blocks of the rows of a table, and what follows from them."""

from sidelight.exceptions import ContradictionError
from sidelight.side.annotations import Annotations
from sidelight.side.closure import Closure
from sidelight.side.information import SideInformation
from sidelight.side.sampling.both import draw_side
from sidelight.side.sampling.labels import draw_labels
from sidelight.side.sampling.links import Links, draw_links

__all__ = [
    "Annotations",
    "Closure",
    "ContradictionError",
    "Links",
    "SideInformation",
    "draw_labels",
    "draw_links",
    "draw_side",
]
