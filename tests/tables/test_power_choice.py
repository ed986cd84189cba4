"""Which columns are transformed, and how: known shapes, columns of real tables, and what must not matter."""

import numpy as np
import pytest
from scipy.stats import norm
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.mixture import GaussianMixture

from sidelight.datasets import load
from sidelight.exceptions import DatasetError
from sidelight.tables.power_choice import (
    choose_power,
    learn_powers,
    mixture_log_likelihood,
    representative_points,
    scale_evidence,
)
from sidelight.tables.table import ArrayTable


def chosen(cells, weights=None):
    cells = np.asarray(cells, dtype=float)
    return choose_power(cells, np.ones(len(cells)) if weights is None else weights)


def scaled(cells):
    """The cells on the scale that their column wants."""
    power = chosen(cells)
    return np.asarray(cells, dtype=float) if power is None else power.apply(cells)


def correlation(a, b):
    return np.corrcoef(a, b)[0, 1]


def draws(name, seed=0, n=800):
    random = np.random.default_rng(seed)
    half = n // 2
    return {
        "normal": lambda: random.normal(size=n),
        "uniform": lambda: random.uniform(size=n),
        "student": lambda: random.standard_t(3, size=n),
        "long gap": lambda: np.concatenate([random.normal(0, 1, half), random.normal(40, 1, half)]),
        "unequal modes": lambda: np.concatenate([random.normal(0, 1, n - n // 8), random.normal(9, 1, n // 8)]),
        "lognormal": lambda: np.exp(random.normal(3, 1, n)),
        "wide lognormal": lambda: np.exp(random.normal(0, 1.8, n)),
        "two lognormals": lambda: np.exp(np.concatenate([random.normal(0, 0.5, half), random.normal(3, 0.5, half)])),
        "exponential": lambda: random.exponential(size=n),
        "left tail": lambda: np.log(random.gamma(2, size=n)),
    }[name]()


@pytest.mark.parametrize("name", ["normal", "uniform", "student", "long gap", "unequal modes"])
def test_these_are_left_as_they_are(name):
    """Evidence can mislead, but rarely: at most one draw in ten."""
    assert sum(chosen(draws(name, seed)) is not None for seed in range(10)) <= 1


@pytest.mark.parametrize("name", ["lognormal", "wide lognormal", "two lognormals"])
@pytest.mark.parametrize("seed", range(3))
def test_lognormal_columns_are_taken_on_a_logarithmic_scale(name, seed):
    cells = draws(name, seed)
    power = chosen(cells)
    assert power.words == "on a logarithmic scale"
    assert correlation(power.apply(cells), np.log(cells)) > 0.99


@pytest.mark.parametrize("seed", range(3))
def test_exponential_columns_lose_their_tail(seed):
    cells = draws("exponential", seed)
    assert chosen(cells).skewness > 0
    assert correlation(scaled(cells), cells**0.3) > 0.97


@pytest.mark.parametrize("seed", range(3))
def test_a_tail_to_the_left_is_taken_on_an_exponential_scale(seed):
    assert chosen(draws("left tail", seed)).words == "on an exponential scale"


@pytest.mark.parametrize(
    ("name", "least"), [("lognormal", 0.99), ("wide lognormal", 0.99), ("two lognormals", 0.99), ("exponential", 0.95)]
)
def test_the_logarithm_of_a_column_leads_to_nearly_the_same_scale(name, least):
    """No member of the family is a root of an exponential column, so there the two are a little apart."""
    cells = draws(name)
    assert correlation(scaled(cells), scaled(np.log(cells))) > least
    assert correlation(cells, np.log(cells)) < 0.9


@pytest.mark.parametrize("name", ["lognormal", "left tail", "exponential", "normal"])
def test_shift_and_scale_change_nothing_else(name):
    cells = draws(name)
    expected = scaled(cells)
    np.testing.assert_allclose(scaled(1000 * cells - 70) / 1000 + 0.07, expected, rtol=1e-6, atol=1e-9)


def test_iris_is_left_as_it_is():
    table = load_iris().data
    assert learn_powers(ArrayTable(table), None, np.arange(4), choose_power) is None


@pytest.mark.parametrize(
    ("loader", "name", "logarithmic"),
    [
        (load_wine, "color_intensity", True),
        (load_wine, "malic_acid", False),
        (load_wine, "proline", False),
        (load_breast_cancer, "area error", True),
        (load_breast_cancer, "worst area", True),
        (load_breast_cancer, "mean compactness", True),
        (load_breast_cancer, "mean radius", False),
    ],
)
def test_columns_of_real_tables(loader, name, logarithmic):
    cells = loader(as_frame=True).data[name].to_numpy()
    power = chosen(cells)
    assert (power is not None) == logarithmic
    if logarithmic:
        assert correlation(power.apply(cells), np.log(cells)) > 0.99


def test_columns_of_pima():
    try:
        table = load("pima").X
    except DatasetError as error:
        pytest.skip(str(error))
    insulin = table["insulin"].to_numpy(dtype=float)
    assert chosen(insulin) is None  # half of it is zero
    assert correlation(scaled(insulin[insulin > 0]), np.log(insulin[insulin > 0])) > 0.99
    pedigree = table["pedigree"].to_numpy(dtype=float)
    assert correlation(scaled(pedigree), np.log(pedigree)) > 0.99
    assert chosen(table["glucose"]) is None


def test_one_extreme_cell_chooses_nothing():
    cells = draws("normal")
    for extreme in (50.0, 1e9, -1e9):
        assert chosen(np.append(cells, extreme)) is None
    cells = draws("lognormal")
    expected, power = chosen(cells), chosen(np.append(cells, 1e12))
    assert power.skewness == pytest.approx(expected.skewness, rel=0.2)
    assert chosen(np.append(cells, 1e-12)).skewness == pytest.approx(expected.skewness, rel=0.2)


@pytest.mark.parametrize(
    "cells",
    [
        np.exp(np.arange(15.0)).repeat(20),  # few values
        np.append(draws("lognormal"), np.zeros(300)),  # an atom
        np.ones(100),
        np.full(100, np.nan),
        np.exp(np.arange(2.0)),
        np.empty(0),
    ],
)
def test_few_values_and_atoms_are_left_as_they_are(cells):
    assert chosen(cells) is None


def test_missing_cells_and_rows_without_weight_do_not_count():
    cells = draws("lognormal")
    expected = chosen(cells)
    assert chosen(np.append(cells, [np.nan] * 300)) == expected
    assert chosen(np.append(cells, draws("normal")), np.repeat([1.0, 0.0], len(cells))) == expected


def test_a_weight_is_as_good_as_a_repetition():
    cells = draws("lognormal", n=200)
    counts = np.random.default_rng(1).integers(1, 4, len(cells))
    weighted, repeated = chosen(cells, counts.astype(float)), chosen(cells.repeat(counts))
    assert weighted.skewness == pytest.approx(repeated.skewness)
    assert weighted.low == pytest.approx(repeated.low)


def test_the_order_of_the_rows_does_not_matter():
    cells = draws("exponential")
    assert chosen(np.random.default_rng(5).permutation(cells)) == chosen(cells)


def test_of_a_large_table_few_rows_are_looked_at():
    table = np.exp(np.random.default_rng(0).normal(size=(30_000, 2)))
    table[:, 1] = np.log(table[:, 1])
    powers = learn_powers(ArrayTable(table), None, np.arange(2), choose_power)
    assert powers[0].skewness > 0
    assert powers[1] is None


def test_columns_that_may_not_be_transformed_are_not():
    table = np.exp(np.random.default_rng(0).normal(size=(500, 2)))
    powers = learn_powers(ArrayTable(table), None, np.array([1]), choose_power)
    assert powers[0] is None
    assert powers[1] is not None


def test_points_keep_quantiles_and_spread_rounded_cells():
    cells = np.random.default_rng(0).normal(size=20_000).round(1)
    points = representative_points(cells, np.ones(len(cells)))
    shares = 0.005 + 0.99 * (np.arange(100) + 0.5) / 100
    np.testing.assert_allclose(points.values, norm.ppf(shares), atol=0.05)
    assert len(np.unique(points.values)) == 100


@pytest.mark.parametrize("n_components", [1, 2, 3])
def test_the_likelihood_is_that_of_a_fitted_mixture(n_components):
    random = np.random.default_rng(0)
    cells = np.sort(4.0 * random.integers(0, n_components, 1000) + random.normal(0, 0.6, 1000))
    groups = np.arange(1000) * n_components // 1000
    responsibilities = (groups == np.arange(n_components)[:, None]).astype(float)
    found = mixture_log_likelihood(cells[None], responsibilities[None], 1000.0, 200)[0]
    plain = GaussianMixture(n_components, n_init=5, random_state=0, max_iter=500).fit(cells[:, None])
    # The prior on variances and the width of points take little.
    assert found == pytest.approx(plain.score(cells[:, None]) * 1000, abs=1)


def test_the_evidence_of_scales_differs_by_their_likelihoods():
    """For one component everything has a closed form: normal log densities on the scale, plus the derivative."""
    y = norm.ppf((np.arange(100) + 0.5) / 100)
    x = np.exp(y)
    found = scale_evidence(np.stack([np.log(x), x]), np.stack([-np.log(x), np.zeros(100)]), 100.0)
    expected = norm.logpdf(np.log(x), 0, y.std()).sum() - np.log(x).sum() - np.log(100)
    assert found[0] == pytest.approx(expected, abs=0.5)
    assert found[0] > found[1]
