"""Priors that are learned: the objective never falls, an optimiser finds the same maximum, units do not matter."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.stats import gamma, wishart

from oracles.conjugate import collect, scores
from sidelight import BayesianMixture, load, save
from sidelight.families.conjugate import NormalGamma, NormalWishart
from sidelight.families.conjugate.learned import LearnedGamma, LearnedWishart
from sidelight.kernels.loops import NUMPY


def table(seed, n=240, d=3, k=4):
    """Return rows of k components that share a covariance with strong correlation, and their responsibilities."""
    rng = np.random.default_rng(seed)
    shape = np.linalg.cholesky(0.1 * np.eye(d) + 0.9)
    component = rng.integers(k, size=n)
    X = rng.normal(size=(k, d))[component] * 6 + rng.normal(size=(n, d)) @ shape.T
    return X, np.eye(k)[component]


def learned(family, X):
    if family == "wishart":
        return LearnedWishart.centred(NormalWishart.scaled(X.mean(axis=0), X.var(axis=0), degrees=X.shape[1] + 2.0))
    return LearnedGamma.centred(NormalGamma.scaled(X.mean(axis=0), X.var(axis=0), degrees=3.0))


def sums(family, X, r):
    """Return the statistics of rows under responsibilities."""
    return collect(family, family.around(X[: r.shape[1]]), X, r)


def objective(family, statistics):
    return family.log_evidence(statistics).sum() + family._log_density_of_centre()


FAMILIES = pytest.mark.parametrize("name", ["wishart", "gamma"])


@FAMILIES
@pytest.mark.parametrize("seed", range(3))
def test_every_lesson_raises_the_objective(name, seed):
    X, r = table(seed)
    family = learned(name, X)
    statistics = sums(family, X, r)
    values = [objective(family, statistics)]
    for _ in range(30):
        family = family.relearned(statistics)
        values.append(objective(family, statistics))
    assert np.all(np.diff(values) >= -1e-9 * np.abs(values[:-1]))
    assert values[-1] > values[0] + 10


def test_the_learned_centre_is_where_an_optimiser_finds_the_maximum():
    X, r = table(1)
    family = learned("gamma", X)
    statistics = sums(family, X, r)
    for _ in range(200):
        family = family.relearned(statistics)

    def loss(logs):
        return -objective(replace(family, rates=np.exp(logs)), statistics)

    best = minimize(loss, np.log(family.rates), method="Nelder-Mead", options={"xatol": 1e-8, "fatol": 1e-10})
    np.testing.assert_allclose(np.exp(best.x), family.rates, rtol=1e-4)


def test_the_learned_centre_of_free_covariances_is_stationary():
    X, r = table(2)
    family = learned("wishart", X)
    statistics = sums(family, X, r)
    for _ in range(300):
        family = family.relearned(statistics)
    top = objective(family, statistics)
    rng = np.random.default_rng(0)
    lower = np.linalg.cholesky(family.scatter)
    for _ in range(20):
        noise = rng.normal(size=lower.shape)
        for step in (1e-3, -1e-3):
            moved = lower @ (np.eye(len(lower)) + step * (noise + noise.T)) @ lower.T
            assert objective(replace(family, scatter=moved), statistics) <= top + 1e-7


def test_components_that_share_a_covariance_are_drawn_together_and_its_correlations_found():
    X, r = table(3)
    family = learned("wishart", X)
    statistics = sums(family, X, r)
    for _ in range(30):
        family = family.relearned(statistics)
    assert family.rows > 100
    centre = family.scatter / family.degrees
    correlation = centre / np.sqrt(np.outer(np.diag(centre), np.diag(centre)))
    np.testing.assert_allclose(correlation[np.triu_indices(3, 1)], 0.9, atol=0.05)


@FAMILIES
def test_the_density_of_the_centre_is_scipys_in_units_of_the_expected_covariance(name):
    X, r = table(4)
    family = learned(name, X)
    statistics = sums(family, X, r)
    for _ in range(5):
        family = family.relearned(statistics)
    d = X.shape[1]
    if name == "wishart":
        root = np.linalg.cholesky(family.expected)
        relative = np.linalg.solve(root, np.linalg.solve(root, family.scatter / family.rows).T)
        expected = wishart.logpdf((relative + relative.T) / 2, d + 2, np.eye(d) / (d + 2))
    else:
        expected = gamma.logpdf(2 * family.rates / family.rows / family.expected, 2, scale=0.5).sum()
    np.testing.assert_allclose(family._log_density_of_centre(), expected, rtol=1e-9)


@FAMILIES
def test_units_change_what_is_learned_by_their_own_factor_only(name):
    X, r = table(5)
    factors = np.array([1e-3, 1.0, 1e4])
    found = []
    for rows in (X, X * factors):
        family = learned(name, rows)
        statistics = sums(family, rows, r)
        for _ in range(10):
            family = family.relearned(statistics)
        found.append(family)
    one, other = found
    assert one.rows == other.rows
    if name == "wishart":
        np.testing.assert_allclose(other.scatter, one.scatter * np.outer(factors, factors), rtol=1e-6)
    else:
        np.testing.assert_allclose(other.rates, one.rates * factors**2, rtol=1e-6)


@FAMILIES
def test_a_column_that_never_changes_within_components_leaves_the_centre_positive(name):
    X, r = table(6)
    X[:, 0] = r.argmax(axis=1)
    family = learned(name, X)
    statistics = sums(family, X, r)
    for _ in range(100):
        family = family.relearned(statistics)
    assert np.isfinite(objective(family, statistics))
    assert np.all(np.linalg.eigvalsh(family.scatter) > 0) if name == "wishart" else np.all(family.rates > 0)


def rounded(name, X, step):
    """Return the family of a table that was recorded in steps, and the table."""
    cells = step * np.rint(X / step)
    return replace(learned(name, cells), rounding=np.full(X.shape[1], step**2 / 12)), cells


@FAMILIES
def test_rounded_cells_are_scored_by_the_mean_over_their_step(name):
    """Gauss and Legendre's two points in every cell are exact for what is quadratic in it."""
    X, r = table(8)
    family, cells = rounded(name, X, 0.5)
    posterior = family.update(sums(family, cells, r))
    exact = replace(family, rounding=None).evaluator(posterior, NUMPY)
    nodes = 0.25 / np.sqrt(3) * np.stack(np.meshgrid(*[[-1, 1]] * 3), axis=-1).reshape(-1, 3)
    mean = np.mean([scores(exact, cells + node) for node in nodes], axis=0)
    np.testing.assert_allclose(scores(family.evaluator(posterior, NUMPY), cells), mean, rtol=1e-9)


@FAMILIES
def test_the_evidence_of_rounded_cells_is_the_bound_at_the_best_posteriors(name):
    X, r = table(9)
    family, cells = rounded(name, X, 0.5)
    statistics = sums(family, cells, r)
    posterior = family.update(statistics)
    bound = (r * scores(family.evaluator(posterior, NUMPY), cells)).sum() + family.log_prior(posterior)
    np.testing.assert_allclose(objective(family, statistics), bound, rtol=1e-9)


@FAMILIES
def test_components_are_not_narrower_than_a_step(name):
    X, r = table(6)
    X[:, 0] = r.argmax(axis=1)
    family, cells = rounded(name, X, 1.0)
    for _ in range(100):
        family = family.relearned(sums(family, cells, r))
    found = family.attributes(family.update(sums(family, cells, r)))["covariances_"]
    variances = np.diagonal(found, axis1=1, axis2=2) if name == "wishart" else found
    assert variances.min() > 0.9 / 12


def test_a_model_with_a_learned_prior_comes_back_from_disk(tmp_path):
    X, _ = table(7)
    model = BayesianMixture(random_state=0).fit(np.rint(X))
    save(model, tmp_path / "model")
    again = load(tmp_path / "model")
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
