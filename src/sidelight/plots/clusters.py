"""Clusters in the plane that shows them best."""

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from sidelight.kernels.arrays import AnyArray, BoolArray, FloatArray, IntArray
from sidelight.plots.projection import Plane, plane_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MOST_POINTS = 5000
_MOST_CLUSTERS_NAMED = 12


class ClustersDisplay:
    """Rows of a table coloured by cluster; the paler, the less certain.

    Make one with :meth:`from_estimator`. Rows with a label carry a ring, components of Gaussian mixtures are drawn as
    ellipses of two standard deviations.

    Parameters
    ----------
    points : (m, 2)
        Where the rows are seen.
    labels : (m,)
        Their clusters.
    certainty : (m,)
        Probability of the cluster each is in.
    known : (m,)
        Which rows carried a label.
    names : list of str
        Names of the clusters.
    plane : Plane
    means, covariances : (k, 2), (k, 2, 2)
        Components as seen in the plane; empty where the model has none.
    component_clusters : (k,)
        The cluster of each component.
    colour_order : (n_clusters,), optional
        Which colour each cluster takes, to make two pictures agree.
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

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        *,
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
        X : (n, d) array or data frame
            The table it was fitted to; of more than 5000 rows, so many are drawn at random.
        known : (n,) bool, optional
            Rows to mark as labelled.
        plane : Plane, optional
            Where to look from; by default the plane that shows these clusters best.
        colour_order : (n_clusters,), optional
            Which colour each cluster takes, to make two pictures agree.
        random_state : int
            Chooses the rows of a large table.
        ax : matplotlib axes, optional
        """
        check_is_fitted(estimator)
        table = np.asarray(X, dtype=float)
        n, d = table.shape
        rows = np.arange(n)
        if n > _MOST_POINTS:
            rows = np.sort(np.random.RandomState(random_state).choice(n, _MOST_POINTS, replace=False))
        labels = np.asarray(estimator.labels_)[rows]
        if plane is None:
            feature_names = getattr(estimator, "feature_names_in_", [f"feature {i}" for i in range(d)])
            plane = plane_of(table[rows], labels, [str(name) for name in feature_names])
        means, covariances = _components(estimator, d)
        display = cls(
            points=plane.points(table[rows]),
            labels=labels,
            certainty=_certainty(estimator, table, rows),
            known=np.zeros(len(rows), dtype=bool) if known is None else np.asarray(known)[rows],
            names=[str(name) for name in estimator.cluster_names_],
            plane=plane,
            means=plane.points(means),
            covariances=plane.covariances(covariances),
            component_clusters=np.asarray(getattr(estimator, "component_clusters_", np.arange(len(means)))),
            colour_order=colour_order,
        )
        return display.plot(ax=ax)

    def plot(self, *, ax: "Axes | None" = None) -> Self:
        """Draw on axes, on new ones by default; they are kept as ``ax_`` and ``figure_``."""
        from matplotlib import pyplot as plt
        from matplotlib.patches import Ellipse

        if ax is None:
            _, ax = plt.subplots(figsize=(7, 5.5), layout="constrained")
        colours = _colours(len(self.names))[self.colour_order]
        for component, cluster in enumerate(self.component_clusters[: len(self.means)]):
            width, height, angle = _ellipse(self.covariances[component])
            style = {"facecolor": (*colours[cluster], 0.08), "edgecolor": (*colours[cluster], 0.7)}
            ax.add_patch(Ellipse(tuple(self.means[component]), width, height, angle=angle, **style))
        strength = np.clip(self.certainty, 0.15, 1.0)
        shades = np.column_stack([colours[self.labels], 0.75 * strength])
        across, up = self.points.T
        ax.scatter(across, up, s=12, c=shades, linewidths=0)
        if self.known.any():
            ax.scatter(
                across[self.known],
                up[self.known],
                s=42,
                facecolors="none",
                edgecolors="black",
                linewidths=0.9,
                label="label given",
            )
        for cluster, name in enumerate(self.names[:_MOST_CLUSTERS_NAMED]):
            ax.scatter([], [], s=24, color=colours[cluster], label=name)
        ax.legend(loc="best", fontsize="small", frameon=False, ncols=1 + (len(self.names) > 6))
        ax.set(xlabel=self.plane.names[0], ylabel=self.plane.names[1])
        ax.spines[["top", "right"]].set_visible(False)
        self.ax_ = ax
        self.figure_ = ax.figure
        return self


def _certainty(estimator: Any, table: FloatArray, rows: IntArray) -> FloatArray:
    """Return how probable the cluster of each row is; one where the model does not say."""
    try:
        posterior = estimator.posterior_[rows]
    except AttributeError:  # not kept, or the model has none
        if not hasattr(estimator, "predict_proba"):
            return np.ones(len(rows))
        posterior = estimator.predict_proba(table[rows])
    return np.asarray(posterior.max(axis=1))


def _components(estimator: Any, d: int) -> tuple[FloatArray, FloatArray]:
    """Return means (k, d) and covariances (k, d, d) of a Gaussian mixture; none of another model."""
    means, covariances = getattr(estimator, "means_", None), getattr(estimator, "covariances_", None)
    if means is None or covariances is None:
        return np.empty((0, d)), np.empty((0, d, d))
    if covariances.ndim == 3:
        return means, covariances
    if covariances.ndim == 1:
        return means, covariances[:, None, None] * np.eye(d)
    if estimator.covariance_type == "tied":
        return means, np.broadcast_to(covariances, (len(means), d, d))
    return means, covariances[:, :, None] * np.eye(d)


def _ellipse(covariance: FloatArray) -> tuple[float, float, float]:
    """Return width, height and angle of the ellipse of two standard deviations."""
    values, vectors = np.linalg.eigh(covariance)
    height, width = 4 * np.sqrt(np.maximum(values, 0.0))
    return float(width), float(height), float(np.degrees(np.arctan2(vectors[1, 1], vectors[0, 1])))


def _colours(n: int) -> FloatArray:
    from matplotlib import colormaps

    if n <= 10:
        return np.asarray(colormaps["tab10"].colors)[:n]  # type: ignore[attr-defined]
    return np.asarray(colormaps["gist_rainbow"](np.linspace(0, 1, n)))[:, :3]
