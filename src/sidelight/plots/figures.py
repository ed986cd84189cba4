"""Colours, figures, axes, legends and names in pictures; matplotlib is loaded when the first picture is drawn."""

import colorsys
from typing import TYPE_CHECKING, Any

import numpy as np

from sidelight._typing import FloatArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_LONGEST_NAME = 26
INK = "#1f2630"
LINE = "#0072b2"
QUIET = "#5b6470"
BROKEN = "#c8102e"
# The first eight lean on Okabe and Ito (2008), without their red, which marks broken statements, and their black,
# which marks labels. Each of the others is as far as possible from all before it, for normal sight and for
# deuteranopia, among colours that show on white.
_COLOURS = (
    "#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#7a4b1f", "#6a51a3", "#a8a800",
    "#6de7b6", "#ffaaff", "#004955", "#c26124", "#8679e7", "#f39e9e", "#243192", "#861861",
    "#926179", "#006d61", "#c2db55", "#31c29e", "#244900", "#617900", "#00e7ff", "#3192b6",
)  # fmt: skip


def cluster_colours(n: int) -> FloatArray:
    """Return a colour (red, green, blue) for each of n clusters, (n, 3), all different.

    A small number of colours can be told apart by most colour-blind readers.
    """
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


def require_matplotlib() -> None:
    """Raise an error that says what to install where matplotlib is missing."""
    try:
        import matplotlib  # noqa: F401
    except ImportError as error:
        raise ImportError("pictures need matplotlib: pip install 'sidelight[plot]'") from error


def new_axes(width: float, height: float) -> "Axes":
    """Return axes on a new pyplot figure; the size is in inches."""
    return new_figure(width, height).subplots()


def new_figure(width: float, height: float) -> "Figure":
    """Return a new pyplot figure without axes; the size is in inches."""
    require_matplotlib()
    from matplotlib import pyplot as plt

    return plt.figure(figsize=(width, height), layout="constrained")


def bare_figure(width: float, height: float) -> "Figure":
    """Return a figure outside pyplot, for writing to a file."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def written(name: Any, longest: int = _LONGEST_NAME) -> str:
    """Return a name as pictures write it: on one line, shortened if long, never read as a formula."""
    words = " ".join(str(name).split())
    short = words if len(words) <= longest else f"{words[: longest - 1].rstrip()}…"
    return short.replace("$", r"\$")


def tidy_axes(ax: "Axes") -> None:
    """Remove the upper and right lines of the frame, and make the others quiet."""
    ax.spines[["top", "right"]].set_visible(False)
    ax.spines[["left", "bottom"]].set_color("#9aa3ad")
    ax.tick_params(colors=QUIET, labelsize="small")


def legend_beside(ax: "Axes", entries: "list[tuple[Any, str]]") -> None:
    """Put a legend to the right of the axes; entries are handles with their words."""
    if not entries:
        return
    legend = ax.legend(
        [handle for handle, _ in entries],
        [str(number) for number in range(len(entries))],
        loc="center left",
        bbox_to_anchor=(1.0, 0.5),
        fontsize="small",
        frameon=False,
        ncols=1 + (len(entries) > 22),
        labelcolor=INK,
    )
    # Written afterwards, because matplotlib leaves out entries that start with an underscore.
    for text, (_, words) in zip(legend.get_texts(), entries, strict=True):
        text.set_text(words)
