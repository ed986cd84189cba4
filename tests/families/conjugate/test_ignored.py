"""Columns that take no part: nothing changes by them, whatever they hold, in fits and in later tables."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.datasets import load_iris

from sidelight import BayesianMixture, LabelledMixture
from sidelight.exceptions import IgnoredColumnWarning
from sidelight.families.conjugate import IgnoredColumns
from sidelight.kernels.loops import NUMPY

IRIS = load_iris(as_frame=True).data
LEFT_OUT = IRIS.assign(always=7.5, empty=np.nan, town="Rome", yes=True)
NAN = np.nan


def bayesian(**settings):
    return BayesianMixture(random_state=0, **settings)


@pytest.fixture(scope="module")
def both():
    """A model of iris, and one of iris with columns that never change."""
    with pytest.warns(IgnoredColumnWarning) as caught:
        with_constants = bayesian().fit(LEFT_OUT)
    return bayesian().fit(IRIS), with_constants, caught


def test_the_family_says_nothing():
    family = IgnoredColumns(np.array([2.0, NAN]))
    parameters = family.around(np.zeros((3, 2)))
    evaluator = family.evaluator(parameters, NUMPY)
    evaluator.load(np.array([[1.0, NAN], [np.inf, 3.0]]))
    assert not evaluator.log_likelihood().any()
    evaluator.accumulate(np.array([[0.2, 0.3], [0.5, 0.5], [0.3, 0.2]]))
    statistics = evaluator.statistics()
    np.testing.assert_allclose(statistics.mass, [0.5, 1.0, 0.5])
    np.testing.assert_array_equal(family.update(statistics).values, parameters.values)
    assert family.log_prior(parameters) == 0
    assert not family.divergence(parameters).any()
    assert family.n_parameters(3) == 0
    np.testing.assert_array_equal(family.sample(parameters, 0, 2, np.random.RandomState(0)), [[2.0, NAN]] * 2)


def test_one_warning_names_all_columns(both):
    messages = [str(warning.message) for warning in both[2] if warning.category is IgnoredColumnWarning]
    assert len(messages) == 1
    assert "column 'always', column 'empty', column 'town', column 'yes' held one value only, or none" in messages[0]


def test_the_result_is_that_of_the_other_columns(both):
    plain, model, _ = both
    np.testing.assert_array_equal(model.labels_, plain.labels_)
    assert model.lower_bound_ == pytest.approx(plain.lower_bound_, rel=1e-9)
    assert model._schema.kinds == ("gaussian",) * 4 + ("ignored",) * 4
    assert model.bic(LEFT_OUT) == pytest.approx(plain.bic(IRIS), rel=1e-9)


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"always": 3.0, "empty": 1.0, "town": "Oslo", "yes": False},
        {"always": "text", "empty": "text", "town": 4, "yes": None},
    ],
)
def test_what_they_hold_later_does_not_matter(both, changes):
    plain, model, _ = both
    later = LEFT_OUT.assign(**changes)
    np.testing.assert_array_equal(model.predict(later), plain.predict(IRIS))
    np.testing.assert_allclose(model.score_samples(later), plain.score_samples(IRIS), rtol=1e-9)


def test_draws_hold_constants_where_they_are(both):
    drawn, _ = both[1].sample(20)
    assert drawn.shape == (20, 8)
    assert (drawn[:, 4] == 7.5).all()
    assert np.isnan(drawn[:, 5]).all()


@pytest.mark.parametrize("place", [0, 2])
def test_arrays_are_looked_through_too(place):
    X = np.insert(IRIS.to_numpy(), place, 1.0, axis=1)
    with pytest.warns(IgnoredColumnWarning, match=f"column {place} held"):
        model = bayesian().fit(X)
    np.testing.assert_array_equal(model.labels_, bayesian().fit(IRIS.to_numpy()).labels_)
    X[0, place] = 5.0
    assert len(model.predict(X)) == 150


def test_maximum_likelihood_leaves_them_out_too():
    X = np.column_stack([IRIS, np.full(150, 2.0)])
    with pytest.warns(IgnoredColumnWarning):
        model = LabelledMixture(3, family="auto", random_state=0).fit(X)
    expected = LabelledMixture(3, random_state=0).fit(IRIS.to_numpy())
    np.testing.assert_array_equal(model.labels_, expected.labels_)


def test_a_column_that_the_user_names_is_kept_or_left_out_without_a_message():
    frame = IRIS.assign(always=7.5, number=[f"row {row}" for row in range(150)])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        kept = bayesian(family={"always": "gaussian", "number": "ignored"}).fit(frame)
    assert kept._schema.kinds[4:] == ("gaussian", "ignored")
    np.testing.assert_array_equal(kept.predict(frame.assign(number=0)), kept.labels_)


@pytest.mark.parametrize("X", [np.full((30, 3), 4.0), pl.DataFrame({"a": [1] * 30, "b": ["x"] * 30, "c": [True] * 30})])
def test_a_table_of_constants_is_one_cluster(X):
    assert bayesian().fit(X).n_clusters_ == 1


def test_empty_columns_beside_constant_ones_are_left_out():
    with pytest.warns(IgnoredColumnWarning, match="column 1 held"):
        model = bayesian().fit(np.array([[1.0, NAN], [1.0, NAN], [1.0, NAN]]))
    assert model._schema.kinds == ("gaussian", "ignored")
    assert model.n_clusters_ == 1


@pytest.mark.parametrize("X", [np.full((5, 2), NAN), pd.DataFrame({"a": [None] * 5, "b": [NAN] * 5})])
def test_a_table_without_any_cell_is_refused(X):
    with pytest.raises(ValueError, match="X has no observed cell in any column"):
        bayesian().fit(X)


def test_infinity_in_a_constant_column_is_refused_by_place():
    X = np.column_stack([IRIS, np.full(150, np.inf)])
    with pytest.warns(IgnoredColumnWarning), pytest.raises(ValueError, match="infinity in row 0, column 4"):
        bayesian().fit(X)
