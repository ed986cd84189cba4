"""Columns with a usual value: both parts against quadrature and draws, and what happens where a part has no cells."""

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import beta, ks_2samp, norm

from oracles.conjugate import COMPONENTS, case, collect, draw, scores, step
from sidelight import BayesianMixture, LabelledMixture
from sidelight.estimators.starts.sample import embedding
from sidelight.families.conjugate import Atom, AtomGaussian, BetaBernoulli, NormalGamma
from sidelight.families.exponential import SquareStatistics
from sidelight.kernels.loops import NUMPY
from sidelight.tables.schema import Schema, learn_schema
from sidelight.tables.survey import survey_columns
from sidelight.tables.table import ArrayTable

NAN = np.nan


def fitted(family, X, k=1):
    """Return the posteriors of a family given all rows, each component owning an equal share."""
    start = family.around(np.full((k, X.shape[1]), NAN))
    return family.update(collect(family, start, X, np.full((len(X), k), 1.0 / k)))


def predictive_at(family, parameters, cell):
    return scores(family.predictive(parameters, NUMPY), np.array([[cell]]))[0]


class TestDensities:
    def test_the_expected_log_probability_of_the_usual_value_is_an_integral_over_the_beta_posterior(self):
        given = case("atom", seed=1)
        found = scores(given.family.evaluator(given.parameters, NUMPY), given.family.usual[None])[0]
        indicator = given.parameters[0]
        for k in range(COMPONENTS):
            expected = sum(
                quad(lambda w, a, b: beta.pdf(w, a, b) * np.log(w), 0, 1, args=(a, b))[0]
                for a, b in zip(indicator.ones[k], indicator.zeros[k], strict=True)
            )
            np.testing.assert_allclose(found[k], expected, rtol=1e-6)

    def test_probability_and_density_of_a_new_cell_add_up_to_one(self):
        rng = np.random.default_rng(2)
        X = np.where(rng.random((80, 1)) < 0.4, 7.0, rng.normal(3.0, 2.0, size=(80, 1)))
        others = X[X != 7.0]
        family = AtomGaussian.scaled(np.array([7.0]), others.mean()[None], others.var()[None])
        parameters = fitted(family, X, k=2)
        for k in range(2):
            density = quad(lambda x, k=k: np.exp(predictive_at(family, parameters, x)[k]), -np.inf, np.inf, limit=400)
            np.testing.assert_allclose(density[0] + np.exp(predictive_at(family, parameters, 7.0)[k]), 1.0, rtol=1e-6)

    def test_draws_hold_the_usual_value_as_often_as_it_is_probable_and_else_come_from_the_gaussian(self):
        given, rng, n = case("atom", seed=3), np.random.default_rng(4), 6000
        drawn = given.family.sample(given.parameters, 1, n, np.random.RandomState(0))
        shares = draw(given.parameters[0], 1, n, rng)[0]
        means, precisions = draw(given.parameters[1], 1, n, rng)
        defined = np.where(rng.random(shares.shape) < shares, given.family.usual, rng.normal(means, precisions**-0.5))
        for found, expected, usual in zip(drawn.T, defined.T, given.family.usual, strict=True):
            assert abs((found == usual).mean() - (expected == usual).mean()) < 4 * np.sqrt(0.5 / n)
            assert ks_2samp(found[found != usual], expected[expected != usual]).pvalue > 1e-4

    def test_attributes_are_those_of_both_parts(self):
        given = case("atom", seed=5)
        found = given.family.attributes(given.parameters)
        r = given.responsibilities
        holds = given.family.usual == given.X
        for k in range(COMPONENTS):
            shares = (r[:, k] @ holds + 0.5) / (r[:, k].sum() + 1)
            np.testing.assert_allclose(found["usual_probabilities_"][k], shares, rtol=1e-12)
            means = (r[:, k][:, None] * ~holds * given.X).sum(axis=0) / (r[:, k] @ ~holds)
            np.testing.assert_allclose(found["other_means_"][k], means, rtol=0.2)
        np.testing.assert_array_equal(found["usual_values_"], given.family.usual)


