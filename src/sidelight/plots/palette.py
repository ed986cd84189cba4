"""Colours: of text, lines and broken statements, and of clusters.

A small number of cluster colours can be told apart by most colour-blind readers.
"""

import colorsys

import numpy as np

from sidelight._typing import FloatArray

INK = "#1f2630"
LINE = "#0072b2"
QUIET = "#5b6470"
BROKEN = "#c8102e"
# The first eight lean on Okabe and Ito (2008), without their red, which marks broken statements, and their black,
# which marks labels. Each of the others is as far as possible from all before it, for normal sight and for
# deuteranopia, among colours that show on white.
_COLOURS = (
    "#0072b2",
    "#e69f00",
    "#009e73",
    "#cc79a7",
    "#56b4e9",
    "#7a4b1f",
    "#6a51a3",
    "#a8a800",
    "#6de7b6",
    "#ffaaff",
    "#004955",
    "#c26124",
    "#8679e7",
    "#f39e9e",
    "#243192",
    "#861861",
    "#926179",
    "#006d61",
    "#c2db55",
    "#31c29e",
    "#244900",
    "#617900",
    "#00e7ff",
    "#3192b6",
)


def cluster_colours(n: int) -> FloatArray:
    """Return a colour (red, green, blue) for each of n clusters, (n, 3), all different."""
    chosen = [_rgb(colour) for colour in _COLOURS[:n]]
    further = n - len(chosen)
    for number in range(further):
        # Around the circle of hues, light and dark in turns.
        lightness = (0.35, 0.55, 0.72)[number % 3]
        chosen.append(colorsys.hls_to_rgb((0.97 * number / max(further, 1)) % 1.0, lightness, 0.6))
    return np.array(chosen).reshape(n, 3)


def _rgb(colour: str) -> tuple[float, float, float]:
    red, green, blue = (int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5))
    return red, green, blue
