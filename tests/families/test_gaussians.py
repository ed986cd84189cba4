"""Gaussian families: densities, updates, priors, and which evaluator is picked."""

import numpy as np
import pytest
from scipy.optimize import approx_fprime
from sklearn.mixture import GaussianMixture
from sklearn.mixture._gaussian_mixture import _compute_precision_cholesky

from oracles.densities import log_density
from oracles.mixtures import FAMILIES, family_for, mixture_of, random_covariances, random_state
from sidelight.exceptions import SingularCovarianceError
from sidelight.families.evaluators.centred import ScaledEvaluator, TriangularEvaluator
from sidelight.families.exponential import LinearEvaluator
from sidelight.families.gaussian import CovariancePrior
from sidelight.families.gaussian.full import log_density_at_mean
from sidelight.families.gaussian.tied import TiedEvaluator
from sidelight.kernels.loops import NUMPY, compiled

TYPES = pytest.mark.parametrize("covariance_type", list(FAMILIES))
K, D, N = 4, 3, 500


def problem(covariance_type, seed=0, n=N, d=D, k=K):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * rng.uniform(0.5, 20, size=d) + rng.normal(size=d) * 50
    family = family_for(X, covariance_type)
    return X, family, random_state(rng, X, family, covariance_type, k)


def evaluate(family, parameters, X, backend=NUMPY):
    evaluator = family.evaluator(parameters, backend)
    blocks = []
    for start in range(0, len(X), evaluator.block_rows):
        evaluator.load(X[start : start + evaluator.block_rows])
        blocks.append(evaluator.log_likelihood().copy())
    return np.concatenate(blocks, axis=1).T


def collect(family, parameters, X, responsibilities):
    evaluator = family.evaluator(parameters, NUMPY)
    for start in range(0, len(X), evaluator.block_rows):
        evaluator.load(X[start : start + evaluator.block_rows])
        evaluator.accumulate(np.ascontiguousarray(responsibilities[start : start + evaluator.block_rows].T))
    return evaluator.statistics()


def scikit_learn_mixture(covariance_type, family, state):
    attributes = family.attributes(state.parameters)
    reference = GaussianMixture(len(state.weights), covariance_type=covariance_type, reg_covar=0)
    reference.weights_ = np.exp(state.weights)
    reference.means_, reference.covariances_ = attributes["means_"], attributes["covariances_"]
    reference.precisions_cholesky_ = _compute_precision_cholesky(reference.covariances_, covariance_type)
    return reference


@TYPES
@pytest.mark.parametrize("backend", [NUMPY, compiled()], ids=["numpy", "compiled"])
def test_log_densities_equal_scikit_learns(covariance_type, backend):
    X, family, state = problem(covariance_type)
    reference = scikit_learn_mixture(covariance_type, family, state)
    expected = reference._estimate_log_prob(X)
    np.testing.assert_allclose(evaluate(family, state.parameters, X, backend), expected, rtol=1e-9)


@TYPES
def test_one_step_of_em_equals_scikit_learns(covariance_type):
    X, family, state = problem(covariance_type, seed=1)
    reference = scikit_learn_mixture(covariance_type, family, state)
    bound, log_resp = reference._e_step(X)
    reference._m_step(X, log_resp)
    following, objective = mixture_of(X, family, K).step(state)
    attributes = family.attributes(following.parameters)
    np.testing.assert_allclose(objective / len(X), bound, rtol=1e-8)
    np.testing.assert_allclose(np.exp(following.weights), reference.weights_, rtol=1e-8)
    np.testing.assert_allclose(attributes["means_"], reference.means_, rtol=1e-8)
    np.testing.assert_allclose(attributes["covariances_"], reference.covariances_, rtol=1e-8, atol=1e-10)


@TYPES
def test_statistics_of_parts_add_up_to_those_of_the_whole(covariance_type):
    X, family, state = problem(covariance_type, seed=2)
    responsibilities = np.random.default_rng(3).dirichlet(np.ones(K), size=N)
    whole = collect(family, state.parameters, X, responsibilities)
    parts = [
        collect(family, state.parameters, X[rows], responsibilities[rows])
        for rows in (slice(0, 130), slice(130, 131), slice(131, N))
    ]
    total = parts[0] + parts[1] + parts[2]
    for name in ("mass", "first", "second"):
        np.testing.assert_allclose(getattr(total, name), getattr(whole, name), rtol=1e-10, atol=1e-8)


