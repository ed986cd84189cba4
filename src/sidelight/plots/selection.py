"""The criterion by which a parameter, or a structure and a number, was chosen."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np

from sidelight._typing import AnyArray, FloatArray, IntArray
from sidelight.plots.figures import INK, LINE, cluster_colours, legend_beside, new_axes, tidy_axes
from sidelight.selection import Selection, StructureSelection

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(eq=False, repr=False, kw_only=True)
class SelectionDisplay:
    """A criterion against the candidates of a parameter, with a ring around the one chosen.

    Make one with :meth:`from_result`. For a criterion found by cross-validation, bars show one standard deviation over
    folds.

    Parameters
    ----------
    candidates : (m,)
        The values that were tried.
    values : (m,)
        The criterion.
    deviations : (m,), optional
        Standard deviations of the criterion over folds.
    best_index : int
        Position of the candidate chosen.
    parameter, criterion : str
        Labels of the axes.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sidelight import LabelledMixture
    >>> from sidelight.plots import SelectionDisplay
    >>> from sidelight.selection import select_n_components
    >>> result = select_n_components(LabelledMixture(random_state=0), load_iris().data, candidates=[2, 3, 4])
    >>> SelectionDisplay.from_result(result).candidates.tolist()
    [2, 3, 4]
    """

    candidates: AnyArray
    values: FloatArray
    deviations: FloatArray | None
    best_index: int
    parameter: str
    criterion: str

    @classmethod
    def from_result(cls, result: Selection, *, ax: "Axes | None" = None) -> Self:
        """Draw the curve of a selection.

        Parameters
        ----------
        result : Selection
            What `select_n_components` or `select_strength` found.
        ax : matplotlib axes, optional
            Where to draw; new axes by default.

        Returns
        -------
        display
            With ``ax_`` and ``figure_``.
        """
        display = cls(
            candidates=result.candidates,
            values=result.values,
            deviations=result.deviations,
            best_index=result.best_index,
            parameter=result.parameter,
            criterion=result.criterion,
        )
        return display.plot(ax=ax)

    def plot(self, *, ax: "Axes | None" = None) -> Self:
        """Draw on axes, or on new ones.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw; new axes by default.

        Returns
        -------
        display
            Itself, with ``ax_`` and ``figure_``.
        """
        ax = new_axes(6, 4) if ax is None else ax
        style = {"color": LINE, "marker": "o", "markersize": 4, "capsize": 3}
        ax.errorbar(self.candidates, self.values, yerr=self.deviations, **style)  # type: ignore[arg-type]
        chosen = self.candidates[self.best_index], self.values[self.best_index]
        ax.plot(*chosen, "o", markersize=12, markerfacecolor="none", markeredgecolor=INK, label=f"{chosen[0]:g}")
        # Strengths are compared by factors, whole numbers by differences.
        if np.issubdtype(self.candidates.dtype, np.floating) and self.candidates.min() > 0:
            ax.set_xscale("log")
        ax.legend(title="chosen", frameon=False)
        ax.set_xlabel(self.parameter, color=INK)
        ax.set_ylabel(self.criterion.replace("_", " "), color=INK)
        tidy_axes(ax)
        self.ax_ = ax
        self.figure_ = ax.figure
        return self


# Lines are told apart by colour, and by marker where colours come again.
_MARKERS = ("o", "s", "^", "D", "v", "P", "X")


@dataclass(eq=False, repr=False, kw_only=True)
class StructureDisplay:
    """BIC against the number of components, a line for each covariance structure, with a ring around the lowest.

    Make one with :meth:`from_result`. It is mclust's picture with the sign turned: lower is better. A line has gaps
    where fits are singular.

    Parameters
    ----------
    structures : tuple of str
        The covariance structures that were tried.
    numbers : (m,)
        The numbers of components that were tried.
    values : (structures, m)
        BIC; NaN where a fit is singular.
    best_index : tuple of int, optional
        Row and column of the lowest value; None where every fit is singular.
    parameter : str
        Label of the axis.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sidelight import LabelledMixture
    >>> from sidelight.plots import StructureDisplay
    >>> from sidelight.selection import select_structure
    >>> model = LabelledMixture(init_params="kmeans", random_state=0)
    >>> result = select_structure(model, load_iris().data, [2, 3], structures=["diag", "full"])
    >>> StructureDisplay.from_result(result).values.shape
    (2, 2)
    """

    structures: tuple[str, ...]
    numbers: IntArray
    values: FloatArray
    best_index: tuple[int, int] | None
    parameter: str

    @classmethod
    def from_result(cls, result: StructureSelection, *, ax: "Axes | None" = None) -> Self:
        """Draw the table of a selection.

        Parameters
        ----------
        result : StructureSelection
            What `select_structure` found.
        ax : matplotlib axes, optional
            Where to draw; new axes by default.

        Returns
        -------
        display
            With ``ax_`` and ``figure_``.
        """
        display = cls(
            structures=result.structures,
            numbers=result.numbers,
            values=result.values,
            best_index=result.best_index,
            parameter=result.parameter,
        )
        return display.plot(ax=ax)

    def plot(self, *, ax: "Axes | None" = None) -> Self:
        """Draw on axes, or on new ones.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw; new axes by default.

        Returns
        -------
        display
            Itself, with ``ax_`` and ``figure_``.
        """
        ax = new_axes(8, 5) if ax is None else ax
        colours = cluster_colours(len(self.structures))
        entries = []
        for row, (name, colour) in enumerate(zip(self.structures, colours, strict=True)):
            marker = _MARKERS[row % len(_MARKERS)]
            (line,) = ax.plot(self.numbers, self.values[row], color=colour, marker=marker, markersize=4, linewidth=1)
            entries.append((line, name))
        if self.best_index is not None:
            row, column = self.best_index
            style = {"markersize": 12, "markerfacecolor": "none", "markeredgecolor": INK, "linestyle": "none"}
            (ring,) = ax.plot(self.numbers[column], self.values[row, column], marker="o", **style)  # type: ignore[arg-type]
            entries.append((ring, f"lowest: {self.structures[row]}, {self.numbers[column]}"))
        legend_beside(ax, entries)
        ax.set_xticks(self.numbers)
        ax.set_xlabel(self.parameter, color=INK)
        ax.set_ylabel("bic", color=INK)
        tidy_axes(ax)
        self.ax_ = ax
        self.figure_ = ax.figure
        return self