class TestSparseParts:
    def test_a_column_of_two_values_is_bernoulli(self):
        X = np.repeat([[0.0], [3.0]], [90, 10], axis=0)
        family = AtomGaussian.scaled(np.array([0.0]), np.array([3.0]), np.array([0.0]))
        plain = BetaBernoulli.symmetric(1, concentration=0.5)
        holds = (X == 0).astype(float)
        own = fitted(family, X, 2)
        same = plain.update(collect(plain, plain.around(np.full((2, 1), NAN)), holds, np.full((100, 2), 0.5)))
        for face in ("evaluator", "predictive"):
            np.testing.assert_allclose(
                scores(getattr(family, face)(own, NUMPY), X), scores(getattr(plain, face)(same, NUMPY), holds)
            )
        assert family.log_prior(own) == plain.log_prior(same)
        assert family.n_parameters(4) == 4
        assert set(family.sample(own, 0, 500, np.random.RandomState(0)).ravel()) == {0.0, 3.0}

    def test_a_column_without_other_cells_stays_proper(self):
        X = np.zeros((20, 1))
        family = AtomGaussian.scaled(np.array([0.0]), np.array([NAN]), np.array([NAN]))
        parameters = fitted(family, X)
        assert np.isfinite(scores(family.predictive(parameters, NUMPY), np.array([[0.0], [5.0], [NAN]]))).all()
        assert (family.sample(parameters, 0, 50, np.random.RandomState(0)) == 0).all()

    def test_a_handful_of_other_cells_makes_no_cluster_of_its_own(self):
        rng = np.random.default_rng(6)
        group = np.repeat([0, 1], 500)
        X = np.column_stack([rng.normal(6.0 * group), rng.normal(size=1000), np.zeros(1000)])
        X[[3, 400, 600, 999], 2] = [1.0, 1.0, 4.0, 2.5]
        model = BayesianMixture(random_state=0).fit(X)
        assert model._schema.kinds == ("gaussian", "gaussian", "atom")
        assert model.n_clusters_ == 2
        assert np.mean(model.labels_ == model.labels_[0]) == pytest.approx(0.5, abs=0.01)

    @pytest.mark.parametrize("missing", [0.0, 0.3])
    def test_the_bound_never_falls_with_columns_of_all_sorts(self, missing):
        rng = np.random.default_rng(7)
        X = np.column_stack(
            [
                np.where(rng.random(60) < 0.5, 0.0, rng.normal(size=60)),
                np.where(rng.random(60) < 0.9, 0.0, 1.0),
                np.zeros(60),
            ]
        )
        X[rng.random(X.shape) < missing] = NAN
        schema = Schema(None, ("atom",) * 3, (None,) * 3, (0.0,) * 3)
        survey = survey_columns(ArrayTable(X), None, schema)
        family = Atom().family(survey, schema.categories, None)
        parameters, bounds = family.around(X[:3]), []
        parameters = family.update(collect(family, parameters, X, rng.dirichlet(np.ones(3), size=60)))
        for _ in range(20):
            parameters, bound = step(family, parameters, X, np.log(np.full(3, 1 / 3)))
            bounds.append(bound)
        assert np.all(np.diff(bounds) >= -1e-9 * np.abs(bounds[0]))

    def test_cells_that_are_lost_in_rounding_leave_the_prior(self):
        # A component of 324 rows, next to none of which hold another value: their mass is a difference that rounding
        # takes away, while their sums are not.
        gaussian = NormalGamma.scaled(np.array([0.12]), np.array([1e-3]))
        single = (np.array([[value]]) for value in (6.5e-201, -6.2e-19, 6.1e-21))
        found = gaussian.update(SquareStatistics(np.array([324.0]), *single, gaussian.centre))
        prior = gaussian.around(np.full((1, 1), NAN))
        for value, expected in zip(found, prior, strict=True):
            np.testing.assert_allclose(value, expected, rtol=1e-9)