@TYPES
def test_update_maximises_the_objective_with_its_prior(covariance_type):
    rng = np.random.default_rng(4)
    X = rng.normal(size=(60, 2)) * [1.0, 3.0] + 5
    k, d = 2, 2
    family = family_for(X, covariance_type, rows=4.0, fraction=0.3)
    responsibilities = rng.dirichlet(np.ones(k), size=len(X))
    start = family.around(X[:k])
    best = family.update(collect(family, start, X, responsibilities))

    def objective(vector):
        means, rest = vector[: k * d].reshape(k, d), vector[k * d :]
        if covariance_type == "full":
            factors = np.zeros((k, d, d))
            factors[:, [0, 1, 1], [0, 0, 1]] = rest.reshape(k, 3)
            covariances = factors @ factors.swapaxes(1, 2)
        elif covariance_type == "tied":
            factor = np.array([[rest[0], 0], [rest[1], rest[2]]])
            covariances = factor @ factor.T
        else:
            covariances = np.exp(rest).reshape((k, d) if covariance_type == "diag" else (k,))
        parameters = family.parameters(means, covariances)
        log_likelihood = evaluate(family, parameters, X)
        return np.sum(responsibilities * log_likelihood) + family.log_prior(parameters)

    covariances = family.attributes(best)["covariances_"]
    if covariance_type in ("full", "tied"):
        lower = np.linalg.cholesky(covariances)
        rest = lower[..., [0, 1, 1], [0, 0, 1]].ravel()
    else:
        rest = np.log(covariances).ravel()
    optimum = np.concatenate([best.means.ravel(), rest])
    gradient = approx_fprime(optimum, objective, 1e-6)
    scale = np.abs(approx_fprime(optimum + 0.05, objective, 1e-6)).max()
    assert np.abs(gradient).max() < 1e-4 * scale
    for _ in range(20):
        assert objective(optimum + rng.normal(size=len(optimum)) * 0.02) < objective(optimum)


@TYPES
def test_far_apart_and_near_singular_data_switch_the_evaluator_and_keep_the_digits(covariance_type):
    # Condition 1e8, means 1e3 standard deviations of the narrow direction apart.
    rng = np.random.default_rng(5)
    d, k = 4, 3
    rotation = np.linalg.qr(rng.normal(size=(d, d)))[0]
    variances = np.geomspace(1.0, 1e-8, d)
    full = np.stack([rotation @ np.diag(variances) @ rotation.T] * k)
    means = rng.normal(size=(k, d)) * 1e3 + 1e4
    covariances = {
        "full": full,
        "tied": full[0],
        "diag": np.repeat(variances[None], k, axis=0),
        "spherical": np.geomspace(1.0, 1e-8, k),
    }[covariance_type]
    dense = {
        "full": full,
        "tied": full,
        "diag": np.stack([np.diag(variances)] * k),
        "spherical": np.stack([np.eye(d) * value for value in np.geomspace(1.0, 1e-8, k)]),
    }[covariance_type]
    X = np.concatenate([rng.multivariate_normal(means[i], dense[i], size=4) for i in range(k)])
    family = family_for(X, covariance_type)
    parameters = family.parameters(means, covariances)
    assert isinstance(family.evaluator(parameters, NUMPY), (TriangularEvaluator, ScaledEvaluator))
    expected = np.array([[log_density(x, means[i], dense[i]) for i in range(k)] for x in X])
    np.testing.assert_allclose(evaluate(family, parameters, X), expected, rtol=1e-6)
    own = np.repeat(np.arange(k), 4)
    np.testing.assert_allclose(
        evaluate(family, parameters, X)[np.arange(len(X)), own], expected[np.arange(len(X)), own], atol=1e-6
    )


@TYPES
def test_a_step_on_far_apart_data_recovers_the_spread_of_each_component(covariance_type):
    rng = np.random.default_rng(6)
    means = np.array([[0.0, 0.0], [1e8, -1e8]])
    own = np.repeat([0, 1], 200)
    X = means[own] + rng.normal(size=(400, 2)) * 0.01
    family = family_for(X, covariance_type)
    parameters = family.around(np.stack([X[:200].mean(axis=0), X[200:].mean(axis=0)]))
    tight = {"full": np.stack([np.eye(2) * 1e-4] * 2), "tied": np.eye(2) * 1e-4}
    tight |= {"diag": np.full((2, 2), 1e-4), "spherical": np.full(2, 1e-4)}
    parameters = family.parameters(parameters.means, tight[covariance_type])
    updated = family.update(collect(family, parameters, X, np.eye(2)[own]))
    within = np.concatenate([X[:200] - X[:200].mean(axis=0), X[200:] - X[200:].mean(axis=0)])
    expected = np.mean(np.square(within))
    covariances = family.attributes(updated)["covariances_"]
    found = np.trace(covariances, axis1=-2, axis2=-1).mean() / 2 if covariance_type in ("full", "tied") else covariances
    # The rows themselves carry only about eight digits of their distance from the mean.
    np.testing.assert_allclose(np.mean(found), expected, rtol=1e-5)


def test_the_quick_evaluators_are_picked_on_ordinary_data():
    expected = {"full": LinearEvaluator, "tied": TiedEvaluator, "diag": LinearEvaluator, "spherical": LinearEvaluator}
    for covariance_type, evaluator in expected.items():
        _, family, state = problem(covariance_type)
        assert type(family.evaluator(state.parameters, NUMPY)) is evaluator


def test_many_features_take_the_triangular_form():
    X, family, state = problem("full", n=200, d=70)
    assert isinstance(family.evaluator(state.parameters, NUMPY), TriangularEvaluator)
    reference = scikit_learn_mixture("full", family, state)
    np.testing.assert_allclose(evaluate(family, state.parameters, X), reference._estimate_log_prob(X), rtol=1e-9)


