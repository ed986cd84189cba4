"""Normal-Wishart posteriors: scikit-learn's updates, printed formulas, missing cells, digits that must be kept."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats
from scipy.integrate import quad
from scipy.special import digamma
from sklearn.mixture import BayesianGaussianMixture

from oracles.conjugate import COMPONENTS, case, collect, draw, log_density, scores
from sidelight.families.conjugate import NormalWishart, NormalWishartParameters, printed_divergence
from sidelight.families.gaussian.full import precision_factors
from sidelight.kernels.loops import NUMPY, compiled


def posteriors(means, mean_precision, degrees, scatter):
    scatter = np.asarray(scatter, dtype=float)
    return NormalWishartParameters(
        np.asarray(means, dtype=float),
        np.asarray(mean_precision, dtype=float),
        np.asarray(degrees, dtype=float),
        scatter,
        precision_factors(scatter),
    )


@pytest.mark.parametrize("name", ["normal_wishart", "own_means"])
def test_one_update_equals_scikit_learns(name):
    given = case(name, seed=1)
    family, X, d = given.family, given.X, given.X.shape[1]
    if name == "own_means":
        family = replace(family, mean=X.mean(axis=0) + 3)
    reference = BayesianGaussianMixture(
        n_components=COMPONENTS,
        mean_prior=family.mean,
        mean_precision_prior=family.mean_precision,
        degrees_of_freedom_prior=family.degrees,
        covariance_prior=family.scatter,
        reg_covar=0.0,
    )
    reference._check_parameters(X)
    reference._m_step(X, np.log(given.responsibilities))
    parameters = family.update(collect(family, given.parameters, X, given.responsibilities))
    for attribute, values in family.attributes(parameters).items():
        np.testing.assert_allclose(values, getattr(reference, attribute), rtol=1e-9, atol=1e-11)
    found = scores(family.evaluator(parameters, NUMPY), X)
    np.testing.assert_allclose(found, reference._estimate_log_prob(X), rtol=1e-9)
    assert family.n_parameters(COMPONENTS) == COMPONENTS * (d + d * (d + 1) // 2)


def test_the_printed_divergence_is_as_printed():
    # Two components in one dimension, worked out by hand from appendix A of Echraibi et al. (2019).
    parameters = posteriors([[0.0], [2.0]], [1.0, 4.0], [3.0, 5.0], [[[2.0]], [[0.5]]])
    kappa_term = 1 * (4.0 + 0.25 - 2.0)
    l_0, l_1 = 0.5, 2.0
    log_term = 0.5 * (3 - 5) * (np.log(l_0) - np.log(l_1))
    mean_term = (3 * l_0 + 5 * l_1) * 4.0
    digamma_term = 0.5 * (3 - 5) * digamma(1.5) + 0.5 * (5 - 3) * digamma(2.5)
    trace_term = 0.5 * (3 * 0.5 * l_0 + 5 * 2.0 * l_1) - 0.5 * 8
    expected = kappa_term + log_term + mean_term + digamma_term + trace_term
    np.testing.assert_allclose(printed_divergence(parameters), [[0, expected], [expected, 0]], rtol=1e-12)
    right = NormalWishart.scaled(np.zeros(1), np.ones(1)).divergence(parameters)
    assert abs(right[0, 1] - expected) > 1.0


def test_the_wishart_density_of_the_oracle_is_scipys():
    given = case("normal_wishart", seed=2)
    rng = np.random.default_rng(3)
    mu, precisions = draw(given.parameters, 0, 5, rng)
    means, kappa, nu, scatter, _ = (values[0] for values in given.parameters)
    expected = [
        stats.wishart.logpdf(matrix, nu, np.linalg.inv(scatter))
        + stats.multivariate_normal.logpdf(row, means, np.linalg.inv(kappa * matrix))
        for row, matrix in zip(mu, precisions, strict=True)
    ]
    np.testing.assert_allclose(log_density((mu, precisions), given.parameters, 0), expected, rtol=1e-9)


def test_the_predictive_density_is_scipys_student_t():
    given = case("normal_wishart", seed=4)
    found = scores(given.family.predictive(given.parameters, NUMPY), given.X)
    for k, (means, kappa, nu, scatter, _) in enumerate(zip(*given.parameters, strict=True)):
        freedom = nu + 1 - len(means)
        shape = scatter * (kappa + 1) / (kappa * freedom)
        expected = stats.multivariate_t.logpdf(given.X, means, shape, freedom)
        np.testing.assert_allclose(found[:, k], expected, rtol=1e-9)


def test_predictive_margins_integrate_to_one_and_to_each_other():
    given = case("own_means", seed=5, n=10)
    predictive = given.family.predictive(given.parameters, NUMPY)
    k = 1
    mean, width = given.parameters.means[k], np.sqrt(np.diagonal(given.parameters.scatter[k]))

    def density(first, second):
        return np.exp(scores(predictive, np.array([[first, second]]))[0, k])

    def standard(t, column, other):
        row = [other, other]
        row[column] = mean[column] + width[column] * t
        return width[column] * density(*row)

    for column in range(2):
        total, _ = quad(standard, -np.inf, np.inf, args=(column, np.nan), epsabs=1e-9)
        np.testing.assert_allclose(total, 1.0, rtol=1e-6)
    seen = mean[1] + 0.3 * width[1]
    total, _ = quad(standard, -np.inf, np.inf, args=(0, seen), epsabs=1e-9)
    np.testing.assert_allclose(total, density(np.nan, seen), rtol=1e-6)


def test_a_missing_cell_is_integrated_out_of_the_expected_density():
    given = case("own_means", seed=6)
    evaluator = given.family.evaluator(given.parameters, NUMPY)
    for row in given.X[:3]:
        found = scores(evaluator, np.array([[row[0], np.nan]]))[0]
        for k in range(COMPONENTS):
            mean, width = given.parameters.means[k, 1], np.sqrt(given.parameters.scatter[k, 1, 1])
            # A fine grid over the whole width: the trapezoidal rule is exact for what falls off so quickly.
            cells = mean + width * np.linspace(-40, 40, 8001)
            whole = scores(evaluator, np.column_stack([np.full(len(cells), row[0]), cells]))[:, k]
            total = np.trapezoid(np.exp(whole - found[k]), cells)
            np.testing.assert_allclose(total, 1.0, rtol=1e-8)


def test_a_sure_posterior_gives_the_marginal_density_of_what_is_seen():
    rng = np.random.default_rng(7)
    d, sure = 4, 1e9
    root = rng.normal(size=(2, d, d))
    covariances = root @ root.swapaxes(1, 2) + np.eye(d)
    means = rng.normal(size=(2, d))
    parameters = posteriors(means, [sure, sure], [sure, sure], sure * covariances)
    family = NormalWishart.scaled(np.zeros(d), np.ones(d))
    X = rng.normal(size=(30, d))
    X[rng.random(X.shape) < 0.5] = np.nan
    for evaluator in (family.evaluator(parameters, NUMPY), family.predictive(parameters, NUMPY)):
        found = scores(evaluator, X)
        for row, logs in zip(X, found, strict=True):
            seen = ~np.isnan(row)
            for k in range(2):
                expected = 0.0
                if seen.any():
                    margin = covariances[k][np.ix_(seen, seen)]
                    expected = stats.multivariate_normal.logpdf(row[seen], means[k, seen], margin)
                np.testing.assert_allclose(logs[k], expected, atol=1e-5)


def test_statistics_of_missing_cells_are_their_conditional_moments():
    # Straight from the conditional distribution by the blocks of the expected precision.
    given = case("normal_wishart", seed=8, missing=0.4)
    family, X, r = given.family, given.X, given.responsibilities
    means, _, degrees, scatter, _ = given.parameters
    found = collect(family, given.parameters, X, r).measured_from(np.zeros(3))
    first, second = np.zeros((COMPONENTS, 3)), np.zeros((COMPONENTS, 3, 3))
    for k in range(COMPONENTS):
        precision = degrees[k] * np.linalg.inv(scatter[k])
        for row, weight in zip(X, r[:, k], strict=True):
            lost, seen = np.isnan(row), ~np.isnan(row)
            inverse = np.linalg.inv(precision[np.ix_(lost, lost)])
            filled, covariance = row.copy(), np.zeros((3, 3))
            away = precision[np.ix_(lost, seen)] @ (row[seen] - means[k, seen])
            filled[lost] = means[k, lost] - inverse @ away
            covariance[np.ix_(lost, lost)] = inverse
            first[k] += weight * filled
            second[k] += weight * (np.outer(filled, filled) + covariance)
    np.testing.assert_allclose(found.mass, r.sum(axis=0), rtol=1e-12)
    np.testing.assert_allclose(found.first, first, rtol=1e-10)
    np.testing.assert_allclose(found.second, second, rtol=1e-9)


@pytest.mark.parametrize("face", ["evaluator", "predictive"])
def test_the_triangular_form_agrees_with_the_linear_one(face):
    given = case("normal_wishart", seed=10)
    # Measured from so far away the linear form would lose its digits.
    far = replace(given.family, centre=given.family.centre + 1e7)
    near_scores = scores(getattr(given.family, face)(given.parameters, NUMPY), given.X)
    far_scores = scores(getattr(far, face)(given.parameters, NUMPY), given.X)
    np.testing.assert_allclose(far_scores, near_scores, rtol=1e-9)
    linear = collect(given.family, given.parameters, given.X, given.responsibilities)
    triangular = collect(far, given.parameters, given.X, given.responsibilities)
    assert linear.origin.shape == (3,)
    assert triangular.origin.shape == (COMPONENTS, 3)
    empty = np.full((2, 3), np.nan)
    np.testing.assert_allclose(
        scores(getattr(far, face)(given.parameters, NUMPY), empty),
        scores(getattr(given.family, face)(given.parameters, NUMPY), empty),
    )
    for name, values in given.family.attributes(given.family.update(linear)).items():
        np.testing.assert_allclose(given.family.attributes(far.update(triangular))[name], values, rtol=1e-9)


def test_many_features_and_the_compiled_loops_give_the_same():
    rng = np.random.default_rng(11)
    X = rng.normal(size=(150, 70)) * rng.uniform(0.1, 10, size=70)
    family = NormalWishart.scaled(X.mean(axis=0), X.var(axis=0))
    parameters = family.update(collect(family, family.around(X[:2]), X, rng.dirichlet(np.ones(2), size=150)))
    found = scores(family.predictive(parameters, NUMPY), X[:3])
    for k, (means, kappa, nu, scatter, _) in enumerate(zip(*parameters, strict=True)):
        shape = scatter * (kappa + 1) / (kappa * (nu + 1 - 70))
        np.testing.assert_allclose(
            found[:, k], stats.multivariate_t.logpdf(X[:3], means, shape, nu + 1 - 70), rtol=1e-9
        )
    given = case("normal_wishart", seed=12)
    np.testing.assert_allclose(
        scores(given.family.evaluator(given.parameters, compiled()), given.X),
        scores(given.family.evaluator(given.parameters, NUMPY), given.X),
        rtol=1e-10,
    )


def test_the_scaled_prior_is_in_the_units_of_the_table():
    variances = np.array([4.0, 0.0, 2.0])
    family = NormalWishart.scaled(np.ones(3), variances, degrees=6.0, fraction=0.5)
    np.testing.assert_allclose(family.scatter / family.degrees, np.diag([2.0, 1.5, 1.0]))
    covariance = np.array([[4.0, 0.0, 1.0], [0.0, 0.0, 0.0], [1.0, 0.0, 2.0]])
    full = NormalWishart.scaled(np.ones(3), covariance, fraction=0.5)
    assert full.degrees == 5.0
    np.testing.assert_allclose(full.scatter / 5.0, [[2.0, 0.0, 0.5], [0.0, 1.5, 0.0], [0.5, 0.0, 1.0]])
    units = np.array([1e-3, 1.0, 1e6])
    given = case("normal_wishart", seed=14)
    scaled = NormalWishart.scaled(given.X.mean(axis=0) * units, given.X.var(axis=0) * units**2, mean_precision=0.5)
    plain = NormalWishart.scaled(given.X.mean(axis=0), given.X.var(axis=0), mean_precision=0.5)
    after = scaled.update(collect(scaled, scaled.around(given.X[:3] * units), given.X * units, given.responsibilities))
    before = plain.update(collect(plain, plain.around(given.X[:3]), given.X, given.responsibilities))
    np.testing.assert_allclose(scaled.log_prior(after), plain.log_prior(before), rtol=1e-9)
    np.testing.assert_allclose(scaled.divergence(after), plain.divergence(before), rtol=1e-7)


def test_too_few_degrees_of_freedom_are_an_error():
    with pytest.raises(ValueError, match="degrees is 2; a Wishart prior of 3 columns needs more than 2"):
        NormalWishart.scaled(np.zeros(3), np.ones(3), degrees=2.0)


def test_components_are_placed_at_means_where_these_are_known():
    given = case("own_means", seed=15)
    means = np.array([[1.0, np.nan], [np.nan, np.nan], [2.0, 3.0]])
    placed = given.family.around(means)
    own = given.family.mean
    np.testing.assert_array_equal(placed.means, [[1.0, own[0, 1]], own[1], [2.0, 3.0]])
