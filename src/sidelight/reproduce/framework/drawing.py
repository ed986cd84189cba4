"""Pictures in the form of the papers: curves with error bars, one panel for each set."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sidelight.files.whole import whole_file
from sidelight.plots.figures import bare_figure, cluster_colours
from sidelight.reproduce.framework.experiment import ONE_CLUSTER, Experiment, Setting, Summary

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_PANEL = (3.6, 3.0)
_MARKERS = "osD^vP*X"


def save_picture(summary: Summary, path: Path) -> bool:
    """Draw the picture of an experiment; return False if it has none. The same summary gives the same bytes."""
    if summary.experiment.draw is None:
        return False
    figure = bare_figure(*_PANEL)
    summary.experiment.draw(figure, summary)
    with whole_file(path, "wb") as file:
        figure.savefig(file, format="png", dpi=100, metadata={"Software": None})
    return True


def curves(
    x: str,
    *,
    panel: str | None = None,
    methods: Sequence[str] | None = None,
    measure: str | None = None,
    logarithmic: bool = False,
) -> "Callable[[Figure, Summary], None]":
    """Return a function that draws a measure against a varied value, a line for each method, bars of one sd.

    Where the measure is the paper's own, its printed numbers are drawn as crosses.

    Parameters
    ----------
    x, panel : str
        The varied values on the horizontal axis and, where there are several panels, between them.
    methods : sequence of str, optional
        All by default. Methods that the experiment does not have are left out.
    measure : str, optional
        The paper's by default.
    logarithmic : bool, default False
        Whether x goes by factors.
    """

    def draw(figure: "Figure", summary: Summary) -> None:
        experiment = summary.experiment
        shown = [name for name in methods or experiment.methods if name in experiment.methods]
        measured = measure or experiment.measures[0]
        panels = _panels(summary, panel)
        across = 2 if len(panels) == 4 else min(len(panels), 3)
        down = -(-len(panels) // across)
        # Names are long: a narrow picture lists them in few columns and gets higher.
        columns = min(across + 1, 4)
        lines = -(-(len(shown) + 1) // columns)
        figure.set_size_inches(max(_PANEL[0] * across, 4.6), _PANEL[1] * down + 0.25 * lines)
        grid = np.asarray(figure.subplots(down, across, squeeze=False)).ravel()
        place = experiment.varied.index(x)
        for axes, (title, settings) in zip(grid, panels.items(), strict=False):
            for method in shown:
                _curve(axes, summary, method, place, settings, measured)
            axes.set(title=title, xlabel=x)
            if logarithmic:
                axes.set_xscale("log")
                axes.minorticks_off()
            levels = list(dict.fromkeys(setting[place] for setting in settings))
            axes.set_xticks([float(level) for level in levels], [str(level) for level in levels])
            axes.spines[["top", "right"]].set_visible(False)
        for axes in grid[len(panels) :]:
            axes.set_visible(False)
        for axes in grid[::across]:
            axes.set_ylabel(measured)
        # One name for each line, in the order of the lines.
        named = {
            label: handle for axes in grid for handle, label in zip(*axes.get_legend_handles_labels(), strict=True)
        }
        names = [name for name in shown if name in named]
        names += [name for name in named if name not in names]
        handles = [named[name] for name in names]
        figure.legend(handles, names, loc="outside lower center", ncols=columns, frameon=False)

    return draw


def _style(experiment: Experiment, method: str) -> dict[str, Any]:
    """Return how a method is drawn: the paper's own solid, ours dashed, one cluster grey; colours by their order."""
    if method == ONE_CLUSTER:
        return {"color": "0.6", "marker": "", "ls": ":"}
    place = experiment.methods.index(method)
    colour = cluster_colours(len(experiment.methods))[place]
    line = "-" if method in experiment.published else "--"
    return {"color": colour, "marker": _MARKERS[place % len(_MARKERS)], "ls": line}


def _curve(axes: "Axes", summary: Summary, method: str, place: int, settings: list[Setting], measure: str) -> None:
    experiment = summary.experiment
    cells = {s: summary.cells[s, method] for s in settings if (s, method) in summary.cells}
    if not cells:
        return
    style = _style(experiment, method)
    axes.errorbar(
        [float(setting[place]) for setting in cells],
        [cell.mean(measure) for cell in cells.values()],
        yerr=None if method == ONE_CLUSTER else [cell.sd(measure) for cell in cells.values()],
        markersize=4,
        capsize=3,
        lw=1.2,
        label=method,
        **style,
    )
    printed = {s: experiment.printed[s, method] for s in cells if (s, method) in experiment.printed}
    if printed and measure == experiment.measures[0]:
        at = [float(setting[place]) for setting in printed]
        axes.scatter(at, [number.value for number in printed.values()], marker="x", color=style["color"], zorder=3)
        is_best = any(number.is_best for number in printed.values())
        axes.plot([], [], "x", color="black", label="printed (best of several)" if is_best else "printed")


def _panels(summary: Summary, panel: str | None) -> dict[str, list[Setting]]:
    """Return the settings of each panel by its title."""
    if panel is None:
        return {"": summary.settings}
    place = summary.experiment.varied.index(panel)
    panels: dict[str, list[Setting]] = {}
    for setting in summary.settings:
        value = setting[place]
        panels.setdefault(value if isinstance(value, str) else f"{panel} = {value}", []).append(setting)
    return panels
