"""Mixtures on tables with transformed columns: bounds, densities, samples and pictures are in original units."""

from functools import cache

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm
from sklearn.base import clone
from sklearn.metrics import adjusted_rand_score

from sidelight import BayesianMixture, LabelledMixture, load, save
from sidelight.describe.columns import column_summaries
from sidelight.describe.profiles import cluster_profiles
from sidelight.describe.table import fitted_table
from sidelight.plots import ClustersDisplay, HistoryDisplay
from sidelight.tables.power import log_jacobian, transformed


def customers(n=500, seed=0):
    """Two groups of customers that differ in income, of which the logarithm is normal, and in age."""
    random = np.random.default_rng(seed)
    group = np.repeat([0, 1], n // 2)
    income = np.exp(random.normal(7, 0.5, n) + 2.0 * group)
    age = random.normal(40 + 8 * group, 5)
    return pd.DataFrame({"income": income, "age": age}), group


TABLE, GROUP = customers()
MIXTURES = {
    "bayesian": BayesianMixture(power="auto", random_state=0),
    "diagonal": BayesianMixture(power="auto", covariance_type="diag", random_state=0),
    "labelled": LabelledMixture(2, power="auto", random_state=0),
}


@cache
def fitted(name):
    """Return a mixture fitted to the table; several tests look at it, none changes it."""
    return clone(MIXTURES[name]).fit(TABLE)


@pytest.fixture
def bayesian():
    return fitted("bayesian")


@pytest.fixture(params=list(MIXTURES))
def model(request):
    return fitted(request.param)


def test_the_clusters_are_found_and_the_bound_never_falls(model):
    assert list(model.column_powers_) == ["income"]
    assert model.column_powers_["income"].words == "on a logarithmic scale"
    assert adjusted_rand_score(GROUP, model.labels_) > 0.9
    bounds = np.array(model.lower_bounds_)
    assert (np.diff(bounds) >= -1e-9 * np.abs(bounds[:-1])).all()


@pytest.mark.parametrize("name", list(MIXTURES))
def test_the_density_of_original_rows_integrates_to_one(name):
    model = clone(MIXTURES[name]).fit(TABLE[["income"]])
    assert model.column_powers_
    # Spaced evenly on the transformed scale, far into both straight ends.
    power = model.column_powers_["income"]
    bent = np.linspace(*power.apply(np.array([-40.0, 1e9])), 200_001)
    edges = power.invert(bent)
    middles = (edges[1:] + edges[:-1]) / 2
    frame = pd.DataFrame({"income": middles})
    total = np.exp(model.score_samples(frame)) @ np.diff(edges)
    # The tails of a posterior predictive are those of Student's t.
    assert total == pytest.approx(1, abs=2e-3)


def test_bounds_and_scores_are_those_of_a_mixture_of_lognormals():
    """With the transform known, the log density is that of the Gaussians at y plus the log derivative."""
    model = LabelledMixture(2, power="auto", random_state=0, covariance_type="diag").fit(TABLE)
    power = model.column_powers_["income"]
    y = np.column_stack([power.apply(TABLE["income"]), TABLE["age"]])
    spread = np.sqrt(model.covariances_)
    parts = [norm.logpdf(y, mean, deviation).sum(axis=1) for mean, deviation in zip(model.means_, spread, strict=True)]
    step = 1e-4 * TABLE["income"]
    slope = (power.apply(TABLE["income"] + step) - power.apply(TABLE["income"] - step)) / (2 * step)
    expected = np.logaddexp.reduce(np.log(model.weights_)[:, None] + parts) + np.log(slope)
    np.testing.assert_allclose(model.score_samples(TABLE), expected, rtol=1e-5)


def test_the_bound_is_that_of_the_transformed_table_plus_the_jacobian(bayesian):
    powers = (bayesian.column_powers_["income"], None)
    bent = transformed(np.ascontiguousarray(TABLE), powers)
    plain = BayesianMixture(random_state=0).fit(bent)
    jacobian = log_jacobian(bent, powers).mean()
    np.testing.assert_allclose(bayesian.lower_bounds_, np.array(plain.lower_bounds_) + jacobian, rtol=1e-10)
    np.testing.assert_array_equal(bayesian.labels_, plain.labels_)
    assert bayesian.history_[-1].bound == pytest.approx(plain.history_[-1].bound + jacobian)
    fit = plain.score_samples(bent).sum() + len(bent) * jacobian
    assert bayesian.bic(TABLE) == pytest.approx(-2 * fit + (plain._n_parameters() + 1) * np.log(len(bent)))


def test_rows_that_count_less_add_less_of_the_jacobian():
    y = np.where(np.arange(len(TABLE)) % 20 == 0, GROUP, -1)
    model = BayesianMixture(power="auto", random_state=0, unlabelled_weight=0.3).fit(TABLE, y)
    powers = (model.column_powers_["income"], None)
    bent = transformed(np.ascontiguousarray(TABLE), powers)
    plain = BayesianMixture(random_state=0, unlabelled_weight=0.3).fit(bent, y)
    jacobian = np.where(y >= 0, 1.0, 0.3) @ log_jacobian(bent, powers) / len(bent)
    assert model.lower_bound_ == pytest.approx(plain.lower_bound_ + jacobian, rel=1e-9)


def test_weights_choose_the_scale_that_repetitions_choose():
    weighted = BayesianMixture(power="auto", random_state=0).fit(TABLE, sample_weight=np.full(len(TABLE), 2.0))
    repeated = BayesianMixture(power="auto", random_state=0).fit(pd.concat([TABLE, TABLE], ignore_index=True))
    assert weighted.column_powers_["income"].skewness == pytest.approx(repeated.column_powers_["income"].skewness)
    assert weighted.lower_bound_ == pytest.approx(repeated.lower_bound_, rel=1e-3)


def test_bounds_with_and_without_are_comparable(bayesian):
    plain = BayesianMixture(power=False, random_state=0).fit(TABLE)
    assert bayesian.lower_bound_ > plain.lower_bound_


def test_nothing_changes_where_columns_are_left_as_they_are():
    X = np.random.default_rng(0).normal(size=(300, 3)) + np.repeat([[0, 0, 0], [6, 0, 0]], 150, axis=0)
    plain, chosen = BayesianMixture(random_state=0).fit(X), BayesianMixture(power="auto", random_state=0).fit(X)
    assert chosen.column_powers_ == {}
    np.testing.assert_array_equal(plain.means_, chosen.means_)
    assert plain.lower_bounds_ == chosen.lower_bounds_


def test_missing_cells_stay_missing():
    holes = TABLE.mask(np.random.default_rng(0).random(TABLE.shape) < 0.1)
    holes.iloc[0] = [np.nan, 40.0]
    model = BayesianMixture(power="auto", random_state=0).fit(holes)
    assert list(model.column_powers_) == ["income"]
    assert adjusted_rand_score(GROUP, model.labels_) > 0.8
    # A row without its income has the density of its age, which knows of no transform.
    alone = fitted("diagonal")
    ages = np.linspace(-100, 200, 20_001)
    frame = pd.DataFrame({"income": np.nan, "age": ages})
    assert np.exp(alone.score_samples(frame)).sum() * (ages[1] - ages[0]) == pytest.approx(1, abs=1e-3)


def test_new_rows_may_lie_where_the_fitted_column_never_was(bayesian):
    new = pd.DataFrame({"income": [-1e7, 0.0, 1e12], "age": 40.0})
    assert np.isfinite(bayesian.score_samples(new)).all()
    assert np.isfinite(bayesian.predict_proba(new)).all()
    with pytest.raises(ValueError, match="infinity in row 1, column 'income'"):
        bayesian.predict(pd.DataFrame({"income": [1.0, np.inf], "age": 40.0}))


def test_sampled_rows_are_in_original_units(model):
    rows, _ = model.sample(4000)
    for column, name in enumerate(TABLE):
        drawn, seen = (np.quantile(cells, [0.1, 0.5, 0.9]) for cells in (rows[:, column], TABLE[name]))
        np.testing.assert_allclose(drawn, seen, rtol=0.25)


def test_other_kinds_are_never_transformed():
    random = np.random.default_rng(0)
    table = TABLE.assign(visits=random.poisson(3, len(TABLE)), city=random.choice(["Rome", "Oslo"], len(TABLE)))
    model = BayesianMixture(power="auto", random_state=0).fit(table)
    assert list(model.column_powers_) == ["income"]
    assert model.predict(table.iloc[:5]).shape == (5,)


def test_numbers_that_users_give_are_in_the_units_of_the_table():
    prior = BayesianMixture(power="auto", mean_prior=TABLE.mean().to_numpy(), random_state=0).fit(TABLE)
    assert prior.column_powers_ == {}
    means = [[1000.0, 40.0], [9000.0, 48.0]]
    assert LabelledMixture(2, power="auto", means_init=means).fit(TABLE).column_powers_ == {}


def test_a_stream_keeps_the_scales_of_its_first_batch():
    model = BayesianMixture(power="auto", random_state=0)
    order = np.random.default_rng(0).permutation(len(TABLE))
    model.partial_fit(TABLE.iloc[order[:250]])
    power = model.column_powers_["income"]
    model.partial_fit(TABLE.iloc[order[250:]])
    assert model.column_powers_ == {"income": power}
    assert adjusted_rand_score(GROUP[order[250:]], model.labels_) > 0.85


def test_a_second_fit_starts_from_the_table_as_it_is(bayesian):
    model = BayesianMixture(power="auto", random_state=0).fit(np.random.default_rng(0).normal(size=(100, 2)))
    assert model.column_powers_ == {}
    again = model.fit(TABLE)
    assert again.column_powers_ == bayesian.column_powers_
    assert again.lower_bound_ == bayesian.lower_bound_


def test_other_values_are_refused():
    for power in (True, "log", None):
        with pytest.raises(ValueError, match=r"power=.* is not known; choose 'auto', 'canonical', or False"):
            BayesianMixture(power=power).fit(TABLE)


def test_a_saved_model_answers_alike(model, tmp_path):
    save(model, tmp_path / "model")
    loaded = load(tmp_path / "model")
    assert loaded.column_powers_ == model.column_powers_
    np.testing.assert_array_equal(loaded.score_samples(TABLE), model.score_samples(TABLE))
    np.testing.assert_array_equal(loaded.predict(TABLE), model.predict(TABLE))


def test_profiles_are_in_original_units_and_name_the_scale(bayesian):
    profiles = cluster_profiles(bayesian, TABLE)
    income = [feature.name for feature in profiles.features].index("income")
    for place, cluster in enumerate(profiles.clusters):
        expected = np.average(TABLE["income"], weights=bayesian.posterior_[:, cluster])
        assert profiles.inside[place, income] == pytest.approx(expected)
    summaries = column_summaries(fitted_table(bayesian, TABLE))
    assert [summary.kind for summary in summaries] == ["number, on a logarithmic scale", "number"]
    assert f"{TABLE['income'].mean():.0f}"[:2] in summaries[0].holds


def test_pictures_draw_ellipses_only_where_components_are_ellipses(bayesian):
    plt = pytest.importorskip("matplotlib.pyplot")
    assert len(ClustersDisplay.from_estimator(bayesian, TABLE).means) == 0
    history = HistoryDisplay.from_estimator(bayesian, TABLE)
    power = bayesian.column_powers_["income"]
    assert adjusted_rand_score(history.panels[-1].labels, bayesian.labels_) > 0.95
    assert np.ptp(history.points[:, 0]) <= 1.01 * np.ptp(power.apply(TABLE["income"]))
    plt.close("all")
