"""The clustering across the iterations of a fit."""

import matplotlib as mpl
import numpy as np
import pytest
from sklearn.datasets import load_iris, make_blobs

from sidelight import BayesianMixture, LabelledMixture
from sidelight.plots import HistoryDisplay
from sidelight.plots.figures import bare_figure

mpl.use("Agg")
X = load_iris().data
BLOBS, _ = make_blobs(300, centers=[[0, 0], [9, 0], [0, 9], [9, 9]], random_state=0)


@pytest.fixture(scope="module")
def bayesian():
    return BayesianMixture(12, random_state=0, init_params="k-means++").fit(BLOBS)


def history(model, table, *arguments):
    figure = bare_figure(10, 6)
    return HistoryDisplay.from_estimator(model, table, *arguments, figure=figure)


def test_the_clustering_is_drawn_across_iterations(bayesian):
    display = history(bayesian, BLOBS)
    assert len(display.panels) == 6
    assert display.panels[0].iteration == 0
    assert display.panels[-1].iteration == bayesian.n_iter_
    assert (np.diff([panel.iteration for panel in display.panels]) > 0).all()
    numbers = [len(panel.components) for panel in display.panels]
    assert numbers[0] > numbers[-1] == 4
    for ax, panel, number in zip(display.axes_.flat, display.panels, numbers, strict=True):
        assert len(ax.patches) == number
        assert ax.get_title(loc="left") == f"iteration {panel.iteration} · {number} components"
    # At the end, rows are where the fitted model has them, and components keep the colours they had before.
    last, end = display.panels[-2:]
    assert len(set(zip(end.labels, bayesian.labels_, strict=True))) == 4
    assert np.mean(last.labels == end.labels) > 0.5
    display.figure_.canvas.draw()


def test_iterations_can_be_chosen(bayesian):
    display = history(bayesian, BLOBS, [0, 2])
    assert [panel.iteration for panel in display.panels] == [0, 2]
    assert np.shape(display.axes_) == (1, 2)
    with pytest.raises(ValueError, match=r"iterations names 500, but the history has iterations 0 to \d+, and"):
        history(bayesian, BLOBS, [500])
    with pytest.raises(ValueError, match="iterations is empty"):
        history(bayesian, BLOBS, [])


def test_snapshots_place_rows_by_their_gaussians(bayesian):
    from scipy.stats import multivariate_normal

    display = history(bayesian, BLOBS, [1])
    snapshot = bayesian.history_[1]
    means, covariances = snapshot.parameters["means_"], snapshot.parameters["covariances_"]
    densities = [
        weight * multivariate_normal(mean, covariance).pdf(BLOBS)
        for weight, mean, covariance in zip(snapshot.weights, means, covariances, strict=True)
    ]
    np.testing.assert_array_equal(display.panels[0].labels, np.argmax(densities, axis=0))


def test_diagonal_covariances_have_a_history_too():
    model = BayesianMixture(4, covariance_type="diag", random_state=0).fit(X)
    assert len(history(model, X).panels) >= 2


def test_models_without_a_history_say_how_to_have_one():
    with pytest.raises(ValueError, match="LabelledMixture keeps no history_ of its fit; BayesianMixture does"):
        history(LabelledMixture(2, random_state=0).fit(X), X)
    with pytest.raises(ValueError, match="Fit with keep_history=True"):
        history(BayesianMixture(2, keep_history=False, random_state=0).fit(X), X)
    counts = np.random.default_rng(0).poisson(3, (60, 2)).astype(float)
    with pytest.raises(ValueError, match="components other than plain Gaussians"):
        history(BayesianMixture(2, family="poisson", random_state=0).fit(counts), counts)


def test_new_figures_are_made_where_none_are_given(bayesian):
    from matplotlib import pyplot as plt

    display = HistoryDisplay.from_estimator(bayesian, BLOBS, [0])
    assert display.axes_.shape == (1, 1)
    plt.close(display.figure_)
