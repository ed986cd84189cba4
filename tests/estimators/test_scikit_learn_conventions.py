"""What users of scikit-learn expect of every estimator: scoring, searches, routing, features, notebooks."""

import re

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.datasets import make_blobs
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sidelight import (
    BayesianMixture,
    GraphPropagation,
    GuidedMixture,
    LabelledMixture,
    LatentProcessDecomposition,
    SeededKMeans,
    SideInformation,
    all_estimators,
)
from sidelight.metrics import violations

EVERY = pytest.mark.parametrize("estimator", [cls for _, cls in all_estimators()], ids=[n for n, _ in all_estimators()])
X, Y = make_blobs(60, centers=[[0, 0, 0], [8, 0, 0], [0, 8, 8]], random_state=0)
NAMES = np.array(["ash", "birch", "cedar"], dtype=object)[Y]
FOLDS = StratifiedKFold(2, shuffle=True, random_state=0)


def make(estimator):
    return estimator(random_state=0) if "random_state" in estimator().get_params() else estimator()


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@EVERY
def test_accuracy_of_string_labels(estimator):
    assert "labels" in estimator.takes
    assert cross_val_score(make(estimator), X, NAMES, cv=FOLDS, scoring="accuracy").min() == 1
    # Numbers that are not those of the clusters, which start at 0.
    assert cross_val_score(make(estimator), X, 10 * Y + 3, cv=FOLDS, scoring="accuracy").min() == 1


def test_a_search_with_string_labels():
    pipeline = make_pipeline(StandardScaler(), SeededKMeans(random_state=0))
    search = GridSearchCV(pipeline, {"seededkmeans__n_clusters": [3, 12]}, cv=FOLDS, scoring="f1_macro")
    assert search.fit(X, NAMES).best_params_ == {"seededkmeans__n_clusters": 3}
    assert search.best_score_ == 1
    assert search.predict(X[:3]).tolist() == NAMES[:3].tolist()
    assert search.classes_.tolist() == ["ash", "birch", "cedar"]


@pytest.mark.parametrize(
    ("labels", "classes", "answers"),
    [
        ([-1] * 60, [0, 1, 2], {0, 1, 2}),
        (NAMES, ["ash", "birch", "cedar"], {"ash", "birch", "cedar"}),
        (Y, [0, 1, 2], {0, 1, 2}),
        (Y + 5, [5, 6, 7], {5, 6, 7}),
        (np.where(Y < 2, Y, -1), [0, 1, 2], {0, 1, 2}),
        (np.where(Y < 2, Y + 5, -1), [5, 6, 7], {5, 6, 7}),
        (np.where(Y < 2, NAMES, None), ["ash", "birch", "new 1"], {"ash", "birch", "new 1"}),
        # Names that sidelight itself gives are labels all the same where they are given as labels.
        (np.array(["cluster 0", "cluster 1", "cluster 2"], dtype=object)[Y], None, {f"cluster {k}" for k in range(3)}),
    ],
)
def test_predict_answers_in_the_words_of_y(labels, classes, answers):
    model = LabelledMixture(3, random_state=0).fit(X, labels)
    found = model.predict(X)
    assert set(found.tolist()) == answers
    if classes is not None:
        assert model.classes_.tolist() == classes
    np.testing.assert_array_equal(found, model.classes_[model.predict_proba(X).argmax(axis=1)])
    np.testing.assert_array_equal(model.predict_clusters(X), model.labels_)
    np.testing.assert_array_equal(model.fit_predict(X, labels), model.labels_)


def test_booleans_stay_booleans():
    model = SeededKMeans(random_state=0).fit(X, Y > 0)
    assert model.predict(X).dtype == bool
    assert model.classes_.tolist() == [False, True]


def test_noise_is_minus_one_among_numbers_and_a_name_among_names():
    table, far = np.r_[np.linspace(0, 1, 10), np.linspace(9, 10, 10)][:, None], [[0.5], [500.0], [9.5]]
    numbers = BayesianMixture(2, noise=0.05, random_state=0).fit(table, [3, *[-1] * 18, 7])
    assert numbers.predict(far).tolist() == [3, -1, 7]
    names = BayesianMixture(2, noise=0.05, random_state=0).fit(table, ["low", *[None] * 18, "high"])
    assert names.predict(far).tolist() == ["low", "noise", "high"]


