"""The principal subspace of a table: axes, rank, scores of rows with missing cells, densities of observed cells."""

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from sidelight.families.subspace import condition, evident_rank, principal_axes, principal_subspace, seen_part


def factor_table(n, d, q, seed=0, noise=0.3):
    """Return rows of q factors, of which all columns have as much, with noise, in very different units."""
    rng = np.random.default_rng(seed)
    loadings = rng.normal(size=(q, d))
    loadings /= np.linalg.norm(loadings, axis=0)
    plain = rng.normal(size=(n, q)) @ loadings + noise * rng.normal(size=(n, d))
    return 50 + plain * 10 ** rng.uniform(-3, 3, size=d)


def subspace_of(X, **settings):
    mean, variance = np.nanmean(X, axis=0), np.nanvar(X, axis=0)
    return principal_subspace(X, np.ones(len(X)), mean, variance, total=float(len(X)), **settings)


@pytest.mark.parametrize("shape", [(60, 9), (12, 40)])
def test_axes_are_those_of_a_singular_value_decomposition(shape):
    rng = np.random.default_rng(1)
    points, shares = rng.normal(size=shape), rng.dirichlet(np.ones(shape[0]))
    values, directions = principal_axes(points, shares, 4)
    _, singular, right = np.linalg.svd(np.sqrt(shares)[:, None] * points, full_matrices=False)
    np.testing.assert_allclose(values, np.square(singular[:4]), rtol=1e-10)
    np.testing.assert_allclose(np.abs(np.sum(directions.T * right[:4], axis=1)), 1.0, rtol=1e-10)
    np.testing.assert_allclose(directions.T @ directions, np.eye(4), atol=1e-12)
    assert np.all(directions[np.abs(directions).argmax(axis=0), np.arange(4)] > 0)


@pytest.mark.parametrize(("n", "d", "q"), [(300, 30, 4), (60, 400, 3), (80, 80, 1), (2000, 12, 5)])
def test_the_rank_of_a_factor_table_is_found(n, d, q):
    found = subspace_of(factor_table(n, d, q))
    assert found.rank == q
    assert found.directions.shape == (d, q)


def test_the_rank_has_a_limit_and_is_one_at_least():
    assert subspace_of(factor_table(200, 30, 8), most=5).rank == 5
    assert subspace_of(np.random.default_rng(0).normal(size=(100, 20))).rank == 1
    assert subspace_of(np.random.default_rng(0).normal(size=(100, 1))).rank == 1


def test_the_rank_is_the_first_maximum_of_the_evidence():
    X = np.random.default_rng(2).normal(size=(50, 10)) * np.array([9, 7, 5, 1, 1, 1, 1, 1, 1, 1])
    n, d = X.shape
    values = np.linalg.eigvalsh(np.cov(X.T, bias=True))[::-1]
    evidence = []
    for q in range(1, 9):
        # ln N of all rows under the covariance of the model, and the number of its free parameters.
        noise = values[q:].mean()
        log_likelihood = -0.5 * n * (np.log(values[:q]).sum() + (d - q) * np.log(noise) + d + d * np.log(2 * np.pi))
        n_parameters = q * d - q * (q + 1) / 2 + q
        evidence.append(log_likelihood - 0.5 * n_parameters * np.log(n))
    first = next(i for i in range(len(evidence)) if evidence[i + 1] < evidence[i]) + 1
    assert evident_rank(values[:9], values.sum(), d, n, 8) == first == 3


def test_units_do_not_matter():
    X = factor_table(80, 120, 3)
    units = 10 ** np.random.default_rng(3).uniform(-2, 2, size=120)
    one, other = subspace_of(X), subspace_of(X * units + 7)
    np.testing.assert_allclose(one.scores(X), other.scores(X * units + 7), rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(one.noise, other.noise, rtol=1e-9)


def test_weights_count_rows():
    X = factor_table(30, 50, 2)
    counts = np.arange(30) % 3 + 1
    repeated = np.repeat(X, counts, axis=0)
    mean, variance = repeated.mean(axis=0), repeated.var(axis=0)
    one = principal_subspace(repeated, np.ones(len(repeated)), mean, variance, total=60.0)
    other = principal_subspace(X, counts.astype(float), mean, variance, total=60.0)
    np.testing.assert_allclose(one.directions, other.directions, atol=1e-9)
    np.testing.assert_allclose(one.noise, other.noise, rtol=1e-9)


@pytest.mark.parametrize("rank", [1, 3, 6])
def test_observed_cells_have_the_density_and_the_scores_of_the_dense_gaussian(rank):
    rng = np.random.default_rng(4)
    d, k, noise = 6, 2, 0.3
    directions = np.linalg.qr(rng.normal(size=(d, rank)))[0]
    means = rng.normal(size=(k, rank))
    roots = rng.normal(size=(k, rank, rank))
    covariances = roots @ roots.swapaxes(1, 2) + 0.05 * np.eye(rank)
    points = rng.normal(size=(8, d))
    missing = rng.random(points.shape) < 0.5
    missing[0], missing[1] = False, True
    points[missing] = 0.0
    found = condition(seen_part(points, missing, directions), means, covariances, noise)
    outside = noise * (np.eye(d) - directions @ directions.T)
    for component in range(k):
        shared = covariances[component] @ directions.T
        dense = directions @ shared + outside
        for row in range(len(points)):
            seen = ~missing[row]
            inner = dense[np.ix_(seen, seen)]
            away = (points[row] - directions @ means[component])[seen]
            log_density = multivariate_normal(cov=inner).logpdf(away) if seen.any() else 0.0
            gain = shared[:, seen] @ np.linalg.inv(inner)
            np.testing.assert_allclose(found.log_density[row, component], log_density, rtol=1e-10, atol=1e-10)
            np.testing.assert_allclose(found.means[row, component], means[component] + gain @ away, atol=1e-10)
            expected = covariances[component] - gain @ shared[:, seen].T
            np.testing.assert_allclose(found.covariances[row, component], expected, atol=1e-10)


def test_a_subspace_is_found_with_missing_cells():
    X = factor_table(150, 40, 3)
    holes = X.copy()
    holes[np.random.default_rng(5).random(X.shape) < 0.1] = np.nan
    whole, found = subspace_of(X), subspace_of(holes)
    assert found.rank == whole.rank
    overlap = np.linalg.svd(whole.directions.T @ found.directions, compute_uv=False)
    assert overlap.min() > 0.995
    np.testing.assert_allclose(found.noise, whole.noise, rtol=0.15)
    scores = found.scores(holes) @ found.directions.T @ whole.directions
    assert np.corrcoef(scores.ravel(), whole.scores(X).ravel())[0, 1] > 0.99


def test_rows_are_their_scores_without_noise():
    X = factor_table(40, 90, 2, noise=1e-3)
    found = subspace_of(X)
    away = (found.rows(found.scores(X)) - X) / X.std(axis=0)
    assert np.abs(away).max() < 0.02


@pytest.mark.parametrize("shape", [(5, 3), (3, 5)])
def test_a_table_that_never_changes_has_a_subspace(shape):
    found = subspace_of(np.full(shape, 4.0))
    assert found.rank == 1
    np.testing.assert_allclose(found.scores(np.full(shape, 4.0)), 0.0)
    assert found.noise > 0
