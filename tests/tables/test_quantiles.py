"""Weighted quantiles and moments without outliers."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sidelight.tables.quantiles import trimmed_moments, weighted_quantiles


@given(seed=st.integers(0, 10_000), share=st.floats(0.0, 1.0))
def test_weights_count_like_repeated_rows(seed, share):
    rng = np.random.default_rng(seed)
    cells, weights = rng.normal(size=(12, 2)), rng.integers(1, 4, size=12)
    cells[rng.random(cells.shape) < 0.2] = np.nan
    repeated = np.repeat(cells, weights, axis=0)
    found = weighted_quantiles(cells, weights.astype(float), (share,))
    expected = np.nanquantile(repeated, share, axis=0, method="inverted_cdf")
    np.testing.assert_array_equal(found[0], expected)


def test_a_column_without_cells_has_no_quantiles():
    assert np.isnan(weighted_quantiles(np.full((3, 1), np.nan), np.ones(3), (0.5,))).all()


def test_cells_beyond_the_fences_do_not_count():
    x = np.random.default_rng(0).normal(size=300)
    outliers = np.append(x, [1e6, -1e6, np.nan])
    means, variances = trimmed_moments(outliers[:, None], np.ones(303))
    assert abs(means[0]) < 0.2
    assert 0.7 < variances[0] < 1.3


def test_a_column_of_mostly_one_value_has_no_fences():
    means, variances = trimmed_moments(np.array([[0.0]] * 9 + [[5.0]]), np.ones(10))
    assert np.isnan(means).all()
    assert np.isnan(variances).all()
