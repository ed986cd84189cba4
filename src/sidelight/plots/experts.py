"""What each expert of a GuidedMixture says about the rows, side by side."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.utils import _safe_indexing

from sidelight._typing import BoolArray, FloatArray
from sidelight.describe.assignment import clusters_of, names_of
from sidelight.describe.table import fitted_table
from sidelight.plots.figures import INK, QUIET, cluster_colours, new_figure, written
from sidelight.plots.projection import numeric_rows, plane_of
from sidelight.plots.sampling import choose_rows
from sidelight.side import SideInformation

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_MOST_POINTS = 1500
_COLUMNS = (5, 4, 3)
_PANEL = 2.6
TOGETHER = "all together"


@dataclass(eq=False, repr=False, kw_only=True)
class ExpertsDisplay:
    """The most probable class of each row by every expert, and by all together.

    Make one with :meth:`from_estimator`. Paler rows are less certain. Above each picture stand the expert's name and
    its share of all weights; experts that are trusted most come first.

    Parameters
    ----------
    points : (m, 2)
        Positions of the rows in the plane.
    opinions : mapping from str to (m, n_clusters)
        Probabilities of the clusters by each expert, and by all together last.
    shares : mapping from str to float
        How much of all weight each expert has.
    names : list of str
        Names of the clusters.
    known : (m,) bool
        Rows with a label.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> import numpy as np
    >>> from sidelight import GuidedMixture
    >>> from sidelight.plots import ExpertsDisplay
    >>> X, species = load_iris(return_X_y=True)
    >>> model = GuidedMixture(random_state=0).fit(X, np.where(np.arange(150) % 10 == 0, species, -1))
    >>> display = ExpertsDisplay.from_estimator(model, X)
    >>> len(display.figure_.axes) >= len(model.expert_weights_)
    True
    """

    points: FloatArray
    opinions: Mapping[str, FloatArray]
    shares: Mapping[str, float]
    names: list[str]
    known: BoolArray

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        *,
        side: SideInformation | None = None,
        random_state: int = 0,
        figure: "Figure | None" = None,
    ) -> Self:
        """Draw what the experts say about a table.

        Parameters
        ----------
        estimator : GuidedMixture
            Fitted with side information.
        X : (n, d) array or data frame
            The table it was fitted to. At most 1500 rows are drawn, those with labels first.
        side : SideInformation, optional
            Whose labelled rows are ringed.
        random_state : int
            Chooses the rows of a large table.
        figure : matplotlib figure, optional
            Where to draw; a new one by default.

        Returns
        -------
        display
            With ``figure_`` and ``axes_``.
        """
        if not hasattr(estimator, "expert_probabilities"):
            raise TypeError(
                f"ExpertsDisplay draws the experts of a GuidedMixture; {type(estimator).__name__} has none."
            )
        table = fitted_table(estimator, X)
        labels = clusters_of(estimator, table)
        labelled = np.zeros(table.n_rows, dtype=bool) if side is None else side.labels >= 0
        if len(labelled) != table.n_rows:
            raise ValueError(f"side has {len(labelled)} rows, but X has {table.n_rows}; give that of the same rows.")
        rows = choose_rows(table.n_rows, [np.flatnonzero(labelled)], _MOST_POINTS, np.random.RandomState(random_state))
        features = numeric_rows(table, rows)
        drawn = _safe_indexing(X, rows)
        opinions = estimator.expert_probabilities(drawn)
        total = sum(estimator.expert_weights_.values())
        shares = {name: weight / total for name, weight in estimator.expert_weights_.items()}
        ordered = {name: opinions[name] for name in sorted(opinions, key=lambda name: -shares[name])}
        plane = plane_of(features.values, labels[rows], features.names)
        return cls(
            points=plane.points(features.values),
            opinions=ordered | {TOGETHER: estimator.predict_proba(drawn)},
            shares=shares,
            names=names_of(estimator, labels),
            known=labelled[rows],
        ).plot(figure=figure)

    def plot(self, *, figure: "Figure | None" = None) -> Self:
        """Draw on a figure, or on a new one.

        Parameters
        ----------
        figure : matplotlib figure, optional
            Where to draw; a new one by default.

        Returns
        -------
        display
            Itself, with ``figure_`` and ``axes_``.
        """
        n_columns = columns_of(len(self.opinions))
        n_rows = -(-len(self.opinions) // n_columns)
        figure = new_figure(_PANEL * n_columns, _PANEL * n_rows + 0.4) if figure is None else figure
        grid = figure.subplots(n_rows, n_columns, squeeze=False).ravel()
        colours = cluster_colours(len(self.names))
        for ax, (name, opinion) in zip(grid, self.opinions.items(), strict=False):
            self._draw(ax, opinion, colours)
            share = "" if name == TOGETHER else f" ({self.shares[name]:.0%})"
            ax.set_title(f"{name}{share}", fontsize="medium", color=INK)
        for ax in grid[len(self.opinions) :]:
            ax.set_axis_off()
        handles = [grid[0].scatter([], [], s=28, color=colour) for colour in colours]
        figure.legend(
            handles, [written(name) for name in self.names], loc="outside lower center", ncols=6, frameon=False
        )
        self.axes_ = grid[: len(self.opinions)]
        self.figure_ = figure
        return self

    def _draw(self, ax: "Axes", opinion: FloatArray, colours: FloatArray) -> None:
        n_clusters = opinion.shape[1]
        # From as likely as any other class to certain.
        certainty = np.clip((opinion.max(axis=1) * n_clusters - 1) / max(n_clusters - 1, 1), 0.1, 1.0)
        shades = np.column_stack([colours[opinion.argmax(axis=1)], 0.85 * certainty])
        across, up = self.points.T
        ax.scatter(across, up, s=9, c=shades, linewidths=0)
        if self.known.any():
            across, up = self.points[self.known].T
            ax.scatter(across, up, s=26, facecolors="none", edgecolors=INK, linewidths=0.8)
        ax.set_xticks([])
        ax.set_yticks([])
        ax.spines[:].set_color(QUIET)
        ax.spines[:].set_linewidth(0.4)


def columns_of(n_pictures: int) -> int:
    """Return how many pictures stand side by side: as many as leave the fewest places of the last row empty."""
    return min(min(_COLUMNS, key=lambda n_columns: -n_pictures % n_columns), n_pictures)
