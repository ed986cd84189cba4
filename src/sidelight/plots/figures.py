"""Figures, axes, legends and names in pictures; matplotlib is loaded when the first picture is drawn."""

from typing import TYPE_CHECKING, Any

from sidelight.plots.palette import INK, QUIET

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_LONGEST_NAME = 26


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
