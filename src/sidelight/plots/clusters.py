"""Clusters in the plane that shows them best."""

from typing import TYPE_CHECKING, Any, Self

import numpy as np

from sidelight._typing import AnyArray, BoolArray, FloatArray, IntArray
from sidelight.describe.assignment import (
    assigned_probability,
    clusters_of,
    has_probabilities,
    names_of,
    noise_of,
    posterior_of,
)
from sidelight.describe.table import FittedTable, fitted_table
from sidelight.metrics import violations
from sidelight.plots.components import add_ellipse, gaussians_of
from sidelight.plots.figures import BROKEN, INK, QUIET, cluster_colours, legend_beside, new_axes, tidy_axes, written
from sidelight.plots.projection import Plane, numeric_rows, plane_of
from sidelight.plots.sampling import LinkLines, choose_links, choose_rows
from sidelight.side import SideInformation

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MOST_POINTS = 5000
# More points than this are stored as an image in files that otherwise hold lines.
_MOST_SHAPES = 500
# More names than this are written at their clusters instead of in a legend.
_MOST_CLUSTERS_LISTED = 16
_LINE_STYLES = {"must-link": "solid", "cannot-link": "dashed", "block": "dotted"}
# Names of clusters without a given name begin with this; where all do, the number is enough.
_NUMBERED = "cluster "
# With a single feature, clusters stand above each other, and rows are jittered by this much.
_JITTER = 0.13


