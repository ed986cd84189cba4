"""What every conjugate family promises: expectations, divergences, predictions, updates, a bound that never falls."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import logsumexp
from scipy.stats import ks_2samp

from oracles.conjugate import (
    COMPONENTS,
    INCOMPLETE,
    NAMES,
    atom_parts,
    case,
    categorical_columns,
    collect,
    draw,
    emit,
    log_density,
    log_likelihood,
    ordinal_steps,
    perturbed,
    scores,
    step,
)
from sidelight.families.conjugate import AtomGaussian, Bernoulli, Categorical, Multinomial, NegativeBinomial, Poisson
from sidelight.families.gaussian import Gaussian
from sidelight.kernels.loops import NUMPY

ALL = pytest.mark.parametrize("name", NAMES)
SINGLE = pytest.mark.parametrize("name", [name for name in NAMES if name != "product"])
GAUSSIAN = ("normal_wishart", "own_means")
# In Normal-Wishart families missing cells are latent variables: see the tests of their patterns.
CELLWISE = pytest.mark.parametrize(
    ("name", "missing"),
    [(name, 0.0) for name in NAMES if name != "product"]
    + [(name, 0.3) for name in INCOMPLETE if name not in ("product", *GAUSSIAN)],
)
MARGINAL = pytest.mark.parametrize(
    ("name", "missing"),
    [(name, 0.0) for name in NAMES if name != "product"] + [(name, 0.3) for name in INCOMPLETE if name != "product"],
)
WITH_MISSING = pytest.mark.parametrize("name", INCOMPLETE)
DRAWS = 4000
KINDS = {kind.name: kind for kind in (Bernoulli(), Categorical(), Multinomial(), NegativeBinomial(), Poisson())}


def parts_of(given):
    """Return (parameters, rows) whose log densities add up to the case's.

    They are the columns of a categorical case, the steps of an ordinal one, and the two parts of one with usual values.
    """
    if isinstance(given.family, AtomGaussian):
        return atom_parts(given.family, given.parameters, given.X)
    if type(given.parameters).__name__ == "OrdinalParameters":
        return list(ordinal_steps(given.family, given.parameters, given.X))
    if type(given.parameters).__name__ == "CategoricalParameters":
        return list(categorical_columns(given.family, given.parameters, given.X))
    return [(given.parameters, given.X)]


def prior_of(given):
    """Return the prior as posteriors of components without rows."""
    return given.family.around(np.full((COMPONENTS, given.X.shape[1]), np.nan))


def assert_agrees(exact, samples):
    """Assert that a mean over draws is within five standard errors, and that these are small enough to tell."""
    error = samples.std() / np.sqrt(len(samples))
    assert abs(samples.mean() - exact) < 5 * error + 1e-12
    assert error < 0.05 * (1 + abs(exact))


@CELLWISE
def test_expected_log_densities_agree_with_draws(name, missing):
    given = case(name, seed=1, missing=missing)
    rng = np.random.default_rng(2)
    found = scores(given.family.evaluator(given.parameters, NUMPY), given.X)
    for k in range(COMPONENTS):
        thetas = [draw(parameters, k, DRAWS, rng) for parameters, _ in parts_of(given)]
        for row in range(3):
            samples = sum(
                log_likelihood(X[row], theta, parameters)
                for theta, (parameters, X) in zip(thetas, parts_of(given), strict=True)
            )
            assert_agrees(found[row, k], samples)


@SINGLE
def test_the_divergence_from_the_prior_agrees_with_draws(name):
    given, rng = case(name, seed=3), np.random.default_rng(4)
    prior = prior_of(given)
    total = 0.0
    for k in range(COMPONENTS):
        for (posterior, _), (before, _) in zip(
            parts_of(given), parts_of(replace(given, parameters=prior)), strict=True
        ):
            theta = draw(posterior, k, DRAWS, rng)
            total = total + log_density(theta, posterior, k) - log_density(theta, before, k)
    assert_agrees(-given.family.log_prior(given.parameters), total)


@SINGLE
def test_divergences_between_components_agree_with_draws(name):
    given, rng = case(name, seed=5), np.random.default_rng(6)
    found = given.family.divergence(given.parameters)
    assert np.array_equal(np.diagonal(found), np.zeros(COMPONENTS))
    np.testing.assert_allclose(found, found.T, rtol=1e-12)
    for k in range(COMPONENTS):
        for other in range(k):
            total = 0.0
            for parameters, _ in parts_of(given):
                for this, that in ((k, other), (other, k)):
                    theta = draw(parameters, this, DRAWS, rng)
                    total = total + log_density(theta, parameters, this) - log_density(theta, parameters, that)
            assert_agrees(found[k, other], total)


@MARGINAL
def test_predictive_densities_agree_with_draws(name, missing):
    given = case(name, seed=7, missing=missing)
    rng = np.random.default_rng(8)
    found = scores(given.family.predictive(given.parameters, NUMPY), given.X)
    for k in range(COMPONENTS):
        thetas = [draw(parameters, k, DRAWS, rng) for parameters, _ in parts_of(given)]
        # Far rows are found by few draws only.
        for row in np.argsort(found[:, k])[-20::7]:
            logs = sum(
                log_likelihood(X[row], theta, parameters)
                for theta, (parameters, X) in zip(thetas, parts_of(given), strict=True)
            )
            assert_agrees(1.0, np.exp(logs - found[row, k]))


@CELLWISE
def test_the_update_is_prior_times_likelihood(name, missing):
    given, rng = case(name, seed=9, missing=missing), np.random.default_rng(10)
    prior = parts_of(replace(given, parameters=prior_of(given)))
    for (posterior, X), (before, _) in zip(parts_of(given), prior, strict=True):
        for k in range(COMPONENTS):
            theta = draw(posterior, k, 20, rng)
            weights = given.responsibilities[:, k]
            likelihood = sum(r * log_likelihood(x, theta, posterior) for r, x in zip(weights, X, strict=True))
            constant = log_density(theta, posterior, k) - log_density(theta, before, k) - likelihood
            np.testing.assert_allclose(constant, constant[0], rtol=1e-9, atol=1e-7)


@ALL
def test_the_update_maximises_the_bound(name):
    given = case(name, seed=11, n=40)

    def bound(parameters):
        found = scores(given.family.evaluator(parameters, NUMPY), given.X)
        return np.sum(given.responsibilities * found) + given.family.log_prior(parameters)

    best, size = bound(given.parameters), 1e-3
    for seed in range(10):
        above, below = (
            bound(perturbed(given.parameters, np.random.default_rng(seed), sign * size)) for sign in (1, -1)
        )
        curvature = above + below - 2 * best
        assert curvature < 0
        assert abs(above - below) < 0.05 * abs(curvature)


@ALL
def test_the_prior_is_no_distance_from_itself(name):
    given = case(name)
    prior = prior_of(given)
    np.testing.assert_allclose(given.family.log_prior(prior), 0.0, atol=1e-10)
    if name != "own_means":
        np.testing.assert_allclose(given.family.divergence(prior), 0.0, atol=1e-10)


@ALL
@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_statistics_of_parts_add_up_to_those_of_the_whole(name, missing):
    given = case(name, seed=12, n=100, missing=missing if name in INCOMPLETE else 0.0)
    family, X, r = given.family, given.X, given.responsibilities
    whole = collect(family, given.parameters, X, r)
    parts = [
        collect(family, given.parameters, X[rows], r[rows]) for rows in (slice(0, 37), slice(37, 38), slice(38, 100))
    ]
    total = parts[0] + parts[1] + parts[2]
    np.testing.assert_allclose(total.mass, r.sum(axis=0), rtol=1e-12)
    assert_same_posteriors(family.update(total), family.update(whole))
    assert_same_posteriors(family.update(collect(family, given.parameters, X, r, block_rows=7)), family.update(whole))


@ALL
def test_scaled_statistics_are_those_of_weighted_rows(name):
    given = case(name, seed=13, missing=0.2 if name in INCOMPLETE else 0.0)
    family, X, r = given.family, given.X, given.responsibilities
    scaled = collect(family, given.parameters, X, r).scaled(2.5)
    np.testing.assert_allclose(scaled.mass, 2.5 * r.sum(axis=0), rtol=1e-12)
    weighted = collect(family, given.parameters, X, 2.5 * r)
    assert_same_posteriors(family.update(scaled), family.update(weighted))


@ALL
@pytest.mark.parametrize("groups", [[1, 0, 1], [0, -1, 1], [-1, 0, -1]])
def test_regrouped_statistics_are_those_of_rows_put_together(name, groups):
    # What stands in for a missing cell of a Normal-Wishart depends on the component.
    cellwise = name in INCOMPLETE and name not in ("product", *GAUSSIAN)
    given = case(name, seed=22, missing=0.2 if cellwise else 0.0)
    X, r, groups = given.X, given.responsibilities, np.array(groups)
    found = collect(given.family, given.parameters, X, r).regrouped(groups)
    together = np.stack([r[:, groups == group].sum(axis=1) for group in range(groups.max() + 1)])
    np.testing.assert_allclose(found.mass, together.sum(axis=1), rtol=1e-12)
    representatives = np.array([np.flatnonzero(groups == group)[0] for group in range(groups.max() + 1)])
    family, parameters = given.family.narrowed(representatives), given.family.select(given.parameters, representatives)
    expected = family.update(collect(family, parameters, X, together.T))
    assert_same_posteriors(family.update(found), expected)


def assert_same_posteriors(found, expected):
    for part, wanted in zip(found, expected, strict=True):
        if isinstance(part, tuple):
            assert_same_posteriors(part, wanted)
        else:
            np.testing.assert_allclose(part, wanted, rtol=1e-8, atol=1e-9)


@WITH_MISSING
def test_rows_without_any_cell_are_all_the_same(name):
    given = case(name, seed=14)
    X = np.full((5, given.X.shape[1]), np.nan)
    X[3] = given.X[3]
    for evaluator in (
        given.family.evaluator(given.parameters, NUMPY),
        given.family.predictive(given.parameters, NUMPY),
    ):
        found = scores(evaluator, X)
        np.testing.assert_allclose(found[[1, 2, 4]], found[[0, 0, 0]], atol=1e-12)
        np.testing.assert_allclose(found[3], scores(evaluator, given.X)[3], rtol=1e-12)
    np.testing.assert_allclose(found[0], 0.0, atol=1e-12)  # nothing seen has probability one


@ALL
def test_selected_components_keep_their_densities(name):
    given, chosen = case(name, seed=15), np.array([2, 0])
    picked = given.family.select(given.parameters, chosen)
    narrowed = given.family.narrowed(chosen)
    expected = scores(given.family.evaluator(given.parameters, NUMPY), given.X)[:, chosen]
    np.testing.assert_allclose(scores(narrowed.evaluator(picked, NUMPY), given.X), expected, rtol=1e-10, atol=1e-10)
    dropped = given.family.select(given.parameters, np.array([1]))
    both = narrowed.log_prior(picked) + given.family.narrowed(np.array([1])).log_prior(dropped)
    np.testing.assert_allclose(both, given.family.log_prior(given.parameters), rtol=1e-12)
    again = narrowed.update(collect(narrowed, picked, given.X, given.responsibilities[:, chosen]))
    assert_same_posteriors(again, picked)


@ALL
@settings(max_examples=12)
@given(seed=st.integers(0, 10_000), missing=st.sampled_from([0.0, 0.1, 0.6]), n=st.integers(1, 40))
def test_the_bound_never_falls(name, seed, missing, n):
    given = case(name, seed=seed, n=max(n, COMPONENTS), missing=missing if name in INCOMPLETE else 0.0)
    parameters = given.parameters
    log_weights = np.log(np.random.default_rng(seed).dirichlet(np.ones(COMPONENTS)))
    bounds = []
    for _ in range(5):
        parameters, bound = step(given.family, parameters, given.X, log_weights)
        bounds.append(bound)
    assert np.all(np.diff(bounds) >= -1e-9 * np.abs(bounds[0]))


@ALL
def test_a_component_without_rows_keeps_the_prior(name):
    given = case(name, seed=16)
    responsibilities = np.zeros((len(given.X), COMPONENTS))
    responsibilities[:, 0] = 1.0
    found = given.family.update(collect(given.family, given.parameters, given.X, responsibilities))
    last = np.array([2])
    assert_same_posteriors(given.family.select(found, last), given.family.select(prior_of(given), last))


@pytest.mark.parametrize("name", [name for name in NAMES if name not in ("product", "atom")])
def test_draws_are_made_as_defined_with_parameters_of_their_own(name):
    # No rows at all, so that the posterior is wide and matters.
    given, rng, n = case(name, seed=17), np.random.default_rng(18), 4000
    given = replace(given, parameters=prior_of(given))
    drawn = given.family.sample(given.parameters, 1, n, np.random.RandomState(0))
    assert drawn.shape == (n, given.X.shape[1])
    assert drawn.dtype == float
    assert np.array_equal(drawn, given.family.sample(given.parameters, 1, n, np.random.RandomState(0)))
    assert not KINDS.get(name, Gaussian()).misfits(drawn).any()
    if name in ("categorical", "ordinal"):
        assert np.all(drawn < given.family.categories)
    defined = [emit(draw(own, 1, n, rng), own, rng, 1 if name == "categorical" else 30) for own, _ in parts_of(given)]
    if name == "categorical":
        defined = [np.argmax(hot, axis=1)[:, None] for hot in defined]
    defined = np.concatenate(defined, axis=1)
    if name == "ordinal":
        defined = ordinal_codes(defined, given.family.categories)
    for direction in (*np.eye(drawn.shape[1]), *rng.normal(size=(3, drawn.shape[1]))):
        assert ks_2samp(drawn @ direction, defined @ direction, method="asymp").pvalue > 1e-4
    predictive = given.family.predictive(given.parameters, NUMPY)
    logs, expected = (scores(predictive, rows)[:, 1] for rows in (drawn, defined.astype(float)))
    assert abs(logs.mean() - expected.mean()) < 4 * np.sqrt((logs.var() + expected.var()) / n)


def ordinal_codes(stops, categories):
    """Return the first step of each column at which a row stops."""
    ends = np.cumsum([size - 1 for size in categories])
    always = np.ones((len(stops), 1))
    columns = [np.hstack([part, always]).argmax(axis=1) for part in np.split(stops, ends[:-1], axis=1)]
    return np.stack(columns, axis=1)


@ALL
def test_float32_rows_are_evaluated_in_double_precision(name):
    given = case(name, seed=19, missing=0.2 if name in INCOMPLETE else 0.0)
    single = given.X.astype(np.float32)
    for face in ("evaluator", "predictive"):
        evaluator = getattr(given.family, face)(given.parameters, NUMPY)
        np.testing.assert_allclose(scores(evaluator, single), scores(evaluator, single.astype(float)), rtol=1e-9)


@ALL
def test_evidence_of_the_bound_is_below_the_predictive_evidence(name):
    # Jensen: E ln p ≤ ln E p, row by row.
    given = case(name, seed=20, missing=0.2 if name in INCOMPLETE else 0.0)
    expected = scores(given.family.evaluator(given.parameters, NUMPY), given.X)
    predicted = scores(given.family.predictive(given.parameters, NUMPY), given.X)
    # A row without any cell has both, but for rounding.
    assert np.all(logsumexp(expected, axis=1) <= logsumexp(predicted, axis=1) + 1e-12)
