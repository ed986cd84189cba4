"""Side information: labels, links and blocks of the rows of a table, and what follows from them."""

from sidelight.exceptions import ContradictionError
from sidelight.side.annotations import Annotations
from sidelight.side.closure import Closure
from sidelight.side.information import SideInformation
from sidelight.side.sampling import Links, draw_labels, draw_links, draw_side

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
