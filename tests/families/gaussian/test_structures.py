"""The structures that covariances may share: updates are maxima, constraints hold, the objective never falls."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from oracles.densities import log_density
from oracles.mixtures import mixture_of
from sidelight.estimators.base.likelihood_gaussians import STRUCTURES
from sidelight.exceptions import SingularCovarianceError
from sidelight.families.gaussian import CovariancePrior
from sidelight.families.gaussian.common_orientation import OrientedStatistics
from sidelight.families.gaussian.principal_axes import principal_axes
from sidelight.families.gaussian.volumes import scatter_matrices
from sidelight.inference.mixture import MixtureState
from sidelight.inference.starts import state_given
from sidelight.kernels.loops import NUMPY, compiled

ALL = pytest.mark.parametrize("structure", list(STRUCTURES))
PRIORS = pytest.mark.parametrize("prior_rows", [0.0, 3.0])


def family_of(X, structure, prior_rows=0.0):
    prior = CovariancePrior.scaled(X.var(axis=0), rows=prior_rows, fraction=0.1)
    return STRUCTURES[structure](X.mean(axis=0), prior)


def problem(structure, *, seed=0, n=90, d=3, k=3, prior_rows=0.0):
    """Return rows of three tilted clusters, a family, responsibilities and the update they give."""
    rng = np.random.default_rng(seed)
    own = np.arange(n) % k
    tilts = rng.normal(size=(k, d, d)) * rng.uniform(0.3, 3, size=(k, d, 1))
    X = rng.normal(size=(k, d))[own] * 3 + np.einsum("nij,nj->ni", tilts[own], rng.normal(size=(n, d)))
    family = family_of(X, structure, prior_rows)
    responsibilities = 0.8 * np.eye(k)[own] + 0.2 * rng.dirichlet(np.ones(k), size=n)
    return X, family, responsibilities


def collect(family, parameters, X, responsibilities):
    evaluator = family.evaluator(parameters, NUMPY)
    evaluator.load(X)
    evaluator.accumulate(np.ascontiguousarray(responsibilities.T))
    return evaluator.statistics()


def updated(X, family, responsibilities):
    start = family.around(X[: responsibilities.shape[1]])
    return family.update(collect(family, start, X, responsibilities))


def covariances_of(family, parameters):
    values, (k, d) = np.asarray(family.attributes(parameters)["covariances_"]), parameters.means.shape
    if type(family) is STRUCTURES["EEE"]:
        return np.broadcast_to(values, (k, d, d))
    if values.ndim == 1:
        return values[:, None, None] * np.eye(d)
    return values if values.ndim == 3 else values[:, :, None] * np.eye(d)


def objective_of(X, family, responsibilities, means, covariances):
    """Return the expected log density plus the prior, by dense formulas; a single covariance has one prior."""
    total = sum(
        responsibilities[:, k] @ [log_density(x, means[k], covariances[k]) for x in X] for k in range(len(means))
    )
    single = type(family) in [STRUCTURES[name] for name in ("EII", "EEI", "EEE")]
    for covariance in covariances[:1] if single else covariances:
        total -= 0.5 * family.prior.rows * np.linalg.slogdet(covariance)[1]
        total -= 0.5 * np.diagonal(np.linalg.inv(covariance)) @ family.prior.scatter
    return total


def free_parameters(structure, vector, k, d):
    """Return the covariances of a structure from unconstrained numbers: volumes, shapes, rotations, in this order."""
    sizes = (1, d - 1, d * (d - 1) // 2)
    sets = [{"E": 1, "V": k, "I": 0}[letter] for letter in structure]
    parts = np.split(vector, np.cumsum(np.multiply(sets, sizes))[:-1])
    volumes, logs, angles = (
        np.broadcast_to(part.reshape(-1, size), (k, size)) if len(part) else np.zeros((k, size))
        for part, size in zip(parts, sizes, strict=True)
    )
    shapes = np.exp(np.column_stack([logs, -logs.sum(axis=1)]))
    skew = np.zeros((k, d, d))
    skew[(slice(None), *np.triu_indices(d, 1))] = angles
    skew -= skew.swapaxes(1, 2)
    rotations = np.linalg.solve(np.eye(d) + skew, np.eye(d) - skew)  # Cayley: all rotations but half turns
    return rotations * (np.exp(volumes) * shapes)[:, None] @ rotations.swapaxes(1, 2)


def n_free(structure, k, d):
    sets = [{"E": 1, "V": k, "I": 0}[letter] for letter in structure]
    return int(np.dot(sets, [1, d - 1, d * (d - 1) // 2]))


@PRIORS
@ALL
def test_no_optimiser_finds_better_covariances_than_the_update(structure, prior_rows):
    X, family, responsibilities = problem(structure, n=36, prior_rows=prior_rows)
    best = updated(X, family, responsibilities)
    (k, d), rng = best.means.shape, np.random.default_rng(1)
    centred = X - best.means[:, None]
    scatter = np.einsum("nk,kni,knj->kij", responsibilities, centred, centred)
    mass, prior = responsibilities.sum(axis=0), family.prior
    shares = 1 / k if structure in ("EII", "EEI", "EEE") else 1.0
    scatter, mass = scatter + shares * np.diag(prior.scatter), mass + shares * prior.rows

    def loss(covariances):
        determinants = np.linalg.slogdet(covariances)[1]
        return 0.5 * (mass @ determinants + np.einsum("kij,kji->", scatter, np.linalg.inv(covariances)))

    size = mass.sum()  # an optimiser's first step is as long as the gradient
    found = min(
        size
        * minimize(
            lambda vector: loss(free_parameters(structure, vector, k, d)) / size,
            rng.normal(size=n_free(structure, k, d)) * 0.5,
            tol=1e-8,
        ).fun
        for _ in range(2)
    )
    ours = loss(covariances_of(family, best))
    np.testing.assert_allclose(ours, found, rtol=1e-7)
    # The loss is the objective with the sign turned, apart from constants: held against plain sums over the rows.
    other = family.around(X[:k])._replace(means=best.means)
    expected = objective_of(X, family, responsibilities, best.means, covariances_of(family, best)) - objective_of(
        X, family, responsibilities, best.means, covariances_of(family, other)
    )
    np.testing.assert_allclose(loss(covariances_of(family, other)) - ours, expected, rtol=1e-8)


@ALL
def test_log_densities_and_the_prior_are_those_of_the_covariances(structure):
    X, family, responsibilities = problem(structure, n=36, prior_rows=3.0)
    parameters = updated(X, family, responsibilities)
    covariances = covariances_of(family, parameters)
    expected = [[log_density(x, m, c) for m, c in zip(parameters.means, covariances, strict=True)] for x in X]
    for backend in (NUMPY, compiled()):
        evaluator = family.evaluator(parameters, backend)
        evaluator.load(X)
        np.testing.assert_allclose(evaluator.log_likelihood().T, expected, rtol=1e-9)
    total = np.sum(responsibilities * expected) + family.log_prior(parameters)
    direct = objective_of(X, family, responsibilities, parameters.means, covariances)
    np.testing.assert_allclose(total, direct, rtol=1e-9)


@PRIORS
@ALL
def test_what_the_name_says_is_equal_is_equal(structure, prior_rows):
    X, family, responsibilities = problem(structure, seed=2, prior_rows=prior_rows)
    covariances = covariances_of(family, updated(X, family, responsibilities))
    values = np.linalg.eigvalsh(covariances)
    volumes = np.exp(np.log(values).mean(axis=1))
    shapes = np.sort(values / volumes[:, None], axis=1)
    products = covariances[0] @ covariances[1:]
    commute = np.abs(products - products.swapaxes(1, 2)).max() < 1e-10 * np.abs(products).max()
    diagonal = np.abs(covariances * (1 - np.eye(3))).max() < 1e-12
    volume, shape, orientation = structure
    assert np.allclose(volumes, volumes[0], rtol=1e-10) == (volume == "E")
    assert np.allclose(shapes, shapes[0], rtol=1e-9) == (shape in "EI")
    assert np.allclose(shapes, 1.0) == (shape == "I")
    assert diagonal == (orientation == "I")
    assert commute == (orientation in "IE")


@ALL
@settings(max_examples=30)
@given(seed=st.integers(0, 2**16), prior_rows=st.sampled_from([0.0, 1.0, 5.0]), d=st.integers(1, 4))
def test_no_step_lowers_the_objective(structure, seed, prior_rows, d):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(60, d)) @ rng.normal(size=(d, d)) + rng.normal(size=(3, d))[rng.integers(3, size=60)] * 4
    mixture = mixture_of(X, family_of(X, structure, prior_rows), 3)
    state = MixtureState(mixture.family.around(X[:3]), np.log(np.full(3, 1 / 3)))
    objectives = []
    try:
        for _ in range(12):
            state, objective = mixture.step(state)
            objectives.append(objective)
    except SingularCovarianceError:
        assert prior_rows == 0
    assert np.all(np.diff(objectives) >= -1e-9 * np.abs(objectives[:-1]))


@ALL
def test_a_component_that_owns_nothing_stays_finite_and_changes_nothing_else(structure):
    X, family, responsibilities = problem(structure, seed=3)
    alone = updated(X, family, responsibilities)
    surplus = updated(X, family, np.column_stack([responsibilities, np.zeros(len(X))]))
    covariances = covariances_of(family, surplus)
    assert np.isfinite(covariances).all()
    np.testing.assert_allclose(covariances[:3], covariances_of(family, alone), rtol=1e-9)


@ALL
def test_selected_components_keep_their_densities_and_draws_their_moments(structure):
    X, family, responsibilities = problem(structure, seed=4)
    parameters = updated(X, family, responsibilities)
    chosen = np.array([2, 0])
    picked = family.select(parameters, chosen)
    np.testing.assert_allclose(covariances_of(family, picked), covariances_of(family, parameters)[chosen])
    n, covariance = 40_000, covariances_of(family, parameters)[1]
    draws = family.sample(parameters, 1, n, np.random.RandomState(0))
    assert np.all(np.abs(draws.mean(axis=0) - parameters.means[1]) < 5 * np.sqrt(np.diagonal(covariance) / n))
    np.testing.assert_allclose(np.cov(draws.T), covariance, atol=5 * covariance.max() * np.sqrt(2 / n))


@ALL
def test_collapse_without_a_prior_is_an_error_that_says_what_helps(structure):
    family = STRUCTURES[structure](np.zeros(2), CovariancePrior.scaled(np.ones(2), rows=0, fraction=0))
    with pytest.raises(SingularCovarianceError, match="prior_rows > 0"):
        updated(np.zeros((5, 2)), family, np.ones((5, 1)))


@pytest.mark.parametrize("structure", ["EVE", "VVE"])
def test_statistics_keep_the_axes_when_they_are_added_moved_or_put_together(structure):
    X, family, responsibilities = problem(structure, seed=5)
    parameters = updated(X, family, responsibilities)
    whole = collect(family, parameters, X, responsibilities)
    parts = (
        collect(family, parameters, X[:40], responsibilities[:40]),
        collect(family, parameters, X[40:], responsibilities[40:]),
    )
    total = (parts[0] + parts[1].measured_from(np.ones(3))).scaled(2.0)
    assert isinstance(total, OrientedStatistics)
    np.testing.assert_array_equal(total.axes, parameters.axes)
    np.testing.assert_allclose(total.second, 2 * whole.second)
    merged = whole.regrouped(np.array([0, 0, 1]))
    np.testing.assert_allclose(merged.mass, [whole.mass[:2].sum(), whole.mass[2]])
    np.testing.assert_array_equal(merged.axes, parameters.axes)


@pytest.mark.parametrize("structure", ["EVE", "VVE"])
def test_the_next_update_starts_at_the_axes_before(structure):
    X, family, responsibilities = problem(structure, seed=6)
    first = updated(X, family, responsibilities)
    again = family.update(collect(family, first, X, responsibilities))
    np.testing.assert_allclose(np.abs(again.axes), np.abs(first.axes), atol=1e-6)


@pytest.mark.parametrize("structure", ["EVE", "VVE"])
def test_axes_are_stationary_and_orthogonal_from_any_start(structure):
    X, family, responsibilities = problem(structure, seed=8, d=5)
    scatter = scatter_matrices(collect(family, family.around(X[:3]), X, responsibilities), family.prior)
    for start in (np.eye(5), np.linalg.qr(np.random.default_rng(0).normal(size=(5, 5)))[0]):
        axes, variances = principal_axes(scatter, start, family._variances)
        np.testing.assert_allclose(axes.T @ axes, np.eye(5), atol=1e-12)
        turned = axes.T @ scatter.sums @ axes
        # The likelihood equations of Flury (1984): Σ_k (1/v_kj − 1/v_kl) d_jᵀ S_k d_l = 0.
        pulls = np.einsum("kij,kj->ij", turned, 1 / variances)
        np.testing.assert_allclose(pulls, pulls.T, atol=1e-5 * scatter.rows.sum())


@ALL
def test_a_state_from_responsibilities_is_the_update(structure):
    X, family, responsibilities = problem(structure, seed=7)
    mixture = mixture_of(X, family, 3)
    state = state_given(mixture, X[:3], responsibilities)
    expected = covariances_of(family, updated(X, family, responsibilities))
    np.testing.assert_allclose(covariances_of(family, state.parameters), expected, rtol=1e-6, atol=1e-9)
