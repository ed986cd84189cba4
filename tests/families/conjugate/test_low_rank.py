"""Low rank plus noise: the dense Gaussian of the same covariance, draws, and Normal-Wishart components as oracles."""

from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import logsumexp
from scipy.stats import ks_2samp, multivariate_normal

from oracles.conjugate import collect, draw, scores, step
from sidelight.families.conjugate import LowRank, NormalWishart
from sidelight.families.conjugate.family import multidigamma
from sidelight.kernels.loops import NUMPY

COMPONENTS = 3


class Case(NamedTuple):
    """A family, rows, and the posteriors of three components that own these rows by halves and quarters."""

    family: Any
    X: Any
    parameters: Any
    responsibilities: Any


def case(n=60, d=8, most=3, seed=0, missing=0.0):
    rng = np.random.default_rng(seed)
    group = rng.integers(COMPONENTS, size=n)
    centres, loadings = 3 * rng.normal(size=(COMPONENTS, 2)), rng.normal(size=(2, d))
    X = (centres[group] + rng.normal(size=(n, 2))) @ loadings + 0.5 * rng.normal(size=(n, d))
    X = 20 + X * 10 ** rng.uniform(-1, 1, size=d)
    X[rng.random(X.shape) < missing] = np.nan
    X[0] = np.where(np.isnan(X[0]), 20.0, X[0])  # so that no column is empty
    family = LowRank.scaled(np.nanmean(X, axis=0), np.nanvar(X, axis=0), X, most=most, mean_precision=0.5)
    responsibilities = rng.dirichlet(np.full(COMPONENTS, 0.3), size=n)
    start = family.around(X[:COMPONENTS])
    return Case(family, X, family.update(collect(family, start, X, responsibilities)), responsibilities)


def covariances(attributes):
    loadings = attributes["loadings_"]
    return loadings @ attributes["factor_covariances_"] @ loadings.T + np.diag(attributes["noise_variances_"])


SHAPES = pytest.mark.parametrize(("n", "d", "missing"), [(60, 8, 0.0), (60, 8, 0.4), (12, 50, 0.0), (12, 50, 0.2)])


@SHAPES
def test_log_densities_are_those_of_the_dense_gaussian(n, d, missing):
    family, X, parameters, _ = case(n, d, missing=missing)
    found = scores(family.evaluator(parameters, NUMPY), X)
    attributes = family.attributes(parameters)
    q, degrees = family.subspace.rank, parameters.degrees
    # What the posterior's width takes from the Gaussian at E[Λ]: it depends on the scores alone.
    slack = multidigamma(degrees, q) + q * np.log(2 / degrees) - q / parameters.mean_precision
    for k, dense in enumerate(covariances(attributes)):
        for row, x in enumerate(X):
            seen = ~np.isnan(x)
            mean, inner = attributes["means_"][k][seen], dense[np.ix_(seen, seen)]
            expected = multivariate_normal(mean, inner).logpdf(x[seen]) + 0.5 * slack[k]
            np.testing.assert_allclose(found[row, k], expected, rtol=1e-10, atol=1e-9)


def dense_log_density(family, theta, x):
    """Return the log density of a complete row under draws of the scores' means and precisions."""
    space = family.subspace
    outside = space.noise * (np.eye(space.n_columns) - space.directions @ space.directions.T)
    means, precisions = theta
    inside = space.directions @ np.linalg.inv(precisions) @ space.directions.T
    dense = np.outer(space.scale, space.scale) * (inside + outside)
    away = x - space.rows(means)
    distances = np.einsum("ni,ni->n", away, np.linalg.solve(dense, away[..., None])[..., 0])
    return -0.5 * (distances + np.linalg.slogdet(2 * np.pi * dense)[1])


