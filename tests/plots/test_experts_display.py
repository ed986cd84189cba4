"""What each expert says, side by side."""

import matplotlib as mpl
import numpy as np
import pytest
from sklearn.datasets import load_iris

from sidelight import BayesianMixture, GuidedMixture, SideInformation
from sidelight.plots import ExpertsDisplay
from sidelight.plots.experts import TOGETHER, columns_of
from sidelight.plots.figures import bare_figure, cluster_colours

mpl.use("Agg")
X, Y = load_iris(return_X_y=True)
NAMES = np.where(np.arange(150) % 10 == 0, load_iris().target_names[Y].astype(object), None)
MODEL = GuidedMixture(random_state=0).fit(X, NAMES)


def test_every_expert_has_a_picture_in_the_colours_of_its_opinion():
    side = SideInformation.build(150, y=NAMES)
    display = ExpertsDisplay.from_estimator(MODEL, X, side=side, figure=bare_figure(10, 8))
    titles = [ax.get_title() for ax in display.axes_]
    assert titles[-1] == TOGETHER
    assert {title.rsplit(" (", 1)[0] for title in titles[:-1]} == set(MODEL.expert_weights_)
    assert sum(display.shares.values()) == pytest.approx(1)
    shares = [display.shares[name] for name in display.opinions if name != TOGETHER]
    assert shares == sorted(shares, reverse=True)
    colours = cluster_colours(3)
    for ax, opinion in zip(display.axes_, display.opinions.values(), strict=True):
        drawn = ax.collections[0].get_facecolors()
        np.testing.assert_allclose(drawn[:, :3], colours[opinion.argmax(axis=1)])
        assert len(ax.collections[1].get_offsets()) == 15
    display.figure_.canvas.draw()


def test_experts_are_those_that_predict_together():
    opinions = MODEL.expert_probabilities(X)
    scores = sum(MODEL.expert_weights_[name] * np.log(opinion) for name, opinion in opinions.items())
    together = np.exp(scores - np.logaddexp.reduce(scores, axis=1, keepdims=True))
    np.testing.assert_allclose(together, MODEL.predict_proba(X), atol=1e-9)


def test_told_nothing_the_mixture_is_the_only_expert():
    model = GuidedMixture(random_state=0).fit(X)
    (name,) = model.expert_probabilities(X)
    assert name == "mixture"
    display = ExpertsDisplay.from_estimator(model, X, figure=bare_figure(6, 3))
    assert len(display.axes_) == 2


def test_other_estimators_and_other_tables_are_refused():
    with pytest.raises(TypeError, match="BayesianMixture has none"):
        ExpertsDisplay.from_estimator(BayesianMixture(3, random_state=0).fit(X), X)
    with pytest.raises(ValueError, match="side has 4 rows, but X has 150"):
        ExpertsDisplay.from_estimator(MODEL, X, side=SideInformation.build(4, y=[0, 1, -1, -1]))


def test_few_places_stay_empty():
    assert [columns_of(n_pictures) for n_pictures in (1, 2, 6, 8, 9, 12, 13, 14)] == [1, 2, 3, 4, 3, 4, 5, 5]
