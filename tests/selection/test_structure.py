"""The table of BIC over structures and numbers."""

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.datasets import load_iris, make_blobs

from sidelight import LabelledMixture
from sidelight.estimators.base.likelihood_gaussians import STRUCTURES
from sidelight.selection import select_structure

IRIS = load_iris().data


def test_every_cell_is_the_bic_of_that_fit():
    model = LabelledMixture(init_params="kmeans", random_state=0)
    found = select_structure(model, IRIS, [2, 3], structures=["EII", "VEV", "full"])
    assert found.structures == ("EII", "VEV", "full")
    for row, structure in enumerate(found.structures):
        for column, number in enumerate([2, 3]):
            fit = LabelledMixture(number, covariance_type=structure, init_params="kmeans", random_state=0).fit(IRIS)
            np.testing.assert_allclose(found.values[row, column], fit.bic(IRIS))
    assert found.best == ("VEV", 2)
    assert found.best_estimator.covariance_type_ == "VEV"
    assert found.best_estimator.n_clusters_ == 2
    assert str(found) == "covariance_type='VEV', n_components=2 has the lowest bic of 6 tried"


def test_all_fourteen_and_singular_fits_are_nan():
    # Eight components of 24 rows own too few each for a covariance of five columns.
    X, _ = make_blobs(24, n_features=5, centers=3, random_state=0)
    model = LabelledMixture(prior_rows=0, init_params="kmeans", max_iter=500, random_state=0)
    found = select_structure(model, X, [1, 8])
    assert found.structures == tuple(STRUCTURES)
    assert np.isfinite(found.values[:, 0]).all()
    assert np.isnan(found.values[found.structures.index("VVV"), 1])
    assert found.best is not None


def test_where_every_fit_is_singular_there_is_a_table_without_a_choice():
    found = select_structure(LabelledMixture(prior_rows=0), np.ones((6, 2)), [1], structures=["VVI", "EEE"])
    assert np.isnan(found.values).all()
    assert found.best is found.best_estimator is None
    assert str(found) == "every one of 2 fits is singular"


def test_processes_change_nothing():
    model = LabelledMixture(init_params="kmeans", random_state=0)
    one, two = (select_structure(model, IRIS, [1, 2], structures=["EEE", "VVI"], n_jobs=n) for n in (1, 2))
    np.testing.assert_array_equal(one.values, two.values)


@pytest.mark.parametrize(
    ("estimator", "arguments", "message"),
    [
        (LabelledMixture(), {"structures": ["round"]}, "structures='round' is not known"),
        (LabelledMixture(), {"structures": []}, "structures is empty"),
        (LabelledMixture(), {"candidates": [0]}, "must be numbers of at least 1"),
        (KMeans(), {}, "KMeans has no covariance_type"),
    ],
)
def test_errors(estimator, arguments, message):
    with pytest.raises(ValueError, match=message):
        select_structure(estimator, IRIS, **arguments)