def test_expected_and_predictive_densities_agree_with_draws():
    family, X, parameters, _ = case(seed=1)
    expected = scores(family.evaluator(parameters, NUMPY), X)
    predicted = scores(family.predictive(parameters, NUMPY), X)
    for k in range(COMPONENTS):
        theta = draw(parameters, k, 2000, np.random.default_rng(k))
        for row in np.argsort(predicted[:, k])[-12::5]:
            logs = dense_log_density(family, theta, X[row])
            assert abs(logs.mean() - expected[row, k]) < 5 * logs.std() / np.sqrt(len(logs))
            ratios = np.exp(logs - predicted[row, k])
            assert abs(ratios.mean() - 1) < 5 * ratios.std() / np.sqrt(len(ratios))


def test_as_many_scores_as_columns_are_a_normal_wishart():
    rng = np.random.default_rng(2)
    correlations = np.array([[1.0, 0.9, 0.5], [0.9, 1.0, 0.3], [0.5, 0.3, 1.0]])
    X = rng.multivariate_normal([5.0, 0.0, -3.0], correlations, size=80) * [1.0, 3.0, 0.2]
    mean, variance = X.mean(axis=0), X.var(axis=0)
    low = LowRank.scaled(mean, variance, X)
    assert low.subspace.rank == 3
    full = NormalWishart.scaled(mean, np.cov(X.T, bias=True))
    r = rng.dirichlet(np.ones(2), size=80)
    X[rng.random(X.shape) < 0.2] = np.nan
    one, other = (family.around(np.nan_to_num(X[:2])) for family in (low, full))
    for _ in range(2):
        np.testing.assert_allclose(
            scores(low.evaluator(one, NUMPY), X), scores(full.evaluator(other, NUMPY), X), rtol=1e-8, atol=1e-8
        )
        one, other = low.update(collect(low, one, X, r)), full.update(collect(full, other, X, r))
    np.testing.assert_allclose(low.log_prior(one), full.log_prior(other), rtol=1e-8)
    np.testing.assert_allclose(low.divergence(one), full.divergence(other), rtol=1e-6)
    np.testing.assert_allclose(low.attributes(one)["means_"], other.means, rtol=1e-8)
    assert low.n_parameters(2) == full.n_parameters(2)


def test_the_bound_pays_for_subspace_and_noise():
    family, _, parameters, _ = case(n=40, d=9)
    q = family.subspace.rank
    # A subspace, the means outside of it, and the variances of the noise.
    n_parameters = q * (9 - q) + (9 - q) + 9
    penalty = 0.5 * n_parameters * np.log(40)
    np.testing.assert_allclose(family.log_prior(parameters), family.scores.log_prior(parameters) - penalty)


@settings(max_examples=25)
@given(
    seed=st.integers(0, 10_000),
    shape=st.sampled_from([(40, 6), (8, 30), (5, 5), (30, 1)]),
    missing=st.sampled_from([0.0, 0.1, 0.5]),
)
def test_the_bound_never_falls(seed, shape, missing):
    family, X, parameters, _ = case(*shape, seed=seed, missing=missing)
    log_weights = np.log(np.random.default_rng(seed).dirichlet(np.ones(COMPONENTS)))
    bounds = []
    for _ in range(6):
        parameters, bound = step(family, parameters, X, log_weights)
        bounds.append(bound)
    assert np.all(np.diff(bounds) >= -1e-9 * np.abs(bounds[0]))


@SHAPES
def test_statistics_of_parts_add_up(n, d, missing):
    family, X, parameters, r = case(n, d, missing=missing)
    whole = family.update(collect(family, parameters, X, r))
    parts = [collect(family, parameters, X[rows], r[rows]) for rows in (slice(0, 5), slice(5, None))]
    for one, other in zip(family.update(parts[0] + parts[1]), whole, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-8, atol=1e-9)


def test_a_row_without_any_cell_says_nothing():
    family, X, parameters, _ = case()
    empty = np.full((1, X.shape[1]), np.nan)
    np.testing.assert_allclose(scores(family.predictive(parameters, NUMPY), empty), 0.0, atol=1e-12)
    # Statistics are then those of the component itself.
    found = collect(family, parameters, empty, np.ones((1, COMPONENTS)))
    np.testing.assert_allclose(found.means(), parameters.means, atol=1e-12)