class ClustersDisplay:
    """Rows of a table coloured by cluster; the paler, the less certain.

    Make one with :meth:`from_estimator`. Rows with a label carry a ring, links are lines (must-links solid,
    cannot-links dashed, rows of a block joined by dots), and violated labels and links are red. Components of Gaussian
    mixtures are drawn as ellipses of two standard deviations.

    Parameters
    ----------
    points : (m, 2)
        Positions of the rows in the plane.
    labels : (m,)
        Their clusters.
    certainty : (m,)
        Probability of the cluster of each row.
    known : (m,)
        Which rows have a label.
    names : list of str
        Names of the clusters.
    plane : Plane
        The plane that the rows are drawn in.
    means, covariances : (k, 2), (k, 2, 2)
        Components as seen in the plane; empty for a model without Gaussian components.
    component_clusters : (k,)
        The cluster of each component.
    colour_order : (n_clusters,), optional
        Which colour each cluster takes, to make two pictures agree.
    broken : (m,), optional
        Which labelled rows are outside the cluster of their label.
    links : list of LinkLines, optional
        With the positions of their ends among the points.
    n_rows : int, optional
        Rows of the whole table, where not all are drawn.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sidelight import LabelledMixture
    >>> from sidelight.plots import ClustersDisplay
    >>> X = load_iris().data
    >>> display = ClustersDisplay.from_estimator(LabelledMixture(3, random_state=0).fit(X), X)
    >>> display.points.shape, display.names
    ((150, 2), ['cluster 0', 'cluster 1', 'cluster 2'])
    """

    def __init__(
        self,
        *,
        points: FloatArray,
        labels: AnyArray,
        certainty: FloatArray,
        known: BoolArray,
        names: list[str],
        plane: Plane,
        means: FloatArray,
        covariances: FloatArray,
        component_clusters: IntArray,
        colour_order: IntArray | None = None,
        broken: BoolArray | None = None,
        links: list[LinkLines] | None = None,
        n_rows: int | None = None,
    ) -> None:
        self.points = points
        self.labels = labels
        self.certainty = certainty
        self.known = known
        self.names = names
        self.plane = plane
        self.means = means
        self.covariances = covariances
        self.component_clusters = component_clusters
        self.colour_order = np.arange(len(names)) if colour_order is None else colour_order
        self.broken = np.zeros(len(points), dtype=bool) if broken is None else broken
        self.links = [] if links is None else links
        self.n_rows = len(points) if n_rows is None else n_rows
        self._standing = False

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        *,
        side: SideInformation | None = None,
        known: AnyArray | None = None,
        plane: Plane | None = None,
        colour_order: IntArray | None = None,
        random_state: int = 0,
        ax: "Axes | None" = None,
    ) -> Self:
        """Draw the table that an estimator was fitted to.

        Parameters
        ----------
        estimator : fitted estimator
            It has been fitted to the table.
        X : (n, d) array, sparse array or data frame
            The table it was fitted to. At most 5000 rows are drawn: those with labels and links first, then others at
            random. For the picture only, a missing cell is replaced by the mean of its column, a category becomes a
            column of ones and zeros, and sparse counts are reduced to their leading directions.
        side : SideInformation, optional
            The labels, links and blocks to show. At most 60 links of each kind are drawn, violated ones first.
        known : (n,) bool, optional
            Further rows to mark as labelled.
        plane : Plane, optional
            The plane of the picture; by default the one that shows these clusters best.
        colour_order : (n_clusters,), optional
            Which colour each cluster takes, to make two pictures agree.
        random_state : int
            Chooses the rows of a large table.
        ax : matplotlib axes, optional
            Where to draw; new axes by default.

        Returns
        -------
        display
            With ``ax_`` and ``figure_``.
        """
        table = fitted_table(estimator, X)
        all_labels = clusters_of(estimator, table)
        ringed = _ringed(table.n_rows, side, known)
        random = np.random.RandomState(random_state)
        noise = noise_of(estimator)
        links = [] if side is None else choose_links(side, all_labels, random, noise=noise)
        broken = np.zeros(table.n_rows, dtype=bool)
        if side is not None:
            broken[violations(side, all_labels, noise=noise).labels] = True
        ends = [line.pairs.ravel() for line in links]
        first = [np.flatnonzero(broken), *ends, np.flatnonzero(ringed)]
        rows = choose_rows(table.n_rows, first, _MOST_POINTS, random)
        labels = all_labels[rows]
        features = numeric_rows(table, rows)
        if plane is None:
            plane = plane_of(features.values, labels, features.names)
        means, covariances = gaussians_of(estimator, features.values.shape[1] if features.are_columns else 0)
        display = cls(
            points=plane.points(features.values),
            labels=labels,
            certainty=_certainty(estimator, table, rows, labels),
            known=ringed[rows],
            names=names_of(estimator, all_labels),
            plane=plane,
            means=plane.points(means) if len(means) else np.empty((0, 2)),
            covariances=plane.covariances(covariances) if len(means) else np.empty((0, 2, 2)),
            component_clusters=np.asarray(getattr(estimator, "component_clusters_", np.arange(len(means)))),
            colour_order=colour_order,
            broken=broken[rows],
            links=[line._replace(pairs=np.searchsorted(rows, line.pairs)) for line in links],
            n_rows=table.n_rows,
        )
        if features.values.shape[1] == 1:
            display._stand_above_each_other(random)
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
        ax = new_axes(8, 5.2) if ax is None else ax
        colours = cluster_colours(max(len(self.names), int(self.colour_order.max(initial=-1)) + 1))[self.colour_order]
        self._draw_components(ax, colours)
        points = self._draw_rows(ax, colours)
        marks = [*self._draw_rings(ax), *self._draw_links(ax)]
        if len(self.names) > _MOST_CLUSTERS_LISTED or self._standing:
            points = []
        if len(self.names) > _MOST_CLUSTERS_LISTED and not self._standing:
            self._write_names(ax, colours)
        if len(self.points) < self.n_rows:
            marks.append((_blank(), f"{len(self.points)} of {self.n_rows} rows drawn"))
        legend_beside(ax, points + marks)
        if self._standing:
            ax.set_yticks(range(len(self.names)), [written(name) for name in self.names])
        ax.set_xlabel(written(self.plane.names[0], 60), color=INK)
        ax.set_ylabel(written(self.plane.names[1], 60), color=INK)
        tidy_axes(ax)
        self.ax_ = ax
        self.figure_ = ax.figure
        return self

    def _stand_above_each_other(self, random: np.random.RandomState) -> None:
        """Use the second direction, which a single feature leaves free, to set clusters and rows apart."""
        self.points[:, 1] = self.labels + random.uniform(-_JITTER, _JITTER, len(self.points))
        self.means[:, 1] = self.component_clusters[: len(self.means)]
        self.covariances[:, 1, 1] = (2 * _JITTER) ** 2 / 4
        self._standing = True

    def _draw_components(self, ax: "Axes", colours: FloatArray) -> None:
        for mean, covariance, cluster in zip(self.means, self.covariances, self.component_clusters, strict=False):
            add_ellipse(ax, mean, covariance, colours[cluster], fill=0.07, edge=0.65)

    def _draw_rows(self, ax: "Axes", colours: FloatArray) -> list[tuple[Any, str]]:
        strength = np.clip(self.certainty, 0.15, 1.0)
        shades = np.column_stack([colours[self.labels], 0.8 * strength])
        across, up = self.points.T
        size = float(np.clip(4500 / np.sqrt(len(self.points) + 1) / 20, 5, 18))
        ax.scatter(across, up, s=size, c=shades, linewidths=0, rasterized=len(self.points) > _MOST_SHAPES, zorder=2)
        return [
            (ax.scatter([], [], s=28, color=colour), written(name))
            for name, colour in zip(self.names, colours, strict=True)
        ]

    def _draw_rings(self, ax: "Axes") -> list[tuple[Any, str]]:
        entries = []
        for rows, colour, words in (
            (self.known & ~self.broken, INK, "label given"),
            (self.broken, BROKEN, "broken label"),
        ):
            if rows.any():
                across, up = self.points[rows].T
                ring = ax.scatter(across, up, s=42, facecolors="none", edgecolors=colour, linewidths=1.0, zorder=4)
                entries.append((ring, f"{words} ({np.count_nonzero(rows)})"))
        return entries

    def _draw_links(self, ax: "Axes") -> list[tuple[Any, str]]:
        from matplotlib.collections import LineCollection

        entries = []
        for links in self.links:
            style = _LINE_STYLES[links.kind]
            for drawn, total, colour, width, words in (
                (~links.broken, links.n_kept, (*_rgb(QUIET), 0.75), 0.8, links.kind),
                (links.broken, links.n_broken, BROKEN, 1.4, f"broken {links.kind}"),
            ):
                if not total:
                    continue
                lines = LineCollection(
                    list(self.points[links.pairs[drawn]]),
                    colors=[colour],
                    linewidths=width,
                    linestyles=style,
                    zorder=3 if colour == BROKEN else 1.5,
                )
                ax.add_collection(lines)
                n_drawn = np.count_nonzero(drawn)
                entries.append((lines, f"{words} ({total})" if n_drawn == total else f"{words} ({n_drawn} of {total})"))
        return entries

    def _write_names(self, ax: "Axes", colours: FloatArray) -> None:
        from matplotlib.patheffects import withStroke

        numbered = all(name.startswith(_NUMBERED) for name in self.names)
        for cluster, name in enumerate(self.names):
            rows = self.labels == cluster
            if rows.any():
                across, up = np.median(self.points[rows], axis=0)
                ax.text(
                    across,
                    up,
                    written(name.removeprefix(_NUMBERED) if numbered else name, 16),
                    color=0.6 * colours[cluster],
                    fontsize="small",
                    fontweight="bold",
                    ha="center",
                    va="center",
                    zorder=5,
                    path_effects=[withStroke(linewidth=2.5, foreground="white")],
                )


def _ringed(n: int, side: SideInformation | None, known: AnyArray | None) -> BoolArray:
    """Return which rows carry a label."""
    ringed = np.zeros(n, dtype=bool)
    if known is not None:
        given = np.asarray(known)
        if given.shape != (n,):
            raise ValueError(f"known has shape {given.shape}, but X has {n} rows; give one True or False per row.")
        ringed |= given.astype(bool)
    if side is not None:
        if side.n_rows != n:
            raise ValueError(
                f"side has {side.n_rows} rows, but X has {n}; pass side.align(ids) with the ids of X's rows."
            )
        ringed |= side.labels >= 0
    return ringed


def _certainty(estimator: Any, table: FittedTable, rows: IntArray, labels: IntArray) -> FloatArray:
    """Return the probability of the cluster of each row; one where the model gives no probabilities."""
    if not has_probabilities(estimator):
        return np.ones(len(rows))
    return assigned_probability(posterior_of(estimator, table, rows), labels)


def _blank() -> Any:
    from matplotlib.lines import Line2D

    return Line2D([], [], linestyle="none")


def _rgb(colour: str) -> tuple[float, float, float]:
    from matplotlib.colors import to_rgb

    return to_rgb(colour)
