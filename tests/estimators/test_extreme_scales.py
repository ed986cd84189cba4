"""Columns of any scale: every fitted number is finite and does not depend on units, or the table is refused."""

import numpy as np
import pytest
from sklearn.datasets import make_blobs

from sidelight import BayesianMixture, EquivalenceMixture, LabelledMixture, PairwiseMixture, all_estimators
from sidelight.families.gaussian.full import inverse_covariance, log_determinant, precision_factors

EVERY = pytest.mark.parametrize("estimator", [cls for _, cls in all_estimators()], ids=[n for n, _ in all_estimators()])
POINTS = make_blobs([7, 8], 3, centers=[[0.0, 0, 0], [6, 6, 6]], random_state=1)[0]
FAR = POINTS[:, 0] > 3


def with_two(estimator):
    names = ("n_clusters", "n_classes", "n_processes", "n_components")
    parameters = estimator().get_params()
    first = next(name for name in names if name in parameters)
    given = {first: 2, "random_state": 0}
    return estimator(**{name: value for name, value in given.items() if name in parameters})


@pytest.mark.parametrize("exponent", [10, 12, 50, 140])
@pytest.mark.parametrize("model", [BayesianMixture(random_state=0), EquivalenceMixture(2, random_state=0)])
def test_many_columns_of_very_different_scales(model, exponent):
    rows = np.random.default_rng(0).normal(size=(6, 40))
    scales = 2.0 ** np.round(np.linspace(-exponent, exponent, 40) / np.log10(2))
    ordinary = model.fit(rows)
    labels, weights, bound = ordinary.labels_, ordinary.weights_, ordinary.lower_bound_
    model.fit(rows * scales)
    np.testing.assert_array_equal(model.labels_, labels)
    np.testing.assert_allclose(model.weights_, weights, rtol=1e-6)
    np.testing.assert_allclose(model.lower_bound_, bound - np.log(scales).sum(), rtol=1e-6, atol=1e-4)


@EVERY
@pytest.mark.parametrize("scale", [1e-149, 1e148])
def test_clusters_of_very_small_and_very_large_numbers(estimator, scale):
    model = with_two(estimator).fit(POINTS * scale)
    np.testing.assert_array_equal(model.labels_, with_two(estimator).fit(POINTS).labels_)
    for name, value in vars(model).items():
        if isinstance(value, float | np.ndarray) and np.asarray(value).dtype.kind == "f":
            assert np.isfinite(value).all(), name


@pytest.mark.parametrize("structure", ["EVE", "EVI", "VVE", "VEE", "EVV", "VEV", "EEV", "full", "tied", "diag"])
@pytest.mark.parametrize("scale", [1e-149, 1e148])
def test_every_structure_of_covariances_in_any_units(structure, scale):
    model = LabelledMixture(2, covariance_type=structure, random_state=0).fit(POINTS * scale)
    assert np.isfinite(model.covariances_).all()
    np.testing.assert_array_equal(model.labels_ == model.labels_[0], FAR[0] == FAR)


@pytest.mark.parametrize("structure", ["VEI", "EVI", "VEE", "EVV", "full", "tied", "diag"])
def test_structures_that_do_not_depend_on_units_take_columns_of_any_scale(structure):
    scales = 2.0 ** np.array([-490, 0, 490])
    ordinary = LabelledMixture(2, covariance_type=structure, random_state=0).fit(POINTS)
    model = LabelledMixture(2, covariance_type=structure, random_state=0).fit(POINTS * scales)
    np.testing.assert_array_equal(model.labels_, ordinary.labels_)
    np.testing.assert_allclose(model.means_ / scales, ordinary.means_, rtol=1e-9)
    np.testing.assert_allclose(model.lower_bound_, ordinary.lower_bound_, rtol=1e-9)  # the scales have product one


@pytest.mark.parametrize("structure", ["VEV", "EEV"])
def test_structures_that_compare_directions_refuse_columns_that_cannot_be_compared(structure):
    with pytest.raises(
        ValueError, match=r"One column varies \de\+\d\d times as much as another.*Standardise the columns"
    ):
        LabelledMixture(2, covariance_type=structure, random_state=0).fit(POINTS * [1e-10, 1, 1])


@EVERY
@pytest.mark.parametrize("scale", [1e-154, 1e-200, 1e-310])
def test_values_too_small_to_square_are_refused(estimator, scale):
    table = POINTS.copy()
    table[:, 1] *= scale
    with pytest.raises(ValueError, match="column 1 .*rescale the column"):
        with_two(estimator).fit(table)


@EVERY
@pytest.mark.filterwarnings("ignore::sidelight.exceptions.IgnoredColumnWarning")
def test_a_constant_column_of_small_values_is_not_refused(estimator):
    tables = [POINTS.copy(), POINTS.copy()]
    tables[0][:, 1], tables[1][:, 1] = 1e-200, 0.0
    first, second = (with_two(estimator).fit(table).labels_ for table in tables)
    np.testing.assert_array_equal(first, second)


def test_a_small_value_can_be_assigned():
    model = PairwiseMixture(2, random_state=0).fit(POINTS)
    assert model.predict([[1e-200, 1e-200, 1e-200], [3e-200, 0, 0]]).tolist() == [model.labels_[~FAR][0]] * 2


def test_factors_of_badly_scaled_covariances():
    random = np.random.default_rng(3)
    root = random.normal(size=(12, 12))
    covariance, scales = root @ root.T, 2.0 ** random.integers(-450, 450, size=12)
    scaled = covariance * scales[:, None] * scales
    np.testing.assert_allclose(precision_factors(scaled) * scales, precision_factors(covariance), rtol=1e-12)
    np.testing.assert_allclose(
        inverse_covariance(scaled) * scales[:, None] * scales, np.linalg.inv(covariance), rtol=1e-9
    )
    assert log_determinant(scaled) == pytest.approx(np.linalg.slogdet(covariance)[1] + 2 * np.log(scales).sum())


def test_weights_that_cannot_be_added_up_are_refused():
    with pytest.raises(ValueError, match="sample_weight: the weights add up to more than 1e[+]100; divide them"):
        BayesianMixture(2, random_state=0).fit(POINTS, sample_weight=np.full(15, 1e308))


def test_rows_without_weight_and_a_missing_cell():
    X = np.random.default_rng(0).normal(size=(10, 3))
    X[4, 1] = np.nan
    model = BayesianMixture(covariance_type="diag", unlabelled_weight=0.0, random_state=0)
    model.fit(X, must_link=[(0, 1), (1, 2), (2, 3)])
    assert np.isfinite(model.weights_).all()
    assert np.isfinite(model.lower_bound_)
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1)


@pytest.mark.parametrize("structure", ["VEE", "EVV", "VEV", "EEV"])
@pytest.mark.parametrize("exponents", [(-149, 0, 0), (0, 149, 0), (149, 0, -149), (-149, -149, 149)])
def test_columns_scaled_apart_are_clustered_rightly_or_refused(structure, exponents):
    model = LabelledMixture(2, covariance_type=structure, random_state=0)
    try:
        model.fit(POINTS * 10.0 ** np.array(exponents))
    except ValueError as error:
        assert structure in ("VEV", "EEV")
        assert "Standardise the columns" in str(error)  # noqa: PT017 (a fit that succeeds must be right)
        return
    np.testing.assert_array_equal(model.labels_ == model.labels_[0], FAR[0] == FAR)
    assert all(np.isfinite(value).all() for value in (model.covariances_, model.means_, model.posterior_))
    assert np.isfinite(model.lower_bound_)