@EVERY
def test_statements_are_routed_through_a_pipeline(estimator):
    side = SideInformation.build(60, y=NAMES, sample_id=np.arange(60))
    with sklearn.config_context(enable_metadata_routing=True):
        pipeline = make_pipeline(StandardScaler(), make(estimator))
        pipeline.fit(X[::-1], side=side, sample_id=np.arange(60)[::-1])
    np.testing.assert_array_equal(pipeline.predict(X), NAMES)
    assert pipeline[-1].n_features_in_ == 3


def test_weights_are_routed_when_they_are_asked_for():
    weights = np.where(Y == 2, 3.0, 1.0)
    with sklearn.config_context(enable_metadata_routing=True):
        with pytest.raises(ValueError, match="sample_weight"):
            make_pipeline(StandardScaler(), LabelledMixture()).fit(X, NAMES, sample_weight=weights)
        pipeline = make_pipeline(
            StandardScaler().set_fit_request(sample_weight=False), LabelledMixture().set_fit_request(sample_weight=True)
        ).fit(X, NAMES, sample_weight=weights)
    np.testing.assert_allclose(pipeline[-1].weights_, [0.2, 0.2, 0.6], atol=1e-6)


@pytest.mark.parametrize(
    "estimator",
    [GuidedMixture, LabelledMixture, LatentProcessDecomposition, GraphPropagation],
    ids=lambda c: c.__name__,
)
def test_probabilities_are_features_with_the_names_of_the_clusters(estimator):
    model = make(estimator).fit(X, NAMES)
    assert model.get_feature_names_out().tolist() == ["ash", "birch", "cedar"]
    frame = model.set_output(transform="pandas").transform(X)
    assert isinstance(frame, pd.DataFrame)
    assert list(frame.columns) == ["ash", "birch", "cedar"]
    np.testing.assert_allclose(frame.to_numpy(), model.predict_proba(X))
    assert isinstance(model.predict_proba(X), np.ndarray)
    assert isinstance(model.predict(X), np.ndarray)


def test_features_without_labels_are_numbered_as_scikit_learn_does():
    model = LabelledMixture(2, random_state=0).fit(X)
    assert model.get_feature_names_out().tolist() == ["labelledmixture0", "labelledmixture1"]


def test_notebooks_show_models_with_links_to_their_pages(monkeypatch):
    monkeypatch.setenv("SIDELIGHT_DOCS", "pages/")
    links = re.findall(r'href="([^"]*)"', GuidedMixture()._repr_html_())
    assert {link.partition("#")[0] for link in links} == {"pages/reference/generated/sidelight.GuidedMixture.html"}
    monkeypatch.delenv("SIDELIGHT_DOCS")
    assert re.findall(r'href="([^"]+)"', GuidedMixture()._repr_html_()) == []


def test_notebooks_show_side_information_and_broken_statements_as_tables():
    side = SideInformation.build(
        8,
        y=["<b>", None, None, "c", None, None, None, None],
        must_link=[(0, 1), (0, 2), (0, 4), (4, 5), (5, 6), (6, 7)],
        confidence=0.9,
        blocks=[[0, 1]],
    )
    shown = side._repr_html_()
    assert "0: &lt;b&gt;; 3: c" in shown
    assert "<td>must-links, 6 of them uncertain</td><td>6</td><td>0 – 1; 0 – 2; 0 – 4; 4 – 5; 5 – 6; …</td>" in shown
    assert "<td>blocks</td><td>1</td><td>0: 2 rows</td>" in shown
    assert "cannot" not in shown
    broken = violations(side, [0, 0, 1, 1, 0, 0, 0, 0])._repr_html_()
    assert "<td>must-links</td><td>1</td><td>6</td><td>0 – 2</td>" in broken
