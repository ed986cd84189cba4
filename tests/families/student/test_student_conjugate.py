"""Student t components with posteriors: scales and missing cells against quadrature, updates, limits, draws."""

import numpy as np
import pytest
from scipy import stats
from scipy.special import digamma, logsumexp

from oracles.conjugate import COMPONENTS, STUDENT, case, collect, draw, log_likelihood, perturbed, scores, step
from sidelight.families.conjugate import NormalGamma, NormalWishart
from sidelight.families.conjugate.family import multidigamma
from sidelight.families.conjugate.learned import LearnedGamma, LearnedWishart
from sidelight.families.student import StudentParameters, student_of
from sidelight.kernels.loops import NUMPY

BOTH = pytest.mark.parametrize("name", STUDENT)
ALL = pytest.mark.parametrize(("name", "missing"), [(name, share) for name in STUDENT for share in (0.0, 0.3)])

# Nodes of ln u, wide and dense enough for the trapezoidal rule to be exact to eight digits.
LOG_SCALES = np.linspace(-25, 6, 1500)


def log_joint(given, k, x, log_scales):
    """Return E ln p(x, u | θ) of complete rows (…, d) at scales (…), as a density of ln u."""
    gaussians, tail, scales = given.parameters.gaussians, given.parameters.tails[k], np.exp(log_scales)
    means = gaussians.means[k]
    d, away = len(means), x - means
    if isinstance(given.family.gaussian, NormalWishart):
        _, kappa, nu, scatter, _ = (values[k] for values in gaussians)
        least, expected = d / kappa, nu * np.einsum("...i,ij,...j->...", away, np.linalg.inv(scatter), away)
    else:
        _, kappa, a, b = (values[k] for values in gaussians)
        least, expected = (1 / kappa).sum(), (a / b * away**2).sum(axis=-1)
    # At the mean and at scale one, the Gaussian family's own expectation is this less half of the distance there.
    at_mean = scores(given.family.gaussian.evaluator(gaussians, NUMPY), means[None])[0, k] + 0.5 * least
    of_row = at_mean + 0.5 * d * log_scales - 0.5 * scales * (least + expected)
    return of_row + stats.gamma.logpdf(scales, tail / 2, scale=2 / tail) + log_scales


def integrate(logs, spacing):
    return logsumexp(logs) + np.log(spacing)


@BOTH
def test_the_bound_of_a_row_agrees_with_quadrature_over_scales(name):
    given = case(name, seed=1)
    found = scores(given.family.evaluator(given.parameters, NUMPY), given.X)
    for row in range(8):
        for k in range(COMPONENTS):
            logs = log_joint(given, k, given.X[row], LOG_SCALES)
            assert found[row, k] == pytest.approx(integrate(logs, LOG_SCALES[1] - LOG_SCALES[0]), abs=1e-7)


def test_missing_cells_agree_with_quadrature_over_cells_and_scales():
    given = case("student_normal_wishart", seed=2)
    means, _, nu, scatter, _ = given.parameters.gaussians
    k, lost, seen = 1, 2, np.array([0, 1])
    row = given.X[0].copy()
    pull = np.linalg.solve(scatter[k][np.ix_(seen, seen)], row[seen] - means[k, seen])
    # In units of the cell's deviation given the scale, so that one grid does for all scales.
    units, log_scales = np.linspace(-12, 12, 400), LOG_SCALES[::3]
    spreads = np.sqrt(scatter[k, lost, lost] / nu[k]) * np.exp(-0.5 * log_scales)
    cells = means[k, lost] + scatter[k, lost, seen] @ pull + spreads[:, None] * units
    filled = np.broadcast_to(row, (*cells.shape, 3)).copy()
    filled[..., lost] = cells
    logs = log_joint(given, k, filled, log_scales[:, None]) + np.log(spreads)[:, None]
    logs += np.log((units[1] - units[0]) * (log_scales[1] - log_scales[0]))
    shares = np.exp(logs - logsumexp(logs)) * np.exp(log_scales)[:, None]

    row[lost] = np.nan
    assert scores(given.family.evaluator(given.parameters, NUMPY), row[None])[0, k] == pytest.approx(logsumexp(logs))
    only = np.eye(COMPONENTS)[[k]]
    found = collect(given.family, given.parameters, row[None], only).scaled_rows.measured_from(means)
    away = cells - means[k, lost]
    assert found.mass[k] == pytest.approx(shares.sum())
    assert found.first[k, lost] == pytest.approx((shares * away).sum())
    assert found.second[k, lost, lost] == pytest.approx((shares * away**2).sum())


