"""The curve of a fit: its bound or cost, and its components."""

import matplotlib as mpl
import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.datasets import load_iris, make_blobs

from sidelight import BayesianMixture, HMRFKMeans, LabelledMixture
from sidelight.plots import ConvergenceDisplay
from sidelight.plots.figures import bare_figure

mpl.use("Agg")
X = load_iris().data
BLOBS, _ = make_blobs(300, centers=[[0, 0], [9, 0], [0, 9], [9, 9]], random_state=0)


@pytest.fixture(scope="module")
def bayesian():
    return BayesianMixture(12, random_state=0, init_params="k-means++").fit(BLOBS)


def converge(model):
    return ConvergenceDisplay.from_estimator(model, ax=bare_figure(8, 5.2).subplots())


def test_the_bound_is_drawn_with_what_was_reached():
    model = LabelledMixture(3, random_state=0).fit(X)
    display = converge(model)
    np.testing.assert_allclose(display.ax_.lines[0].get_ydata(), model.lower_bounds_)
    assert f"after {model.n_iter_} iteration" in display.ax_.get_title(loc="left")
    assert display.ax_.get_title(loc="left").endswith("converged")
    assert display.ax_.get_ylabel() == "lower bound per row"
    assert len(display.figure_.axes) == 1


def test_methods_that_lower_a_cost_say_so():
    model = HMRFKMeans(3, random_state=0).fit(X)
    display = converge(model)
    np.testing.assert_allclose(display.ax_.lines[0].get_ydata(), model.objectives_)
    assert display.ax_.get_ylabel() == "objective (lower is better)"


def test_a_fit_that_did_not_converge_is_marked(recwarn):
    display = converge(LabelledMixture(3, max_iter=1, tol=0, init_params="k-means++", random_state=0).fit(X))
    assert "not converged: raise max_iter" in display.ax_.get_title(loc="left")


def test_components_in_use_are_drawn_where_the_history_was_kept(bayesian):
    display = converge(bayesian)
    _, beside = display.figure_.axes
    during = beside.lines[0].get_ydata()
    assert len(during) == len(bayesian.history_)
    assert during[0] > 4
    assert beside.lines[-1].get_ydata()[0] == len(bayesian.weights_) == 4
    assert beside.get_ylabel() == "components that hold rows"


def test_a_model_without_a_course_is_refused():
    with pytest.raises(ValueError, match="KMeans keeps neither lower_bounds_ nor objectives_"):
        converge(KMeans(3, n_init=1, random_state=0).fit(X))
