"""The posterior probabilities of the rows, as a heat map."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from sidelight._typing import FloatArray, IntArray
from sidelight.describe.assignment import certainty_of, clusters_of, names_of, posterior_of
from sidelight.describe.table import fitted_table
from sidelight.plots.figures import INK, QUIET, cluster_colours, new_axes, written

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MOST_ROWS = 600
# The share of the height that a cluster needs for its name to be written beside it.
_LEAST_HEIGHT = 0.035


@dataclass(eq=False, repr=False, kw_only=True)
class MembershipDisplay:
    """Rows by clusters: the deeper the colour, the more probable the cluster.

    Make one with :meth:`from_estimator`. Rows are sorted by cluster, the most certain at the top of each; where a
    cluster fades at its lower end, other columns show where its rows might belong.

    Parameters
    ----------
    posterior : (m, n_clusters)
        Probabilities of the rows that are drawn.
    labels : (m,)
        Their clusters.
    names : list of str
        Names of the clusters.
    sizes : (n_clusters,)
        Rows of each cluster, drawn or not.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sidelight import LatentProcessDecomposition
    >>> from sidelight.plots import MembershipDisplay
    >>> X = load_iris().data
    >>> display = MembershipDisplay.from_estimator(LatentProcessDecomposition(3, random_state=0).fit(X), X)
    >>> display.posterior.shape
    (150, 3)
    """

    posterior: FloatArray
    labels: IntArray
    names: list[str]
    sizes: IntArray

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, *, ax: "Axes | None" = None) -> Self:
        """Draw the posterior of the rows that an estimator was fitted to.

        Parameters
        ----------
        estimator : fitted estimator
            With ``posterior_`` or ``predict_proba``.
        X : (n, d) array, sparse array or data frame
            The table it was fitted to. At most 600 rows are drawn, evenly spread in the order of the picture, so that
            clusters and uncertain rows keep their share of it.
        ax : matplotlib axes, optional
            Where to draw; new axes by default.

        Returns
        -------
        display
            With ``ax_`` and ``figure_``.
        """
        table = fitted_table(estimator, X)
        labels = clusters_of(estimator, table)
        names = names_of(estimator, labels)
        order = np.lexsort((-certainty_of(estimator, table, labels).values, labels))
        rows = order[_evenly(len(order), _MOST_ROWS)]
        display = cls(
            posterior=posterior_of(estimator, table, rows),
            labels=labels[rows],
            names=names,
            sizes=np.bincount(labels, minlength=len(names)),
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
        m, k = self.posterior.shape
        ax = new_axes(*self.size) if ax is None else ax
        colours = cluster_colours(k)
        # White for probability zero, the cluster's colour for probability one.
        image = 1 - self.posterior[:, :, None] * (1 - colours)
        ax.imshow(np.clip(image, 0, 1), aspect="auto", interpolation="nearest")
        ends = np.flatnonzero(np.diff(self.labels)) + 0.5
        ax.hlines(ends, -0.5, k - 0.5, color=QUIET, linewidth=0.6)
        ax.vlines(np.arange(k - 1) + 0.5, -0.5, m - 0.5, color="#dfe3e8", linewidth=0.6)
        self._name_rows(ax)
        ax.set_xticks(range(k), [written(name, 18) for name in self.names])
        if k > 6 or max(len(name) for name in self.names) > 12:
            for text in ax.get_xticklabels():
                text.set(rotation=45, ha="right", rotation_mode="anchor")
        ax.tick_params(length=0, labelcolor=INK)
        ax.spines[:].set_color("#9aa3ad")
        n_rows = int(self.sizes.sum())
        ax.set_ylabel("rows" if m == n_rows else f"{m} of {n_rows} rows", color=INK)
        _draw_scale(ax)
        self.ax_ = ax
        self.figure_ = ax.figure
        return self

    @property
    def size(self) -> tuple[float, float]:
        """Width and height, in inches, at which everything can be read."""
        return float(np.clip(3.4 + 0.5 * len(self.names), 5, 14)), 5.2

    def _name_rows(self, ax: "Axes") -> None:
        """Write the name and size of each cluster beside it."""
        m = len(self.labels)
        places, words = [], []
        for cluster, name in enumerate(self.names):
            first, last = np.searchsorted(self.labels, [cluster, cluster + 1])
            if last - first >= _LEAST_HEIGHT * m:
                places.append((first + last - 1) / 2)
                words.append(f"{written(name, 18)} ({self.sizes[cluster]})")
        ax.set_yticks(places, words)


def _draw_scale(ax: "Axes") -> None:
    """Draw the scale from depth of colour to probability."""
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import LinearSegmentedColormap, Normalize

    shades = LinearSegmentedColormap.from_list("probability", ["white", "#30363d"])
    bar = ax.figure.colorbar(ScalarMappable(Normalize(0, 1), shades), ax=ax, shrink=0.5, pad=0.02)
    bar.set_label("probability (in the cluster's colour)", fontsize="small", color=INK)
    bar.ax.tick_params(labelsize="small", length=0)


def _evenly(n: int, most: int) -> IntArray:
    """Return at most ``most`` of n positions, evenly spread."""
    return np.arange(n) if n <= most else np.linspace(0, n - 1, most).round().astype(np.int64)
