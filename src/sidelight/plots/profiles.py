"""Which features make a cluster, as a heat map."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from sidelight.describe.profiles import Profiles, cluster_profiles
from sidelight.plots.figures import INK, new_axes, written

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MOST_FEATURES = 15
_MOST_CELLS_WRITTEN = 150
# Stronger differences than this, in standard deviations, all have the deepest colour.
_DEEPEST = 2.5


@dataclass(eq=False, repr=False)
class ProfilesDisplay:
    """Clusters by features, coloured by how far the rows of the cluster are from the rest.

    Make one with :meth:`from_estimator`. Colours are differences in standard deviations: red where the cluster has
    more, blue where it has less. The text of a cell is the difference in the unit of its feature: standard deviations
    for numbers, percentage points for shares, ratios for counts.

    Parameters
    ----------
    profiles : Profiles
        The profiles of the features to show.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sidelight import LabelledMixture
    >>> from sidelight.plots import ProfilesDisplay
    >>> X = load_iris(as_frame=True).data
    >>> display = ProfilesDisplay.from_estimator(LabelledMixture(3, random_state=0).fit(X), X)
    >>> sorted(feature.name for feature in display.profiles.features)[:2]
    ['petal length (cm)', 'petal width (cm)']
    """

    profiles: Profiles

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, *, most_features: int = _MOST_FEATURES, ax: "Axes | None" = None
    ) -> Self:
        """Draw the features that tell the clusters of a fitted table apart.

        Parameters
        ----------
        estimator : fitted estimator
            It has been fitted to the table.
        X : (n, d) array, sparse array or data frame
            The table it was fitted to. Missing cells are left out.
        most_features : int, default 15
            Number of features to show: the most telling ones of every cluster.
        ax : matplotlib axes, optional
            Where to draw; new axes by default.

        Returns
        -------
        display
            With ``ax_`` and ``figure_``.
        """
        return cls(cluster_profiles(estimator, X).most_telling(most_features)).plot(ax=ax)

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
        profiles = self.profiles
        k, f = profiles.strength.shape
        ax = new_axes(*self.size) if ax is None else ax
        image = ax.imshow(profiles.strength.T, cmap="RdBu_r", vmin=-_DEEPEST, vmax=_DEEPEST, aspect="auto")
        ax.set_yticks(range(f), [written(feature.name, 32) for feature in profiles.features])
        steep = k > 6 or max(len(name) for name in profiles.names) > 12
        ax.set_xticks(range(k), [written(name, 18) for name in profiles.names])
        ax.tick_params(length=0, labelcolor=INK, top=True, labeltop=True, bottom=False, labelbottom=False)
        if steep:
            for text in ax.get_xticklabels():
                text.set(rotation=45, ha="left", rotation_mode="anchor")
        # Thin white lines between cells.
        ax.set_xticks(np.arange(k + 1) - 0.5, minor=True)
        ax.set_yticks(np.arange(f + 1) - 0.5, minor=True)
        ax.grid(which="minor", color="white", linewidth=1.5)
        ax.tick_params(which="minor", length=0)
        ax.spines[:].set_visible(False)
        if k * f <= _MOST_CELLS_WRITTEN:
            self._write_cells(ax)
        bar = ax.figure.colorbar(image, ax=ax, shrink=0.6, extend="both", pad=0.02)
        bar.set_label("sd from the rest", fontsize="small", color=INK)
        bar.ax.tick_params(labelsize="small", length=0)
        bar.outline.set_visible(False)
        self.ax_ = ax
        self.figure_ = ax.figure
        return self

    @property
    def size(self) -> tuple[float, float]:
        """Width and height, in inches, at which everything can be read."""
        k, f = self.profiles.strength.shape
        return float(np.clip(3.6 + 0.62 * k, 5, 16)), float(np.clip(1.2 + 0.34 * f, 2.2, 9))

    def _write_cells(self, ax: "Axes") -> None:
        profiles = self.profiles
        for (cluster, place), strength in np.ndenumerate(profiles.strength):
            words = profiles.features[place].comparison.write_difference(float(profiles.difference[cluster, place]))
            colour = "white" if abs(strength) > 0.65 * _DEEPEST else INK
            ax.text(cluster, place, words, ha="center", va="center", fontsize="x-small", color=colour)
