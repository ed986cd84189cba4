"""Pictures in the form of the papers: curves with error bars, one panel for each set."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np

from sidelight.files.whole import whole_file
from sidelight.plots.figures import cluster_colours
from sidelight.reproduce.framework.experiment import ONE_CLUSTER, Experiment, Setting, Summary

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_PANEL = (3.6, 3.0)
_MARKERS = "osD^vP*X"


def save_picture(summary: Summary, path: Path) -> bool:
    """Draw the picture of an experiment; return False if it has none. The same summary gives the same bytes."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    if summary.experiment.draw is None:
        return False
    figure = Figure(layout="constrained")
    FigureCanvasAgg(figure)
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
    x : str
        The varied value on the horizontal axis.
    panel : str, optional
        The varied value that differs between panels.
    methods : sequence of str, optional
        All by default. Methods that the experiment does not have are left out.
    measure : str, optional
        The paper's by default.
    logarithmic : bool, default False
        Whether x goes by factors.
    """

    def draw(figure: "Figure", summary: Summary) -> None:
        experiment = summary.experiment
        shown = [_Line.of(experiment, name) for name in methods or experiment.methods if name in experiment.methods]
        measured = measure or experiment.measures[0]
        values = _values(summary, panel)
        across = 2 if len(values) == 4 else min(len(values), 3)
        down = -(-len(values) // across)
        # Names are long: a narrow picture lists them in few columns and gets higher.
        columns = min(across + 1, 4)
        lines = -(-(len(shown) + 1) // columns)
        figure.set_size_inches(max(_PANEL[0] * across, 4.6), _PANEL[1] * down + 0.25 * lines)
        grid = np.asarray(figure.subplots(down, across, squeeze=False)).ravel()
        place = experiment.varied.index(x)
        for axes, value in zip(grid, values, strict=False):
            settings = _only(summary, panel, value)
            for line in shown:
                _curve(axes, summary, line, place, settings, measured)
            axes.set(title=_title(panel, value), xlabel=x)
            if logarithmic:
                axes.set_xscale("log")
                axes.minorticks_off()
            levels = list(dict.fromkeys(setting[place] for setting in settings))
            axes.set_xticks([float(level) for level in levels], [str(level) for level in levels])
            axes.spines[["top", "right"]].set_visible(False)
        for axes in grid[len(values) :]:
            axes.set_visible(False)
        for axes in grid[::across]:
            axes.set_ylabel(measured)
        # One name for each line, in the order of the lines.
        named = {
            label: handle for axes in grid for handle, label in zip(*axes.get_legend_handles_labels(), strict=True)
        }
        names = [line.method for line in shown if line.method in named]
        names += [name for name in named if name not in names]
        handles = [named[name] for name in names]
        figure.legend(handles, names, loc="outside lower center", ncols=columns, frameon=False)

    return draw


class _Line(NamedTuple):
    """How a method is drawn: the paper's own solid, ours dashed, one cluster grey; colours by the order of methods."""

    method: str
    colour: Any
    marker: str
    style: str

    @classmethod
    def of(cls, experiment: Experiment, method: str) -> Self:
        if method == ONE_CLUSTER:
            return cls(method, "0.6", "", ":")
        place = experiment.methods.index(method)
        colour = cluster_colours(len(experiment.methods))[place]
        style = "-" if method in experiment.published else "--"
        return cls(method, colour, _MARKERS[place % len(_MARKERS)], style)


def _curve(axes: "Axes", summary: Summary, line: _Line, place: int, settings: list[Setting], measure: str) -> None:
    experiment = summary.experiment
    cells = {s: summary.cells[s, line.method] for s in settings if (s, line.method) in summary.cells}
    if not cells:
        return
    axes.errorbar(
        [float(setting[place]) for setting in cells],
        [cell.mean(measure) for cell in cells.values()],
        yerr=None if line.method == ONE_CLUSTER else [cell.sd(measure) for cell in cells.values()],
        color=line.colour,
        marker=line.marker,
        ls=line.style,
        markersize=4,
        capsize=3,
        lw=1.2,
        label=line.method,
    )
    printed = {s: experiment.printed[s, line.method] for s in cells if (s, line.method) in experiment.printed}
    if printed and measure == experiment.measures[0]:
        at = [float(setting[place]) for setting in printed]
        axes.scatter(at, [number.value for number in printed.values()], marker="x", color=line.colour, zorder=3)
        is_best = any(number.is_best for number in printed.values())
        axes.plot([], [], "x", color="black", label="printed (best of several)" if is_best else "printed")


def _title(panel: str | None, value: str | int | float | None) -> str:
    if value is None or isinstance(value, str):
        return value or ""
    return f"{panel} = {value}"


def _values(summary: Summary, panel: str | None) -> list[str | int | float | None]:
    if panel is None:
        return [None]
    place = summary.experiment.varied.index(panel)
    return list(dict.fromkeys(setting[place] for setting in summary.settings))


def _only(summary: Summary, panel: str | None, value: str | int | float | None) -> list[Setting]:
    if panel is None:
        return summary.settings
    place = summary.experiment.varied.index(panel)
    return [setting for setting in summary.settings if setting[place] == value]
