"""The clustering across the iterations of a fit, picture by picture."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
from scipy.optimize import linear_sum_assignment

from sidelight._typing import FloatArray, IntArray
from sidelight.describe.table import fitted_table
from sidelight.inference.loop import Snapshot
from sidelight.plots.components import Gaussians, add_ellipse, full_covariances
from sidelight.plots.figures import INK, cluster_colours, new_figure, tidy_axes, written
from sidelight.plots.projection import Plane, numeric_rows, plane_of
from sidelight.plots.sampling import choose_rows
from sidelight.tables.power import transformed

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_MOST_POINTS = 1500
_MOST_SHAPES = 500
_KEPT_PANELS = 5
# Width by height, of a new figure and of each picture in it.
_PROPORTION = 1.7
_PANEL_PROPORTION = 1.2


class Panel(NamedTuple):
    """The model before one step.

    Parameters
    ----------
    iteration : int
    labels : (m,)
        The component of each row.
    components, means, covariances : (k,), (k, 2), (k, 2, 2)
        Numbers of the components that hold rows, and these as seen in the plane.
    """

    iteration: int
    labels: IntArray
    components: IntArray
    means: FloatArray
    covariances: FloatArray


@dataclass(eq=False, repr=False, kw_only=True)
class HistoryDisplay:
    """The components of a mixture at several iterations of its fit, after figures 3 to 5 of Echraibi et al. (2019).

    Make one with :meth:`from_estimator`. A component keeps its colour from picture to picture; those that hold the most
    rows at the end have the first colours. Rows are assigned by the Gaussians of that step, without side information.

    Parameters
    ----------
    points : (m, 2)
        Positions of the rows in the plane.
    panels : list of Panel
        One for each iteration that is shown.
    colour_order : (components,)
        Which colour each component takes.
    plane : Plane
        The plane that the rows are drawn in.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sidelight import BayesianMixture
    >>> from sidelight.plots import HistoryDisplay
    >>> X = load_iris().data
    >>> model = BayesianMixture(3, covariance_type="full", random_state=0).fit(X)
    >>> display = HistoryDisplay.from_estimator(model, X, iterations=[0, 1])
    >>> len(display.panels)
    2
    """

    points: FloatArray
    panels: list[Panel]
    colour_order: IntArray
    plane: Plane

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        iterations: Any = None,
        *,
        plane: Plane | None = None,
        random_state: int = 0,
        figure: "Figure | None" = None,
    ) -> Self:
        """Draw the course of a fit on the table it was fitted to.

        Parameters
        ----------
        estimator : fitted estimator
            With ``history_`` of Gaussian components: a BayesianMixture.
        X : (n, d) array or data frame
            The table it was fitted to. At most 1500 rows are drawn, chosen at random. Columns in ``column_powers_`` are
            drawn on their scale, where components are ellipses.
        iterations : sequence of int, optional
            Which iterations to show, from 0 up; ``n_iter_`` is the end of the fit. By default up to five, closer
            together at the start, where more happens, and the end.
        plane : Plane, optional
            The plane of the pictures; by default the one that shows the final clusters best.
        random_state : int
            Chooses the rows of a large table.
        figure : matplotlib figure, optional
            Where to draw; a new one by default.

        Returns
        -------
        display
            With ``figure_`` and ``axes_``.
        """
        table = fitted_table(estimator, X)
        history = _history_of(estimator)
        end = max(int(estimator.n_iter_), len(history))
        chosen = [*_spread(len(history)), end] if iterations is None else _checked(iterations, len(history), end)
        rows = choose_rows(table.n_rows, [], _MOST_POINTS, np.random.RandomState(random_state))
        features = numeric_rows(table, rows)
        values = transformed(features.values, table.columns.powers)
        if plane is None:
            plane = plane_of(values, np.asarray(estimator.labels_)[rows], features.names)
        numbers = _component_numbers(history, values)
        panels = [
            _end_panel(estimator, history[-1], end, numbers[-1], values, plane)
            if iteration == end
            else _panel(history[iteration], iteration, numbers[iteration], values, plane)
            for iteration in chosen
        ]
        # The largest components at the end have the first colours, and those that were pruned the last.
        sizes = np.asarray(history[0].weights) - 1.0
        sizes[numbers[-1]] = history[-1].weights
        colour_order = np.argsort(np.argsort(-sizes, kind="stable"))
        display = cls(points=plane.points(values), panels=panels, colour_order=colour_order, plane=plane)
        return display.plot(figure=figure)

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
        n = len(self.panels)
        proportion = _PROPORTION if figure is None else figure.bbox.width / figure.bbox.height
        n_rows = int(np.clip(round(np.sqrt(n * _PANEL_PROPORTION / proportion)), 1, n))
        n_columns = -(-n // n_rows)
        figure = new_figure(3.4 * n_columns, 0.3 + 2.8 * n_rows) if figure is None else figure
        grid = figure.subplots(n_rows, n_columns, sharex=True, sharey=True, squeeze=False)
        colours = cluster_colours(len(self.colour_order))[self.colour_order]
        for ax, panel in zip(grid.flat, self.panels, strict=False):
            self._draw(ax, panel, colours)
        for ax in grid.flat[n:]:
            ax.set_visible(False)
        for ax in grid.flat[max(n - n_columns, 0) : n]:
            ax.tick_params(labelbottom=True)  # these have nothing below them
        figure.supxlabel(written(self.plane.names[0], 60), fontsize="medium", color=INK)
        figure.supylabel(written(self.plane.names[1], 60), fontsize="medium", color=INK)
        self.axes_ = grid
        self.figure_ = figure
        return self

    def _draw(self, ax: "Axes", panel: Panel, colours: FloatArray) -> None:
        for component, mean, covariance in zip(panel.components, panel.means, panel.covariances, strict=True):
            add_ellipse(ax, mean, covariance, colours[component], fill=0.08, edge=0.8)
        many = len(self.points) > _MOST_SHAPES
        across, up = self.points.T
        ax.scatter(across, up, s=5, c=colours[panel.labels], alpha=0.6, linewidths=0, rasterized=many)
        n = len(panel.components)
        ax.set_title(
            f"iteration {panel.iteration} · {n} component{'s'[: n != 1]}", fontsize="small", loc="left", color=INK
        )
        tidy_axes(ax)


def _history_of(estimator: Any) -> list[Any]:
    """Return the steps that were kept; refuse a model that kept none, or that has no Gaussian components."""
    name = type(estimator).__name__
    if not hasattr(type(estimator), "history_"):
        raise ValueError(f"{name} keeps no history_ of its fit; BayesianMixture does.")
    try:
        history: list[Any] = estimator.history_
    except AttributeError as error:
        raise ValueError(f"{name}: {error}") from error
    if "means_" not in history[0].parameters or "covariances_" not in history[0].parameters:
        raise ValueError(
            f"{name} has components other than plain Gaussians, which this picture cannot show; its course is drawn "
            "by ConvergenceDisplay."
        )
    return history


def _spread(n: int) -> list[int]:
    """Return iterations from the first to the last of n, closer together at the start."""
    places = np.geomspace(1, n, min(_KEPT_PANELS, n)).round().astype(int)
    # Where rounding makes two equal, the later ones move up.
    for place in range(1, len(places)):
        places[place] = max(places[place], places[place - 1] + 1)
    return [int(place) - 1 for place in places]


def _checked(iterations: Any, n_kept: int, end: int) -> list[int]:
    chosen = [int(iteration) for iteration in iterations]
    if not chosen:
        raise ValueError("iterations is empty; name at least one, or leave it out.")
    for iteration in chosen:
        if not (0 <= iteration < n_kept or iteration == end):
            raise ValueError(
                f"iterations names {iteration}, but the history has iterations 0 to {n_kept - 1}, and {end} is the end "
                "of the fit; choose among these."
            )
    return chosen


def _component_numbers(history: list[Any], values: FloatArray) -> list[IntArray]:
    """Return the numbers of the components of every step: a component keeps the one it had at the start."""
    numbers = [np.arange(len(history[0].weights))]
    for before, after in pairwise(history):
        if len(after.weights) == len(before.weights):
            numbers.append(numbers[-1])
        else:  # some were pruned
            numbers.append(numbers[-1][_matched(_labels(after, values), _labels(before, values), after, before)])
    return numbers


def _matched(labels: IntArray, labels_before: IntArray, after: Any, before: Any) -> IntArray:
    """Return the component before that each component shares most rows with, one to one."""
    shared = np.zeros((len(after.weights), len(before.weights)))
    np.add.at(shared, (labels, labels_before), 1)
    return linear_sum_assignment(shared, maximize=True)[1]


def _labels(snapshot: Any, values: FloatArray) -> IntArray:
    return _most_probable(values, np.asarray(snapshot.weights), *_gaussians(snapshot.parameters))


def _panel(snapshot: Any, iteration: int, numbers: IntArray, values: FloatArray, plane: Plane) -> Panel:
    """Return the assignment of the rows by the model of a step."""
    means, covariances = _gaussians(snapshot.parameters)
    labels = _labels(snapshot, values)
    components = np.unique(labels)
    seen = plane.points(means[components]), plane.covariances(covariances[components])
    return Panel(iteration, numbers[labels], numbers[components], *seen)


def _end_panel(estimator: Any, last: Any, iteration: int, numbers: IntArray, values: FloatArray, plane: Plane) -> Panel:
    """Return the assignment by the fitted model, its components numbered as in the last step."""
    parameters = {"means_": estimator.means_, "covariances_": estimator.covariances_}
    end = Snapshot(estimator.lower_bound_, np.asarray(estimator.weights_), parameters)
    matched = _matched(_labels(end, values), _labels(last, values), end, last)
    return _panel(end, iteration, numbers[matched], values, plane)


def _gaussians(parameters: Mapping[str, Any]) -> Gaussians:
    means = np.asarray(parameters["means_"])
    k, d = means.shape
    return Gaussians(means, full_covariances(np.asarray(parameters["covariances_"]), k, d, "full"))


def _most_probable(values: FloatArray, weights: FloatArray, means: FloatArray, covariances: FloatArray) -> IntArray:
    """Return the Gaussian that each row most probably comes from."""
    factors = np.linalg.cholesky(covariances)
    whitened = np.linalg.solve(factors[:, None], (values - means[:, None])[..., None])[..., 0]
    log_roots = np.log(np.diagonal(factors, axis1=1, axis2=2)).sum(axis=1)
    log_weights = np.log(np.maximum(weights, np.finfo(float).tiny))
    scores = (log_weights - log_roots)[:, None] - 0.5 * np.square(whitened).sum(axis=2)
    return np.asarray(scores.argmax(axis=0), dtype=np.int64)
