"""The heat map of posterior probabilities."""

import matplotlib as mpl
import numpy as np
import pytest
from sklearn.datasets import load_iris, make_blobs

from sidelight import COPKMeans, LabelledMixture
from sidelight.plots import MembershipDisplay
from sidelight.plots.figures import bare_figure, cluster_colours

mpl.use("Agg")
X, Y = load_iris(return_X_y=True)


def draw(model, table):
    return MembershipDisplay.from_estimator(model, table, ax=bare_figure(8, 5.2).subplots())


def test_rows_stand_by_cluster_and_certainty_in_the_colours_of_the_clusters():
    y = np.where(np.arange(150) % 5 == 0, load_iris().target_names[Y].astype(object), None)
    model = LabelledMixture(random_state=0).fit(X, y)
    display = draw(model, X)
    assert (np.diff(display.labels) >= 0).all()
    certainty = display.posterior[np.arange(150), display.labels]
    for cluster in range(3):
        assert (np.diff(certainty[display.labels == cluster]) <= 0).all()
    image = np.asarray(display.ax_.images[0].get_array())
    surest = np.flatnonzero(display.labels == 1)[0]
    np.testing.assert_allclose(image[surest, 1], 1 - certainty[surest] * (1 - cluster_colours(3)[1]))
    np.testing.assert_allclose(image[surest, 0], 1, atol=1e-3)
    assert [text.get_text() for text in display.ax_.get_xticklabels()] == ["setosa", "versicolor", "virginica"]
    sizes = np.bincount(model.labels_)
    names = [text.get_text() for text in display.ax_.get_yticklabels()]
    assert names == [f"{name} ({size})" for name, size in zip(model.cluster_names_, sizes, strict=True)]
    display.figure_.canvas.draw()


def test_large_tables_are_thinned_in_proportion():
    table, _ = make_blobs([4500, 1500], centers=[[0, 0], [3, 0]], random_state=0)
    model = LabelledMixture(2, random_state=0).fit(table)
    display = draw(model, table)
    assert len(display.labels) == 600
    np.testing.assert_allclose(np.bincount(display.labels) / 600, np.bincount(model.labels_) / 6000, atol=0.005)
    doubtful = model.posterior_.max(axis=1) < 0.9
    assert abs(np.mean(display.posterior.max(axis=1) < 0.9) - doubtful.mean()) < 0.005
    assert display.ax_.get_ylabel() == "600 of 6000 rows"


def test_a_posterior_that_was_not_kept_is_found_again():
    kept = LabelledMixture(3, random_state=0).fit(X)
    lost = LabelledMixture(3, random_state=0, keep_posterior=False).fit(X)
    np.testing.assert_allclose(draw(lost, X).posterior, draw(kept, X).posterior, atol=1e-9)


def test_a_model_without_probabilities_is_refused():
    with pytest.raises(ValueError, match="COPKMeans puts every row in one cluster and gives no probabilities; use an"):
        draw(COPKMeans(3, random_state=0).fit(X), X)