class TestKind:
    def test_the_prior_is_scaled_on_the_other_cells_and_counts_rows_by_weight(self):
        X = np.array([[0.0], [0.0], [2.0], [4.0], [0.0], [NAN]])
        schema = learn_schema(X, {0: "atom"})
        assert schema.usual == (0.0,)
        survey = survey_columns(ArrayTable(X), np.array([1.0, 1.0, 1.0, 3.0, 1.0, 1.0]), schema)
        np.testing.assert_allclose(survey.mean, [3.5])
        np.testing.assert_allclose(survey.variance, [0.75])
        family = Atom().family(survey, schema.categories, None)
        gaussian = family.parts[1][0]
        np.testing.assert_allclose(gaussian.mean, [3.5])
        np.testing.assert_allclose(gaussian.rates, [0.5 * 0.75])

    def test_points_of_starts_say_whether_the_value_is_usual_and_where_the_others_lie(self):
        rng = np.random.default_rng(8)
        X = np.where(rng.random((500, 1)) < 0.6, 10.0, rng.normal(2.0, 3.0, size=(500, 1)))
        X[:20] = NAN
        schema = learn_schema(X, {0: "atom"})
        survey = survey_columns(ArrayTable(X), None, schema)
        points = embedding(X, np.ones(500), schema, survey, np.random.RandomState(0))
        assert points.shape == (500, 2)
        np.testing.assert_allclose(points[20:, 0].var(), 1.0, rtol=1e-9)
        assert not points[:20].any()
        others = X[:, 0] != 10.0
        assert not points[~others, 1].any()
        np.testing.assert_allclose(points[20:][others[20:], 1].var(), 1.0, rtol=1e-9)

    def test_single_precision_rows_hold_a_usual_value_of_double_precision(self):
        X = np.array([[0.1], [0.1], [0.5], [0.7]])
        family = AtomGaussian.scaled(np.array([0.1]), np.array([0.6]), np.array([0.01]))
        parameters = fitted(family, X)
        evaluator = family.evaluator(parameters, NUMPY)
        np.testing.assert_allclose(scores(evaluator, X.astype(np.float32)), scores(evaluator, X), rtol=1e-5)


def two_groups():
    """Return rows of two groups that differ in how often a cell is zero, and in what it is otherwise."""
    rng = np.random.default_rng(9)
    group = np.repeat([0, 1], 150)
    X = rng.normal(np.array([4.0, 9.0])[group][:, None], 1.0, size=(300, 4))
    X[rng.random(X.shape) < np.array([0.7, 0.2])[group][:, None]] = 0.0
    return X, group


@pytest.mark.parametrize(
    "model", [BayesianMixture(random_state=0), LabelledMixture(2, family="auto", random_state=0)], ids=["bayes", "ml"]
)
def test_mixtures_find_groups_by_usual_values(model):
    X, group = two_groups()
    X[::17, 1] = NAN
    model.fit(X)
    assert set(model._schema.kinds) == {"atom"}
    assert model.n_clusters_ == 2
    agreement = np.mean(model.labels_ == group)
    assert max(agreement, 1 - agreement) > 0.98
    np.testing.assert_array_equal(model.predict(X), model.labels_)
    assert np.all(np.diff(model.lower_bounds_) >= -1e-9 * np.abs(model.lower_bounds_[0]))
    assert np.isfinite(model.score_samples(X)).all()
    drawn, _ = model.sample(400)
    assert 0.2 < (drawn == 0).mean() < 0.7


def test_a_usual_value_far_from_the_others_does_not_widen_them():
    rng = np.random.default_rng(10)
    X = np.where(rng.random((400, 1)) < 0.3, -999.0, rng.normal(size=(400, 1)))
    model = BayesianMixture(random_state=0).fit(X)
    assert model.n_clusters_ == 1
    np.testing.assert_allclose(model.other_variances_, [[1.0]], rtol=0.2)
    expected = np.log(0.7) + norm.logpdf(0.5, model.other_means_[0, 0], np.sqrt(model.other_variances_[0, 0]))
    np.testing.assert_allclose(model.score_samples([[0.5]]), expected, atol=0.1)
