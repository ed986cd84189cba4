"""How coarsely columns were recorded."""

import numpy as np
import pytest

from sidelight import BayesianMixture
from sidelight.tables.rounding import rounding_variances


@pytest.mark.parametrize("step", [1.0, 0.1, 0.25, 1e-4, 1000.0])
@pytest.mark.parametrize("origin", [0.0, 3.7, 1e3])
def test_the_step_of_recorded_numbers_is_found(step, origin):
    column = origin + step * np.rint(np.random.default_rng(0).normal(scale=20, size=300))
    np.testing.assert_allclose(rounding_variances(column[:, None]), step**2 / 12, rtol=1e-3)


def test_missing_cells_do_not_matter_and_columns_without_a_step_have_none():
    rng = np.random.default_rng(1)
    whole = np.rint(rng.normal(scale=20, size=300))
    whole[::7] = np.nan
    found = rounding_variances(np.column_stack([whole, np.log(300 + np.rint(rng.normal(size=300) * 20)), np.ones(300)]))
    np.testing.assert_allclose(found, [1 / 12, 0.0, 0.0])


def test_whole_numbers_with_missing_cells_have_a_bound_that_never_falls():
    rng = np.random.default_rng(2)
    X = np.rint(np.repeat([[0, 0, 0], [4, 0, 3], [0, 4, 1]], 60, axis=0) + rng.normal(size=(180, 3)))
    X[rng.random(X.shape) < 0.1] = np.nan
    bounds = BayesianMixture(family="gaussian", random_state=0).fit(X).lower_bounds_
    assert np.all(np.diff(bounds) >= -1e-9 * np.abs(bounds[:-1]))


@pytest.mark.parametrize("k", [1, 2])
@pytest.mark.parametrize("deviation", [0.5, 0.8])
def test_whole_numbers_that_vary_by_less_than_a_step_are_no_clusters(k, deviation):
    rng = np.random.default_rng(3)
    y = np.repeat(np.arange(k), 600 // k)
    X = np.rint(7 + 2.0 * rng.normal(size=(k, 8))[y] + deviation * rng.normal(size=(600, 8)))
    model = BayesianMixture(family="gaussian", random_state=0).fit(X)
    assert model.n_clusters_ == k
    assert len(set(zip(model.labels_.tolist(), y.tolist(), strict=True))) == k