def test_scores_of_new_rows_with_missing_cells_have_mean_and_covariance_of_the_student_t():
    family, X, parameters, _ = case(seed=3, missing=0.3)
    found = scores(family.predictive(parameters, NUMPY), X)
    k = 0
    drawn = family.sample(parameters, k, 200_000, np.random.RandomState(0))
    mean, dense = drawn.mean(axis=0), np.cov(drawn.T)
    for row in np.flatnonzero(np.isnan(X).any(axis=1))[:5]:
        seen = ~np.isnan(X[row])
        expected = multivariate_normal(mean[seen], dense[np.ix_(seen, seen)]).logpdf(X[row][seen])
        np.testing.assert_allclose(found[row, k], expected, rtol=0.05, atol=0.3)


def test_draws_follow_the_definition():
    family, X, parameters, _ = case(seed=4)
    n, rng, space = 3000, np.random.default_rng(5), family.subspace
    drawn = family.sample(parameters, 1, n, np.random.RandomState(0))
    means, precisions = draw(parameters, 1, n, rng)
    inside = np.stack([rng.multivariate_normal(m, np.linalg.inv(p)) for m, p in zip(means, precisions, strict=True)])
    outside = np.sqrt(space.noise) * rng.normal(size=(n, space.n_columns))
    outside -= outside @ space.directions @ space.directions.T
    defined = space.rows(inside) + space.scale * outside
    for direction in (*np.eye(X.shape[1]), rng.normal(size=X.shape[1]) / space.scale):
        assert ks_2samp(drawn @ direction, defined @ direction, method="asymp").pvalue > 1e-4


def test_the_bound_is_below_the_predictive_evidence():
    family, X, parameters, _ = case(seed=6)
    expected = scores(family.evaluator(parameters, NUMPY), X)
    predicted = scores(family.predictive(parameters, NUMPY), X)
    assert np.all(logsumexp(expected, axis=1) <= logsumexp(predicted, axis=1))


def test_relevance_is_the_share_of_variance_between_components():
    family, _, parameters, _ = case(seed=7)
    attributes = family.attributes(parameters)
    mass = parameters.mean_precision - family.scores.mean_precision
    shares = mass / mass.sum()
    means, dense = attributes["means_"], covariances(attributes)
    between = shares @ np.square(means - shares @ means)
    within = shares @ np.diagonal(dense, axis1=1, axis2=2)
    np.testing.assert_allclose(attributes["column_relevance_"], between / (between + within), rtol=1e-9)


def test_selected_components_keep_their_densities():
    family, X, parameters, _ = case(seed=8, missing=0.2)
    picked = family.select(parameters, np.array([2, 0]))
    expected = scores(family.evaluator(parameters, NUMPY), X)[:, [2, 0]]
    np.testing.assert_allclose(scores(family.evaluator(picked, NUMPY), X), expected, rtol=1e-10)
    np.testing.assert_allclose(family.divergence(picked)[0, 1], family.divergence(parameters)[2, 0])


def test_components_are_placed_at_means():
    family, X, _, _ = case(seed=9)
    placed = family.around(np.stack([X[0], np.full(X.shape[1], np.nan)]))
    np.testing.assert_allclose(placed.means, [family.subspace.scores(X[:1])[0], family.scores.mean], atol=1e-12)


def test_too_few_degrees_are_an_error():
    family = case()[0]
    rank = family.subspace.rank
    narrow = NormalWishart.scaled(np.zeros(rank), np.ones(rank), degrees=rank + 0.5)
    with pytest.raises(ValueError, match=f"{rank} scores need more than {rank + 1}"):
        LowRank(family.subspace, narrow, 60.0)


def test_float32_rows_are_evaluated_in_double_precision():
    family, X, parameters, _ = case(seed=10, missing=0.1)
    single = X.astype(np.float32)
    for face in ("evaluator", "predictive"):
        evaluator = getattr(family, face)(parameters, NUMPY)
        np.testing.assert_allclose(scores(evaluator, single), scores(evaluator, single.astype(float)), rtol=1e-9)
