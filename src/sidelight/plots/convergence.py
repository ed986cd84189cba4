"""The objective of a fit, iteration by iteration."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from sidelight._typing import FloatArray, IntArray
from sidelight._wording import with_minus
from sidelight.plots.figures import INK, LINE, QUIET, new_axes, tidy_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_COUNT = "#e69f00"


@dataclass(eq=False, repr=False, kw_only=True)
class ConvergenceDisplay:
    """The objective of a fit against its iterations.

    Make one with :meth:`from_estimator`. For a model with a ``history_``, the number of components that hold rows is
    drawn too.

    Parameters
    ----------
    objectives : (m,)
        The objective at the start and after each iteration.
    rises : bool
        Whether higher is better.
    converged : bool
        Whether the fit converged.
    n_iter : int
        Number of iterations.
    components : (h,), optional
        Components that hold rows before each of the first h steps; the last entry is for the end of the fit.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sidelight import LabelledMixture
    >>> from sidelight.plots import ConvergenceDisplay
    >>> display = ConvergenceDisplay.from_estimator(LabelledMixture(3, random_state=0).fit(load_iris().data))
    >>> display.converged, len(display.objectives) == display.n_iter + 1
    (True, True)
    """

    objectives: FloatArray
    rises: bool
    converged: bool
    n_iter: int
    components: IntArray | None = None

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: "Axes | None" = None) -> Self:
        """Draw the course of a fit.

        Parameters
        ----------
        estimator : fitted estimator
            With ``lower_bounds_``, as mixtures have, or ``objectives_``, as methods that lower a cost have.
        ax : matplotlib axes, optional
            Where to draw; new axes by default.

        Returns
        -------
        display
            With ``ax_`` and ``figure_``.
        """
        check_is_fitted(estimator)
        rises = hasattr(estimator, "lower_bounds_")
        objectives = getattr(estimator, "lower_bounds_", getattr(estimator, "objectives_", None))
        if objectives is None:
            raise ValueError(
                f"{type(estimator).__name__} keeps neither lower_bounds_ nor objectives_, so there is no course to "
                "draw; every estimator of sidelight keeps one of them."
            )
        display = cls(
            objectives=np.asarray(objectives, dtype=float),
            rises=rises,
            converged=bool(estimator.converged_),
            n_iter=int(estimator.n_iter_),
            components=_components_in_use(estimator),
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
        from matplotlib.ticker import MaxNLocator

        ax = new_axes(6.5, 4) if ax is None else ax
        steps = np.arange(len(self.objectives))
        ax.plot(steps, self.objectives, color=LINE, marker="o" if len(steps) <= 40 else None, markersize=3.5)
        ax.plot(steps[-1], self.objectives[-1], "o", markersize=8, color=LINE)
        state = "converged" if self.converged else "not converged: raise max_iter"
        reached = with_minus(f"{self.objectives[-1]:.5g}")
        ax.set_title(
            f"reached {reached} after {self.n_iter} iteration{'s'[: self.n_iter != 1]}, {state}",
            fontsize="medium",
            loc="left",
            color=INK,
        )
        ax.set_xlabel("iteration", color=INK)
        ax.set_ylabel("lower bound per row" if self.rises else "objective (lower is better)", color=LINE)
        ax.xaxis.set_major_locator(MaxNLocator(integer=True))
        ax.margins(y=0.08)
        tidy_axes(ax)
        if self.components is not None and len(self.components) > 1:
            self._draw_components(ax)
        self.ax_ = ax
        self.figure_ = ax.figure
        return self

    def _draw_components(self, ax: "Axes") -> None:
        from matplotlib.ticker import MaxNLocator

        assert self.components is not None
        during, end = self.components[:-1], self.components[-1]
        last = len(self.objectives) - 1
        beside = ax.twinx()
        beside.step(np.arange(len(during)), during, where="mid", color=_COUNT, linewidth=1.5)
        # Between the last step that was kept and the end, components are dropped and merged.
        beside.plot([len(during) - 1, last], [during[-1], end], linestyle=":", color=_COUNT, linewidth=1.2)
        beside.plot(last, end, "s", color=_COUNT, markersize=5)
        beside.set_ylabel("components that hold rows", color="#9c6b00")
        beside.yaxis.set_major_locator(MaxNLocator(integer=True))
        beside.set_ylim(0, 1.1 * float(self.components.max()) + 0.5)
        beside.spines[["top", "left"]].set_visible(False)
        beside.spines[["right", "bottom"]].set_color("#9aa3ad")
        beside.tick_params(colors=QUIET, labelsize="small")


def _components_in_use(estimator: Any) -> IntArray | None:
    """Return how many components held at least one row before each step of a fit, and at its end.

    None where the steps were not kept.
    """
    try:
        history = estimator.history_
    except AttributeError:
        return None
    n = len(estimator.labels_)
    weights = [*(snapshot.weights for snapshot in history), estimator.weights_]
    return np.array([np.count_nonzero(n * np.asarray(shares) >= 1) for shares in weights])