@ALL
def test_no_posterior_nearby_leads_higher(name, missing):
    given, rng = case(name, seed=3, missing=missing), np.random.default_rng(4)
    taken = collect(given.family, given.parameters, given.X, given.responsibilities)
    best = given.family.update(taken)
    statistics = given.family.expanded(taken)

    def value(parameters):
        """Return the bound with the scales as they were when the statistics were taken, times one factor each."""
        rows = statistics.scaled_rows
        if isinstance(given.family.gaussian, NormalWishart):
            means, kappa, nu, _, factors = parameters
            d = means.shape[1]
            precisions = nu[:, None, None] * factors.swapaxes(1, 2) @ factors
            about = rows.measured_from(means)
            of_rows = -0.5 * (np.einsum("kij,kij->k", precisions, about.second) + d / kappa * rows.mass)
            log_determinants = multidigamma(nu, d) + d * np.log(2) + np.linalg.slogdet(factors)[1] * 2
            of_rows += 0.5 * statistics.mass * log_determinants
        else:
            means, kappa, a, b = parameters
            about = rows.measured_from(means)
            of_rows = -0.5 * (a / b * about.second + rows.cells / kappa).sum(axis=1)
            of_rows += 0.5 * (statistics.observed * (digamma(a) - np.log(b))).sum(axis=1)
        return of_rows.sum() + given.family.gaussian.log_prior(parameters)

    highest = value(best.gaussians)
    for size in (1e-4, 1e-2, 0.2):
        for _ in range(10):
            assert value(perturbed(best.gaussians, rng, size)) <= highest + 1e-9 * abs(highest)


@ALL
def test_every_step_raises_the_bound(name, missing):
    given = case(name, seed=5, missing=missing)
    parameters, bounds = given.parameters, []
    for _ in range(25):
        parameters, bound = step(given.family, parameters, given.X, np.log([0.2, 0.3, 0.5]))
        bounds.append(bound)
    assert (np.diff(bounds) >= -1e-9 * np.abs(bounds[1:])).all()


@pytest.mark.parametrize("prior", [NormalWishart, NormalGamma])
def test_a_common_factor_of_scales_and_precisions_is_found_at_once(prior):
    rng = np.random.default_rng(11)
    X = rng.normal(size=(300, 30)) / np.sqrt(rng.gamma(2.0, 0.5, size=(300, 1)))
    family = student_of(prior.scaled(X.mean(axis=0), X.var(axis=0)))

    def bounds(improved, n_steps):
        """Return the bounds from a start whose precisions are far too low."""
        parameters, found = family.around(X.mean(axis=0)[None]), []
        for _ in range(n_steps):
            found.append(scores(family.evaluator(parameters, NUMPY), X).sum() + family.log_prior(parameters))
            parameters = improved(collect(family, parameters, X, np.ones((len(X), 1))))
        return np.array(found)

    plain, quick = bounds(family._maximised, 100), bounds(family.update, 30)
    limit = max(plain[-1], quick[-1])
    assert quick[-1] == pytest.approx(plain[-1], rel=1e-4)
    assert (limit - quick < 1).argmax() * 4 < (limit - plain < 1).argmax()


