"""The compiled matrix products equal those of NumPy, whatever is left over by their strips."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from sidelight.kernels.products import add_feature_sums, linear_scores

SIZES = st.integers(1, 23), st.integers(1, 11), st.integers(1, 50)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), *SIZES)
def test_scores_are_coefficients_times_features(seed, n_features, k, n):
    rng = np.random.default_rng(seed)
    coefficients, features = rng.normal(size=(k + -k % 4, n_features)), rng.normal(size=(n_features, n))
    out = np.full((len(coefficients), n), np.nan)
    linear_scores(coefficients, features, out)
    np.testing.assert_allclose(out, coefficients @ features, rtol=1e-13, atol=1e-13)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), *SIZES)
def test_sums_are_features_times_responsibilities_added_to_what_was_there(seed, n_features, k, n):
    rng = np.random.default_rng(seed)
    features, responsibilities = rng.normal(size=(n_features, n)), rng.uniform(size=(k, n))
    before = rng.normal(size=(n_features, k))
    sums = before.copy()
    add_feature_sums(features, responsibilities, sums)
    np.testing.assert_allclose(sums, before + features @ responsibilities.T, rtol=1e-13, atol=1e-13)
