"""Normal-Gamma posteriors: one column of a Normal-Wishart, Student t's, missing cells far from the centre."""

from dataclasses import replace

import numpy as np
from scipy import stats

from oracles.conjugate import COMPONENTS, case, collect, scores
from sidelight.families.conjugate import NormalGamma, NormalWishart
from sidelight.families.evaluators.centred import ScaledCellEvaluator
from sidelight.families.exponential import LinearEvaluator
from sidelight.kernels.loops import NUMPY


def test_one_column_is_a_normal_wishart_of_one_column():
    given = case("normal_gamma", seed=1)
    X, r = given.X[:, :1], given.responsibilities
    settings = {"degrees": 2.5, "fraction": 0.3, "mean_precision": 0.7}
    gamma = NormalGamma.scaled(X.mean(axis=0), X.var(axis=0), **settings)
    wishart = NormalWishart.scaled(X.mean(axis=0), X.var(axis=0), **settings)
    one, other = (family.update(collect(family, family.around(X[:3]), X, r)) for family in (gamma, wishart))
    for face in ("evaluator", "predictive"):
        found = scores(getattr(gamma, face)(one, NUMPY), X)
        np.testing.assert_allclose(found, scores(getattr(wishart, face)(other, NUMPY), X), rtol=1e-9)
    np.testing.assert_allclose(gamma.log_prior(one), wishart.log_prior(other), rtol=1e-10)
    np.testing.assert_allclose(gamma.divergence(one), wishart.divergence(other), rtol=1e-9)
    for name in ("means_", "covariances_", "mean_precision_", "degrees_of_freedom_"):
        np.testing.assert_allclose(
            gamma.attributes(one)[name].ravel(), np.ravel(wishart.attributes(other)[name]), rtol=1e-10
        )


def test_predictive_densities_are_scipys_student_t():
    given = case("normal_gamma", seed=2, missing=0.3)
    found = scores(given.family.predictive(given.parameters, NUMPY), given.X)
    for k, (means, kappa, a, b) in enumerate(zip(*given.parameters, strict=True)):
        logs = stats.t.logpdf(given.X, 2 * a, means, np.sqrt(b * (kappa + 1) / (a * kappa)))
        np.testing.assert_allclose(found[:, k], np.nansum(logs, axis=1), rtol=1e-10)


def test_the_form_about_each_mean_agrees_with_the_linear_one():
    given = case("normal_gamma", seed=3, n=900, missing=0.2)
    far = replace(given.family, centre=given.family.centre + 1e8)
    near_evaluator, far_evaluator = (f.evaluator(given.parameters, NUMPY) for f in (given.family, far))
    assert isinstance(near_evaluator, LinearEvaluator)
    assert isinstance(far_evaluator, ScaledCellEvaluator)
    np.testing.assert_allclose(scores(far_evaluator, given.X), scores(near_evaluator, given.X), rtol=1e-9, atol=1e-12)
    near, distant = (collect(f, given.parameters, given.X, given.responsibilities) for f in (given.family, far))
    moved = distant.measured_from(near.origin)
    for name in ("mass", "cells", "first", "second"):
        np.testing.assert_allclose(getattr(moved, name), getattr(near, name), rtol=1e-9, atol=1e-7)
    both = given.family.update(near + distant)
    twice = given.family.update(near.scaled(2.0))
    for found, expected in zip(both, twice, strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-9)


def test_mass_is_counted_per_column():
    given = case("normal_gamma", seed=4, missing=0.4)
    seen = ~np.isnan(given.X)
    expected = given.responsibilities.T @ seen
    found = collect(given.family, given.parameters, given.X, given.responsibilities)
    np.testing.assert_allclose(found.cells, expected, rtol=1e-10)
    np.testing.assert_allclose(given.family.update(found).mean_precision, given.family.mean_precision + expected)


def test_the_scaled_prior_is_in_the_units_of_the_table():
    family = NormalGamma.scaled(np.ones(3), np.array([4.0, 0.0, 2.0]), degrees=4.0, fraction=0.5)
    assert family.shape == 2.0
    np.testing.assert_allclose(family.rates / family.shape, [2.0, 1.5, 1.0])
    assert family.n_parameters(COMPONENTS) == 6 * COMPONENTS


def test_prior_means_of_each_component_go_with_it():
    given = case("normal_gamma", seed=5)
    means = np.arange(9.0).reshape(3, 3)
    family = replace(given.family, mean=means)
    nothing = collect(family, given.parameters, given.X, np.zeros((len(given.X), COMPONENTS)))
    np.testing.assert_allclose(family.update(nothing).means, means)
    np.testing.assert_array_equal(family.narrowed(np.array([2, 0])).mean, means[[2, 0]])
