"""Pictures in the form of the papers: curves with error bars, one panel for each set."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from sidelight.reproduce.experiment import Setting, Summary

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_PANEL = (3.6, 3.0)
_MARKERS = "osD^vP*X"


def save_picture(summary: Summary, path: Path) -> bool:
    """Draw the picture of an experiment; False where it has none. The same summary gives the same bytes."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    if summary.experiment.draw is None:
        return False
    figure = Figure(layout="constrained")
    FigureCanvasAgg(figure)
    summary.experiment.draw(figure, summary)
    figure.savefig(path, dpi=100, metadata={"Software": None})
    return True


def curves(
    x: str,
    *,
    panel: str | None = None,
    methods: Sequence[str] | None = None,
    measure: str | None = None,
    logarithmic: bool = False,
) -> "Callable[[Figure, Summary], None]":
    """Return a function that draws a measure against what is varied, a line for each method, bars of one sd.

    Parameters
    ----------
    x : str
        The varied thing along the axis.
    panel : str, optional
        The varied thing that each panel shows one value of.
    methods : sequence of str, optional
        All by default.
    measure : str, optional
        The paper's by default.
    logarithmic : bool, default False
        Whether x goes by factors.
    """

    def draw(figure: "Figure", summary: Summary) -> None:
        experiment = summary.experiment
        shown = methods or experiment.methods
        values = _values(summary, panel)
        across = min(len(values), 3)
        down = -(-len(values) // across)
        # Names are long: a narrow picture has them in few columns, and gets higher by the lines they take.
        columns = min(across + 1, 4)
        lines = -(-len(shown) // columns)
        figure.set_size_inches(max(_PANEL[0] * across, 4.6), _PANEL[1] * down + 0.25 * lines)
        grid = np.asarray(figure.subplots(down, across, squeeze=False)).ravel()
        for axes, value in zip(grid, values, strict=False):
            for line, method in enumerate(shown):
                _curve(axes, summary, method, line, experiment.varied.index(x), _only(summary, panel, value), measure)
            axes.set(title=_title(panel, value), xlabel=x)
            if logarithmic:
                axes.set_xscale("log", base=2)
            axes.spines[["top", "right"]].set_visible(False)
        for axes in grid[len(values) :]:
            axes.set_visible(False)
        for axes in grid[::across]:
            axes.set_ylabel(measure or experiment.measures[0])
        figure.legend(*grid[0].get_legend_handles_labels(), loc="outside lower center", ncols=columns, frameon=False)

    return draw


def _curve(
    axes: "Axes",
    summary: Summary,
    method: str,
    line: int,
    place: int,
    settings: list[Setting],
    measure: str | None,
) -> None:
    name = measure or summary.experiment.measures[0]
    cells = [
        (setting[place], summary.cells[setting, method]) for setting in settings if (setting, method) in summary.cells
    ]
    if cells:
        at = [float(value) for value, _ in cells]
        means, deviations = [cell.mean(name) for _, cell in cells], [cell.sd(name) for _, cell in cells]
        marker = _MARKERS[line % len(_MARKERS)]
        axes.errorbar(at, means, yerr=deviations, marker=marker, markersize=4, capsize=3, lw=1.2, label=method)


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
