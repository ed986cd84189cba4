"""Every public estimator: scikit-learn's own checks, and what design and users expect of all of them."""

import pickle
from functools import cache

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.model_selection import KFold, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator

import sidelight
from sidelight import SideInformation, all_estimators
from sidelight.side import draw_labels, draw_links

EVERY = pytest.mark.parametrize("estimator", [cls for _, cls in all_estimators()], ids=[n for n, _ in all_estimators()])
X, Y = load_iris(return_X_y=True)
PARTIAL = draw_labels(Y, fraction=0.2, random_state=0)


def make(estimator, **parameters):
    return estimator(**{"random_state": 0} | parameters) if "random_state" in estimator().get_params() else estimator()


@cache
def fitted(estimator):
    """Return the estimator fitted to iris with a fifth of its labels; several tests look at it, none changes it."""
    return make(estimator).fit(X, PARTIAL)


# scikit-learn's checks are about conventions: where a start or a search takes most of the time, they get the one that
# takes least. What the defaults find is the matter of each estimator's own tests.
QUICK = {
    "BayesianMixture": {"n_components": 4, "covariance_type": "full", "power": False, "init_params": "kmeans"},
    "ClassMixture": {"n_components": 4, "init_params": "kmeans"},
    "EquivalenceMixture": {"init_params": "kmeans"},
    "LabelledMixture": {"n_components": 3},
}
# A forest draws other samples of weighted rows than of repeated ones, in scikit-learn too.
_DRAWN = ("check_sample_weight_equivalence_on_dense_data", "check_sample_weights_invariance")
EXPECTED_TO_FAIL = {"GuidedMixture": dict.fromkeys(_DRAWN, "samples of rows are drawn at random")}


@pytest.mark.filterwarnings("ignore")
@EVERY
def test_scikit_learns_own_checks_pass(estimator):
    check_as_scikit_learn_does(estimator)


@pytest.mark.filterwarnings("ignore")
@EVERY
def test_scikit_learns_own_checks_pass_with_metadata_routing(estimator):
    with config_context(enable_metadata_routing=True):
        check_as_scikit_learn_does(estimator)


def check_as_scikit_learn_does(estimator):
    expected = EXPECTED_TO_FAIL.get(estimator.__name__)
    results = check_estimator(
        estimator(**QUICK.get(estimator.__name__, {})), on_fail=None, expected_failed_checks=expected
    )
    failed = [(result["check_name"], result["exception"]) for result in results if result["status"] == "failed"]
    assert not failed
    assert sum(result["status"] == "passed" for result in results) > 40


def test_the_list_is_what_the_package_exports():
    assert all_estimators()
    for name, estimator in all_estimators():
        assert getattr(sidelight, name) is estimator


@EVERY
def test_labels_are_numbered_as_given_and_those_not_respected_are_told(estimator):
    if "labels" not in estimator.takes:
        pytest.skip("takes no labels")
    model = fitted(estimator)
    differ = np.flatnonzero((PARTIAL >= 0) & (model.labels_ != PARTIAL))
    np.testing.assert_array_equal(model.violations_.labels, differ)
    assert len(differ) < 0.2 * np.count_nonzero(PARTIAL >= 0)
    assert model.n_clusters_ == 3
    assert model.cluster_names_.tolist() == [0, 1, 2]


@EVERY
def test_names_of_labels_come_back(estimator):
    if "labels" not in estimator.takes:
        pytest.skip("takes no labels")
    names = load_iris().target_names[Y].astype(object)
    names[PARTIAL < 0] = None
    model = make(estimator).fit(X, names)
    found = model.cluster_names_[model.labels_]
    assert np.mean(found == load_iris().target_names[Y]) > 0.8


@EVERY
def test_frames_give_what_arrays_give(estimator):
    columns = load_iris().feature_names
    reference = fitted(estimator)
    for frame, y in (
        (pd.DataFrame(X, columns=columns), pd.Series(PARTIAL)),
        (pl.DataFrame(X, schema=columns), pl.Series(PARTIAL)),
    ):
        model = make(estimator).fit(frame, y)
        np.testing.assert_array_equal(model.labels_, reference.labels_)
        np.testing.assert_array_equal(model.predict(frame), reference.predict(X))
        assert list(model.feature_names_in_) == columns


@EVERY
def test_clones_and_pickles_behave_the_same(estimator):
    model = fitted(estimator)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    np.testing.assert_array_equal(clone(model).fit(X, PARTIAL).labels_, model.labels_)


@EVERY
def test_works_in_a_pipeline(estimator):
    pipeline = make_pipeline(StandardScaler(), make(estimator))
    labels = pipeline.fit(X, PARTIAL).predict(X)
    assert labels.shape == (150,)
    assert np.mean(labels == Y) > 0.8


@EVERY
def test_statements_without_a_meaning_are_refused(estimator):
    statements = {
        "must_link": {"must_link": [(0, 1)]},
        "cannot_link": {"cannot_link": [(0, 149)]},
        "blocks": {"side": SideInformation.build(150, blocks=[[0, 1, 2]])},
        "confidence": {"side": SideInformation.build(150, must_link=[(0, 1)], confidence=0.9)},
    }
    for statement, given in statements.items():
        if statement not in estimator.takes and not (statement == "confidence" and "must_link" not in estimator.takes):
            with pytest.raises(ValueError, match=f"{estimator.__name__} cannot use"):
                make(estimator).fit(X, **given)


@EVERY
def test_side_information_is_found_by_id_in_any_order(estimator):
    if "labels" not in estimator.takes:
        pytest.skip("takes no labels")
    ids = np.array([f"flower {i}" for i in range(150)])
    side = SideInformation.build(150, y=PARTIAL, sample_id=ids)
    rows = np.random.default_rng(0).permutation(150)[:120]
    by_id = make(estimator).fit(X[rows], side=side, sample_id=ids[rows])
    by_row = make(estimator).fit(X[rows], PARTIAL[rows])
    np.testing.assert_array_equal(by_id.labels_, by_row.labels_)
    np.testing.assert_array_equal(by_id.violations_.labels, by_row.violations_.labels)


@EVERY
def test_links_stay_with_their_rows_in_cross_validation(estimator):
    if "must_link" not in estimator.takes:
        pytest.skip("takes no links")
    # As many links as rows: scikit-learn would slice an array of them along with the rows.
    ids = np.array([f"flower {i}" for i in range(150)])
    links = draw_links(Y, n_must=150, n_cannot=0, random_state=0).must_link
    side = SideInformation.build(150, must_link=ids[links], sample_id=ids)
    folds = KFold(3, shuffle=True, random_state=0)
    results = cross_validate(
        make(estimator),
        X,
        cv=folds,
        params={"side": side, "sample_id": ids},
        scoring=lambda model, *_: model.violations_.fraction,
        return_estimator=True,
        return_indices=True,
    )
    for model, rows in zip(results["estimator"], results["indices"]["train"], strict=True):
        kept = side.align(ids[rows])
        assert model.violations_.n_must_link == len(kept.must_link) > 50
        np.testing.assert_array_equal(Y[rows][kept.must_link[:, 0]], Y[rows][kept.must_link[:, 1]])
