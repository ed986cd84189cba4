"""A fit that is refused or interrupted changes nothing."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from sidelight import BayesianMixture, all_estimators

EVERY = pytest.mark.parametrize("estimator", [cls for _, cls in all_estimators()], ids=[n for n, _ in all_estimators()])
INTERRUPTIBLE = pytest.mark.parametrize(
    "estimator",
    [cls for _, cls in all_estimators() if "callbacks" in cls().get_params()],
    ids=[name for name, cls in all_estimators() if "callbacks" in cls().get_params()],
)


def table(n_columns, seed=0):
    points = np.random.default_rng(seed).normal(size=(24, n_columns))
    points[12:] += 8.0
    return pd.DataFrame(points, columns=[f"column {number} of {n_columns}" for number in range(n_columns)])


def small(estimator):
    names = ("n_clusters", "n_classes", "n_processes", "n_components")
    parameters = estimator().get_params()
    first = next(name for name in names if name in parameters)
    given = {first: 2, "random_state": 0}
    return estimator(**{name: value for name, value in given.items() if name in parameters})


def interrupt(progress):
    raise KeyboardInterrupt


@EVERY
def test_a_refused_refit_leaves_the_fit_before(estimator):
    model = small(estimator).fit(table(3))
    before, places = dict(vars(model)), model.predict(table(3))
    with pytest.raises(ValueError, match="999"):
        model.fit(table(5), must_link=[(0, 999)])
    # Every attribute is the object that it was, so that nothing of the refused fit can be among them.
    assert vars(model).keys() == before.keys()
    assert all(vars(model)[name] is value for name, value in before.items())
    np.testing.assert_array_equal(model.predict(table(3)), places)


@EVERY
def test_an_estimator_whose_first_fit_was_refused_is_not_fitted(estimator):
    model = small(estimator)
    with pytest.raises(ValueError, match="999"):
        model.fit(table(3), must_link=[(0, 999)])
    assert vars(model).keys() == vars(small(estimator)).keys()
    with pytest.raises(NotFittedError):
        model.predict(table(3))


@INTERRUPTIBLE
def test_an_interrupted_refit_leaves_the_fit_before(estimator):
    model = small(estimator).fit(table(3))
    model.set_params(callbacks=[interrupt])
    before = dict(vars(model))
    with pytest.raises(KeyboardInterrupt):
        model.fit(table(5))
    assert all(vars(model)[name] is value for name, value in before.items())
    assert model.predict(table(3)).shape == (24,)


@INTERRUPTIBLE
def test_a_fit_changes_nothing_before_its_end(estimator):
    model, seen = small(estimator), []
    model.set_params(callbacks=[lambda progress: seen.append(set(vars(model)))])
    fresh = set(vars(clone(model)))
    model.fit(table(3))
    assert seen
    assert all(names == fresh for names in seen)


def test_categories_of_a_refused_refit_do_not_change_predictions():
    colours = pd.DataFrame({"colour": ["red", "blue"] * 20, "size": np.arange(40.0)})
    others = pd.DataFrame({"colour": ["blue", "red", "green", "azure"] * 10, "size": np.arange(40.0)})
    model = BayesianMixture(2, random_state=0).fit(colours, ["a", "b"] * 20)
    before = model.predict_proba(colours)
    with pytest.raises(ValueError, match="999"):
        model.fit(others, must_link=[(0, 999)])
    np.testing.assert_array_equal(model.predict_proba(colours), before)


def test_a_refused_batch_leaves_the_stream_as_it_was():
    model, same = (BayesianMixture(2, random_state=0).partial_fit(table(3)) for _ in range(2))
    with pytest.raises(ValueError, match="999"):
        model.partial_fit(table(3, seed=1), must_link=[(0, 999)])
    for stream in (model, same):
        stream.partial_fit(table(3, seed=2))
    np.testing.assert_array_equal(model.predict_proba(table(3)), same.predict_proba(table(3)))


def test_an_interrupted_first_batch_leaves_no_stream():
    model = BayesianMixture(2, random_state=0, callbacks=[interrupt])
    with pytest.raises(KeyboardInterrupt):
        model.partial_fit(table(3))
    model.set_params(callbacks=None).partial_fit(table(5))
    assert model.n_features_in_ == 5
