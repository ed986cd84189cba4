"""Scorers on links that were held back, and on the labels that there are."""

import numpy as np
import pytest
import sklearn
from sklearn.base import BaseEstimator
from sklearn.datasets import make_blobs
from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sidelight import EquivalenceMixture, HMRFKMeans, SideInformation
from sidelight.selection import LinkedKFold, LinkScorer, labelled_accuracy
from sidelight.side import draw_links

X, Y = make_blobs(90, centers=[[0, 0], [8, 0], [0, 8]], random_state=0)
IDS = np.array([f"row {number}" for number in range(90)])


class Given(BaseEstimator):
    """Answers with the first column."""

    def predict(self, X):
        return np.asarray(X)[:, 0].astype(int)


def links():
    drawn = draw_links(Y, n_must=30, n_cannot=30, random_state=0)
    return SideInformation.build(90, must_link=IDS[drawn.must_link], cannot_link=IDS[drawn.cannot_link], sample_id=IDS)


def test_the_score_is_the_mean_of_the_shares_of_both_kinds():
    side = SideInformation.build(6, must_link=[(0, 1), (2, 3)], cannot_link=[(0, 5), (1, 4), (2, 4), (3, 4)])
    clusters = np.array([[0], [0], [0], [1], [0], [1]])
    # One of two must-links is kept, and two of four cannot-links.
    assert LinkScorer(side)(Given(), clusters) == 0.5 * (1 / 2 + 2 / 4)
    assert LinkScorer(side)(Given(), np.zeros((6, 1))) == 0.5
    only_must = SideInformation.build(6, must_link=[(0, 1), (2, 3), (4, 5)])
    assert LinkScorer(only_must)(Given(), clusters) == pytest.approx(1 / 3)
    with pytest.raises(ValueError, match="none of the links is among these 6 rows.*LinkedKFold"):
        LinkScorer(SideInformation.build(6))(Given(), clusters)


def test_a_search_routes_links_to_fit_folds_and_scorer():
    side = links()
    with sklearn.config_context(enable_metadata_routing=True):
        search = GridSearchCV(
            make_pipeline(StandardScaler(), HMRFKMeans(random_state=0)),
            {"hmrfkmeans__n_clusters": [1, 3]},
            cv=LinkedKFold(3),
            scoring=LinkScorer(),
        ).fit(X, side=side, sample_id=IDS)
    assert search.best_params_ == {"hmrfkmeans__n_clusters": 3}
    assert search.best_score_ > 0.95
    assert search.cv_results_["mean_test_score"][0] == 0.5
    assert search.best_estimator_[-1].violations_.n_must_link == len(side.must_link)


def test_links_of_the_test_rows_are_not_seen_by_the_fit():
    side = links()
    with sklearn.config_context(enable_metadata_routing=True):
        found = cross_validate(
            EquivalenceMixture(3, random_state=0),
            X,
            cv=LinkedKFold(3),
            params={"side": side, "sample_id": IDS},
            scoring={"links": LinkScorer()},
            return_estimator=True,
            return_indices=True,
        )
    seen = [model.violations_.n_must_link for model in found["estimator"]]
    held_back = [np.isin(side.must_link, rows).all(axis=1).sum() for rows in found["indices"]["test"]]
    assert [a + b for a, b in zip(seen, held_back, strict=True)] == [len(side.must_link)] * 3
    assert found["test_links"].mean() > 0.95


def test_accuracy_leaves_out_rows_without_a_label():
    table = np.array([[0], [1], [1], [0]])
    assert labelled_accuracy(Given(), table, [0, 1, -1, 1]) == 2 / 3
    assert labelled_accuracy(Given(), table, [0, 1, np.nan, 0]) == 1
    with pytest.raises(ValueError, match="y has no labels among these rows"):
        labelled_accuracy(Given(), table, [-1, -1, -1, -1])
