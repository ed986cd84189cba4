"""Student t components by maximum likelihood: densities of scipy.stats, its fit, rows far out that count little."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from oracles.conjugate import collect, scores
from oracles.mixtures import FAMILIES, family_for, mixture_of, random_covariances
from sidelight import LabelledMixture
from sidelight.families.student import LikelihoodStudent, StudentParameters
from sidelight.inference.mixture import MixtureState
from sidelight.kernels.loops import NUMPY
from sidelight.weights import MaximumLikelihoodWeights

TYPES = pytest.mark.parametrize("covariance_type", list(FAMILIES))


def drawn(rng, covariance_type, k=3, d=2, n=50):
    """Return a family, parameters, a table, and the covariances (components, d, d)."""
    X = rng.standard_t(3, size=(n, d)) * [1.0, 20.0] + 50
    gaussian = family_for(X, covariance_type, rows=3.0, fraction=0.1)
    scale = {"full": np.outer([1, 20.0], [1, 20.0]), "tied": np.outer([1, 20.0], [1, 20.0]), "diag": [1, 400.0]}
    covariances = random_covariances(rng, covariance_type, k, d) * scale.get(covariance_type, 1.0)
    parameters = StudentParameters(gaussian.parameters(X[:k], covariances), np.array([2.5, 7.0, 150.0])[:k])
    return LikelihoodStudent(gaussian), parameters, X, as_full(covariances, covariance_type, k, d)


def as_full(covariances, covariance_type, k, d):
    if covariance_type in ("full", "tied"):
        return np.broadcast_to(covariances, (k, d, d))
    return np.stack([np.diag(np.broadcast_to(values, d)) for values in covariances])


@TYPES
def test_densities_are_those_of_scipy(covariance_type):
    family, parameters, X, full = drawn(np.random.default_rng(0), covariance_type)
    found = scores(family.evaluator(parameters, NUMPY), X)
    for k, (mean, covariance, tail) in enumerate(zip(parameters.gaussians[0], full, parameters.tails, strict=True)):
        expected = stats.multivariate_t.logpdf(X, mean, covariance, tail)
        np.testing.assert_allclose(found[:, k], expected, rtol=1e-9, atol=1e-9)


@TYPES
def test_statistics_are_sums_over_rows(covariance_type):
    rng = np.random.default_rng(1)
    family, parameters, X, full = drawn(rng, covariance_type, n=12)
    r = rng.dirichlet(np.ones(3), size=len(X))
    found = collect(family, parameters, X, r, block_rows=5)
    for k, (mean, covariance, tail) in enumerate(zip(parameters.gaussians[0], full, parameters.tails, strict=True)):
        away = X - mean
        distances = np.einsum("ni,ij,nj->n", away, np.linalg.inv(covariance), away)
        posterior = stats.gamma((tail + 2) / 2, scale=2 / (tail + distances))
        scales = posterior.mean()
        logs = np.array([stats.gamma((tail + 2) / 2, scale=2 / (tail + q)).expect(np.log) for q in distances])
        np.testing.assert_allclose(found.mass[k], r[:, k].sum())
        np.testing.assert_allclose(found.deviations[k], r[:, k] @ (logs - scales), rtol=1e-6)
        np.testing.assert_allclose(found.means()[k], (r[:, k] * scales) @ X / (r[:, k] @ scales), rtol=1e-9)


def test_one_component_is_scipys_fit():
    x = stats.t.rvs(3.0, loc=5, scale=2, size=400, random_state=0)
    degrees, mean, scale = stats.t.fit(x)
    model = LabelledMixture(1, family="student_t", prior_rows=0, tol=1e-13, max_iter=2000).fit(x[:, None])
    np.testing.assert_allclose(model.tail_degrees_, degrees, rtol=1e-3)
    np.testing.assert_allclose(model.means_[0, 0], mean, rtol=1e-4)
    np.testing.assert_allclose(model.covariances_[0, 0, 0], scale**2, rtol=1e-3)
    assert model.score(x[:, None]) >= stats.t.logpdf(x, degrees, mean, scale).mean() - 1e-9


@given(
    covariance_type=st.sampled_from(list(FAMILIES)),
    seed=st.integers(0, 10_000),
    rows=st.sampled_from([0.5, 5.0]),
    weighted=st.booleans(),
)
def test_every_step_raises_the_objective(covariance_type, seed, rows, weighted):
    rng = np.random.default_rng(seed)
    X = rng.standard_t(2, size=(40, 3)) + 4 * rng.integers(3, size=(40, 1))
    family = LikelihoodStudent(family_for(X, covariance_type, rows=rows, fraction=0.1))
    weights = rng.uniform(0.5, 3, size=40) if weighted else None
    mixture = mixture_of(X, family, 3, weights=weights)
    log_weights = MaximumLikelihoodWeights(np.arange(3)).update(np.ones(3), np.ones(3), None)
    state, objectives = MixtureState(family.around(X[:3]), log_weights), []
    for _ in range(12):
        state, objective = mixture.step(state)
        objectives.append(objective)
    assert (np.diff(objectives) >= -1e-9 * np.abs(objectives[1:])).all()


def test_a_row_far_out_counts_next_to_nothing():
    X = np.random.default_rng(2).normal(size=(100, 2))
    with_outlier = np.concatenate([X, [[1e4, -1e4]]])
    alone, beside = (LabelledMixture(1, family="student_t").fit(table) for table in (X, with_outlier))
    assert np.abs(alone.means_ - beside.means_).max() < 0.05
    assert np.abs(LabelledMixture(1).fit(with_outlier).means_ - alone.means_).max() > 50


def test_draws_have_the_density():
    family, parameters, _, full = drawn(np.random.default_rng(3), "full")
    rows = family.sample(parameters, 1, 4000, np.random.RandomState(0))
    tail, mean = parameters.tails[1], parameters.gaussians[0][1]
    distances = np.einsum("ni,ij,nj->n", rows - mean, np.linalg.inv(full[1]), rows - mean)
    # D / d has an F distribution.
    assert stats.kstest(distances / 2, stats.f(2, tail).cdf).pvalue > 1e-3


def test_parameters_are_counted():
    family = LikelihoodStudent(family_for(np.random.default_rng(0).normal(size=(9, 3)), "full"))
    assert family.n_parameters(2) == 2 * (3 + 6) + 2


def test_missing_cells_are_refused_with_a_remedy():
    X = np.array([[0.0, 1.0], [np.nan, 2.0], [3.0, 1.0]])
    with pytest.raises(ValueError, match="column 0 has missing cells.*BayesianMixture"):
        LabelledMixture(1, family="student_t").fit(X)