@TYPES
def test_centred_evaluators_collect_the_same_statistics(covariance_type):
    X, family, state = problem(covariance_type, seed=7)
    responsibilities = np.random.default_rng(8).dirichlet(np.ones(K), size=N)
    quick = family.update(collect(family, state.parameters, X, responsibilities))
    means = state.parameters.means
    if covariance_type in ("full", "tied"):
        factors = (
            state.parameters.factors
            if covariance_type == "full"
            else np.broadcast_to(state.parameters.factor, (K, D, D))
        )
        constants = log_density_at_mean(np.diagonal(factors, axis1=1, axis2=2))
        evaluator = TriangularEvaluator(means, factors, constants)
    else:
        variances = state.parameters.variances
        scales = np.broadcast_to(1 / np.sqrt(variances.reshape(K, -1)), (K, D))
        reduce = {"diag": lambda squares: squares, "spherical": lambda squares: squares.sum(axis=1)}
        evaluator = ScaledEvaluator(means, scales, log_density_at_mean(scales), reduce[covariance_type])
    np.testing.assert_array_less(0, evaluator.block_rows)
    for start in range(0, N, evaluator.block_rows):
        evaluator.load(X[start : start + evaluator.block_rows])
        evaluator.accumulate(responsibilities[start : start + evaluator.block_rows].T)
    centred = family.update(evaluator.statistics())
    for name, value in family.attributes(quick).items():
        np.testing.assert_allclose(family.attributes(centred)[name], value, rtol=1e-8, atol=1e-9)


@TYPES
def test_float32_rows_are_evaluated_in_double_precision(covariance_type):
    X, family, state = problem(covariance_type, seed=9)
    single = X.astype(np.float32)
    for backend in (NUMPY, compiled()):
        np.testing.assert_allclose(
            evaluate(family, state.parameters, single, backend),
            evaluate(family, state.parameters, single.astype(float)),
            rtol=1e-10,
        )


@TYPES
def test_a_component_that_owns_nothing_stays_finite(covariance_type):
    X, family, state = problem(covariance_type, seed=10)
    for fraction in (0.0, 0.1):
        family = family_for(X, covariance_type, rows=10 * fraction, fraction=fraction)
        responsibilities = np.zeros((N, K))
        responsibilities[:, 0] = 1.0
        parameters = family.update(collect(family, state.parameters, X, responsibilities))
        assert np.isfinite(evaluate(family, parameters, X)).all()


@TYPES
def test_draws_have_the_moments_of_their_component(covariance_type):
    rng = np.random.default_rng(11)
    family = family_for(rng.normal(size=(10, 2)), covariance_type)
    means = np.array([[0.0, 0.0], [3.0, -1.0]])
    parameters = family.parameters(means, random_covariances(rng, covariance_type, 2, 2))
    n = 40_000
    draws = family.sample(parameters, 1, n, np.random.RandomState(0))
    covariance = np.asarray(family.attributes(parameters)["covariances_"])
    expected = {
        "full": lambda: covariance[1],
        "tied": lambda: covariance,
        "diag": lambda: np.diag(covariance[1]),
        "spherical": lambda: np.eye(2) * covariance[1],
    }[covariance_type]()
    error = 5 * np.sqrt(np.diagonal(expected) / n)
    assert np.all(np.abs(draws.mean(axis=0) - means[1]) < error)
    np.testing.assert_allclose(np.cov(draws.T), expected, atol=5 * expected.max() * np.sqrt(2 / n))


@TYPES
def test_parameters_are_counted_as_scikit_learn_does(covariance_type):
    _, family, state = problem(covariance_type)
    reference = scikit_learn_mixture(covariance_type, family, state)
    assert family.n_parameters(K) + K - 1 == reference._n_parameters()


@TYPES
def test_selected_components_keep_their_densities(covariance_type):
    X, family, state = problem(covariance_type, seed=12)
    chosen = np.array([2, 0])
    picked = family.select(state.parameters, chosen)
    np.testing.assert_allclose(
        evaluate(family, picked, X), evaluate(family, state.parameters, X)[:, chosen], rtol=1e-12
    )


@TYPES
def test_collapse_without_a_prior_is_an_error_that_says_what_helps(covariance_type):
    X = np.zeros((5, 2))
    family = FAMILIES[covariance_type](np.zeros(2), CovariancePrior.scaled(np.ones(2), rows=0, fraction=0))
    statistics = collect(family, family.around(np.zeros((1, 2))), X, np.ones((5, 1)))
    with pytest.raises(SingularCovarianceError, match="prior_rows > 0"):
        family.update(statistics)


def test_the_prior_takes_the_mean_variance_for_constant_features():
    prior = CovariancePrior.scaled(np.array([4.0, 0.0, 2.0]), rows=2.0, fraction=0.5)
    np.testing.assert_allclose(prior.scatter, [4.0, 3.0, 2.0])
    np.testing.assert_allclose(CovariancePrior.scaled(np.zeros(2), rows=1.0, fraction=0.5).scatter, [0.5, 0.5])
