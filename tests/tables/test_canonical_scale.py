"""The canonical scale: nearly the same for a column and its logarithm, and for a column in other units."""

import numpy as np
import pytest
from scipy.stats import norm, skew
from sklearn.datasets import load_iris, load_wine
from sklearn.metrics import adjusted_rand_score

from sidelight import BayesianMixture
from sidelight.tables.canonical_scale import canonical_power, skewnesses
from sidelight.tables.power_choice import choose_power


def on_scale(cells, choose=canonical_power):
    cells = np.asarray(cells, dtype=float)
    power = choose(cells, np.ones(len(cells)))
    return cells if power is None else power.apply(cells)


def correlation(a, b):
    return np.corrcoef(a, b)[0, 1]


WINE, IRIS = load_wine(as_frame=True).data, load_iris(as_frame=True).data
COLUMNS = {
    "lognormal": np.exp(np.random.default_rng(0).normal(3, 1, 400)),
    "normal": np.random.default_rng(1).normal(30, 5, 400),
    "two groups": np.concatenate(
        [np.random.default_rng(2).normal(8, 1, 100), np.random.default_rng(3).normal(20, 2, 200)]
    ),
    **{name: WINE[name].to_numpy() for name in ("alcohol", "flavanoids", "proline", "color_intensity")},
    **{name: IRIS[name].to_numpy() for name in ("sepal length (cm)", "sepal width (cm)", "petal width (cm)")},
}


@pytest.mark.parametrize("name", COLUMNS)
def test_a_column_and_its_logarithm_lead_to_nearly_the_same_numbers(name):
    cells = COLUMNS[name]
    assert correlation(on_scale(cells), on_scale(np.log(cells))) > 0.998


def test_the_rule_that_keeps_units_does_not_do_that():
    cells = COLUMNS["flavanoids"]
    assert correlation(on_scale(cells, choose_power), on_scale(np.log(cells), choose_power)) < 0.97


@pytest.mark.parametrize("name", COLUMNS)
def test_shift_and_scale_change_nothing_else(name):
    cells = COLUMNS[name]
    np.testing.assert_allclose(on_scale(1000 * cells - 70) / 1000 + 0.07, on_scale(cells), rtol=1e-5, atol=1e-8)


def test_a_lognormal_column_is_taken_on_a_logarithmic_scale():
    cells = COLUMNS["lognormal"]
    assert correlation(on_scale(cells), np.log(cells)) > 0.99


def test_two_groups_of_unequal_size_stay_unequal():
    """A skewness of zero is not forced upon them."""
    cells = COLUMNS["two groups"]
    assert skew(on_scale(cells)) < -0.25


@pytest.mark.parametrize(
    "cells", [np.arange(7.0).repeat(20), np.append(np.arange(1.0, 60.0), np.zeros(40)), np.ones(9), np.full(9, np.nan)]
)
def test_columns_of_few_values_are_left_as_they_are(cells):
    assert canonical_power(cells, np.ones(len(cells))) is None


def test_skewness_is_the_third_standardised_moment():
    points = np.stack([norm.ppf((np.arange(50) + 0.5) / 50), np.arange(50.0) ** 3])
    np.testing.assert_allclose(skewnesses(points), skew(points, axis=1), atol=1e-12)


def test_a_mixture_on_canonical_scales_hardly_changes_with_a_logarithm():
    logarithm = WINE.assign(proline=np.log(WINE["proline"]))

    def agreement(power):
        model = BayesianMixture(power=power, random_state=0)
        return adjusted_rand_score(model.fit(WINE).labels_, model.fit(logarithm).labels_)

    assert agreement("canonical") > 0.95
    assert agreement("auto") < 0.95


def test_an_unknown_rule_is_refused():
    with pytest.raises(ValueError, match="power='always' is not known; choose 'auto', 'canonical', or False"):
        BayesianMixture(power="always").fit(IRIS)
