"""Pictures of clusters, drawn for real."""

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.figure import Figure
from sklearn.datasets import load_iris, make_blobs

from sidelight import LabelledMixture
from sidelight.plots import ClustersDisplay

mpl.use("Agg")
X, Y = load_iris(return_X_y=True)


def draw(model, table, **options):
    return ClustersDisplay.from_estimator(model, table, ax=Figure().subplots(), **options)


@pytest.mark.parametrize("covariance_type", ["full", "tied", "diag", "spherical"])
@pytest.mark.parametrize("d", [1, 2, 3, 4])
def test_rows_and_components_are_drawn(covariance_type, d):
    model = LabelledMixture(3, covariance_type=covariance_type, random_state=0).fit(X[:, :d])
    display = draw(model, X[:, :d], known=Y == 0)
    assert display.points.shape == (150, 2)
    assert len(display.ax_.patches) == 3
    ringed = display.ax_.collections[1].get_offsets()
    assert len(ringed) == 50
    display.figure_.canvas.draw()
    names = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert names == ["label given", "cluster 0", "cluster 1", "cluster 2"]


def test_ellipses_cover_about_as_many_rows_as_they_should():
    rng = np.random.default_rng(0)
    table = rng.multivariate_normal([3, -2], [[4.0, 1.5], [1.5, 1.0]], size=4000)
    display = draw(LabelledMixture(1, random_state=0).fit(table), table)
    ellipse = display.ax_.patches[0]
    inside = ellipse.get_patch_transform().inverted().transform(display.points)
    # Two standard deviations of a plane Gaussian hold 1 - exp(-2) of it.
    assert abs(np.mean(np.square(inside).sum(axis=1) <= 1) - (1 - np.exp(-2))) < 0.02


def test_uncertain_rows_are_paler():
    table, _ = make_blobs(400, centers=[[0, 0], [3, 0]], random_state=0)
    display = draw(LabelledMixture(2, random_state=0).fit(table), table)
    shades = display.ax_.collections[0].get_facecolors()[:, 3]
    certain, doubtful = display.certainty > 0.99, display.certainty < 0.7
    assert shades[certain].min() > shades[doubtful].max()


def test_large_tables_are_thinned_and_many_clusters_coloured():
    table, _ = make_blobs(6000, centers=14, random_state=0)
    display = draw(LabelledMixture(14, random_state=0, keep_posterior=False).fit(table), table)
    assert len(display.points) == 5000
    assert len({tuple(colour[:3]) for colour in display.ax_.collections[0].get_facecolors()}) == 14


def test_new_axes_are_made_where_none_are_given():
    from matplotlib import pyplot as plt

    display = ClustersDisplay.from_estimator(LabelledMixture(2, random_state=0).fit(X), X)
    assert display.ax_.get_xlabel() == "first principal component"
    plt.close(display.figure_)