@ALL
def test_a_learned_prior_raises_the_bound(name, missing):
    given = case(name, seed=12, missing=missing)
    learned = LearnedWishart if isinstance(given.family.gaussian, NormalWishart) else LearnedGamma
    family = student_of(learned.centred(given.family.gaussian))
    parameters, bounds = given.parameters, []
    log_weights = np.log([0.2, 0.3, 0.5])
    for _ in range(12):
        total = scores(family.evaluator(parameters, NUMPY), given.X) + log_weights
        bounds.append(logsumexp(total, axis=1).sum() + family.log_prior(parameters))
        responsibilities = np.exp(total - logsumexp(total, axis=1, keepdims=True))
        statistics = collect(family, parameters, given.X, responsibilities)
        family = family.relearned(statistics)
        parameters = family.update(statistics)
    assert (np.diff(bounds) >= -1e-9 * np.abs(bounds[1:])).all()
    assert bounds[-1] > bounds[0]


def test_without_tails_predictions_are_those_of_gaussians():
    given = case("student_normal_wishart", seed=6, missing=0.2)
    light = given.parameters._replace(tails=np.full(COMPONENTS, 1e9))
    expected = scores(given.family.gaussian.predictive(light.gaussians, NUMPY), given.X)
    np.testing.assert_allclose(scores(given.family.predictive(light, NUMPY), given.X), expected, atol=1e-5)


@ALL
def test_predictions_agree_with_draws_where_rows_are_many(name, missing):
    given, rng = case(name, seed=7, n=600, missing=missing), np.random.default_rng(8)
    found = scores(given.family.predictive(given.parameters, NUMPY), given.X)
    k, tail = 0, given.parameters.tails[0]
    theta = draw(given.parameters.gaussians, k, 4000, rng)
    scales = rng.gamma(tail / 2, 2 / tail, size=4000)
    power = scales[:, None, None] if isinstance(given.family.gaussian, NormalWishart) else scales[:, None]
    scaled = (theta[0], theta[1] * power)
    for row in range(10):
        logs = log_likelihood(given.X[row], scaled, given.parameters.gaussians)
        assert found[row, k] == pytest.approx(logsumexp(logs) - np.log(len(logs)), abs=0.12)


@BOTH
def test_draws_are_from_the_posterior_predictive(name):
    given, rng = case(name, seed=9), np.random.default_rng(10)
    k, n, tail = 2, 3000, given.parameters.tails[2]
    rows = given.family.sample(given.parameters, k, n, np.random.RandomState(1))
    mu, precisions = draw(given.parameters.gaussians, k, n, rng)
    scales = rng.gamma(tail / 2, 2 / tail, size=(n, 1))
    if isinstance(given.family.gaussian, NormalWishart):
        noise = np.linalg.solve(np.linalg.cholesky(precisions).swapaxes(1, 2), rng.normal(size=(*mu.shape, 1)))[..., 0]
    else:
        noise = rng.normal(size=mu.shape) / np.sqrt(precisions)
    expected = mu + noise / np.sqrt(scales)
    for column in range(mu.shape[1]):
        assert stats.ks_2samp(rows[:, column], expected[:, column]).pvalue > 1e-3


@BOTH
def test_statistics_add_up_and_regroup(name):
    given = case(name, seed=11, missing=0.2)
    whole = collect(given.family, given.parameters, given.X, given.responsibilities)
    parts = [
        collect(given.family, given.parameters, given.X[part], given.responsibilities[part])
        for part in (slice(0, 25), slice(25, None))
    ]
    both = parts[0] + parts[1]
    np.testing.assert_allclose(both.mass, whole.mass)
    np.testing.assert_allclose(both.deviations, whole.deviations)
    np.testing.assert_allclose(both.observed, whole.observed)
    np.testing.assert_allclose(both.means(), whole.means())
    groups = np.array([0, 1, 0])
    regrouped = whole.regrouped(groups)
    np.testing.assert_allclose(regrouped.mass, [whole.mass[0] + whole.mass[2], whole.mass[1]])
    np.testing.assert_allclose(whole.scaled(2.0).deviations, 2 * whole.deviations)


def test_parameters_of_some_components_are_theirs():
    given = case("student_normal_wishart", seed=12)
    chosen = given.family.select(given.parameters, np.array([2, 0]))
    assert isinstance(chosen, StudentParameters)
    np.testing.assert_array_equal(chosen.tails, given.parameters.tails[[2, 0]])
    np.testing.assert_array_equal(chosen.gaussians.means, given.parameters.gaussians.means[[2, 0]])
