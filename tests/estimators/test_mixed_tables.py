"""Tables of every kind with missing cells cluster as well as their generating model does itself."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.metrics import accuracy_score

from oracles.mixed_tables import draw_truth
from sidelight.couplings.independent import Independent
from sidelight.couplings.potts import PottsField, atoms_of, lay_stages
from sidelight.estimators.base.clusters import lay_out
from sidelight.estimators.base.conjugate_gaussians import ConjugateGaussians
from sidelight.estimators.base.emission import emission_of
from sidelight.estimators.starts.sample import STARTS, Problem, Sample, embedding, start_rows
from sidelight.families.conjugate import (
    DirichletCategorical,
    DirichletMultinomial,
    NormalGamma,
    NormalWishart,
    ProductFamily,
)
from sidelight.inference.loop import ascend
from sidelight.inference.mixture import Mixture
from sidelight.kernels.loops import NUMPY
from sidelight.metrics import clustering_accuracy_score
from sidelight.side import SideInformation, draw_labels
from sidelight.tables.encoding import encode
from sidelight.tables.schema import learn_schema
from sidelight.tables.survey import survey_columns
from sidelight.tables.table import ArrayTable, Rows
from sidelight.weights import DirichletWeights

SOME = {"gaussian": 3, "poisson": 3, "bernoulli": 4, "categorical": 4}
TABLES = {
    "categorical": {"categorical": 12},
    "poisson": {"poisson": 8},
    "bernoulli": {"bernoulli": 25},
    "diag": {"gaussian": 6},
    "full": {"gaussian": 5, "correlated": True},
    "mixed": {**SOME, "correlated": True},
}


def assemble(problem, family, n_components):
    atoms = atoms_of(problem.side, certain=100.0)
    field = () if atoms is None else (PottsField(lay_stages(atoms, problem.weights), 100.0, 1.0, NUMPY),)
    return Mixture(
        rows=Rows(problem.table, problem.weights),
        family=family,
        weights=DirichletWeights(n_components, 1.0),
        coupling=Independent(np.arange(n_components), NUMPY),
        couplings=field,
        backend=NUMPY,
    )


def gaussian_prior(columns, survey, covariance_type="full"):
    return ConjugateGaussians(covariance_type, np.diag(survey.variance[columns.of_kind("gaussian")]), 10.0, 0.01)


def cluster(table, columns, n_components, *, y=None, covariance_type="full"):
    """Return the most probable component of each row of an encoded table."""
    n = table.shape[0]
    random = np.random.RandomState(0)
    survey = survey_columns(ArrayTable(table), None, columns)
    family = emission_of(columns, survey, gaussian_prior(columns, survey, covariance_type))
    problem = Problem(ArrayTable(table), SideInformation.build(n, y=y), None)
    few = start_rows(problem, problem.side.labels, random)
    weights = few.problem.row_weights()
    sample = Sample(
        mixture=assemble(few.problem, family, n_components),
        values=few.values,
        points=embedding(few.values, weights, columns, survey, random),
        weights=weights,
        codes=few.problem.side.labels,
        layout=lay_out(problem.side.label_names, n_components, 1),
        whole=few.whole,
        side=few.problem.side,
    )
    mixture = assemble(problem, family, n_components)
    trace = ascend(mixture.step, STARTS["short_runs"](sample, random), max_iter=100, tol=1e-4 * n)
    rises = np.diff(trace.objectives)
    assert (rises > -1e-9 * np.abs(trace.objectives[-1])).all()
    labels = np.empty(n, dtype=int)
    for part in mixture.assign(trace.state):
        labels[part.numbers] = part.posterior.argmax(axis=1)
    return labels


@pytest.mark.parametrize("kind", TABLES)
@pytest.mark.parametrize("seed", [0, 1])
def test_a_fifth_of_the_cells_missing_costs_no_more_than_it_must(kind, seed):
    random = np.random.default_rng(seed)
    truth = draw_truth(random, n_components=4, **TABLES[kind])
    X, z = truth.draw(6000, 0.2, random)
    columns = learn_schema(X, dict(enumerate(truth.kinds)))
    found = cluster(encode(X, columns), columns, 4, covariance_type="diag" if kind == "diag" else "full")
    best = accuracy_score(z, truth.best_labels(X))
    assert 0.75 < best < 0.98
    assert clustering_accuracy_score(z, found) >= best - 0.02


def test_labels_say_which_component_is_which_class():
    random = np.random.default_rng(2)
    truth = draw_truth(random, n_components=4, **SOME)
    X, z = truth.draw(4000, 0.2, random)
    y = draw_labels(z, fraction=0.05, random_state=0)
    columns = learn_schema(X, dict(enumerate(truth.kinds)))
    found = cluster(encode(X, columns), columns, 4, y=y)
    assert accuracy_score(z[y < 0], found[y < 0]) >= accuracy_score(z[y < 0], truth.best_labels(X)[y < 0]) - 0.02


@pytest.mark.parametrize("as_table", [csr_array, np.asarray])
def test_sparse_rows_of_words_cluster_as_dense_ones_do(as_table):
    random = np.random.default_rng(0)
    common = 1.0 / np.arange(1.0, 501.0)
    shares = random.dirichlet(0.3 * len(common) * common / common.sum() + 0.02, size=4)
    shares = 0.5 * shares + 0.5 * common / common.sum()
    z = random.integers(4, size=1500)
    counts = np.stack([random.multinomial(60, share) for share in shares[z]]).astype(float)
    X = as_table(counts)
    columns = learn_schema(X, "multinomial")
    best = accuracy_score(z, (counts @ np.log(shares).T).argmax(axis=1))
    assert clustering_accuracy_score(z, cluster(encode(X, columns), columns, 4)) >= best - 0.02


def test_a_start_does_not_depend_on_the_order_of_sparse_rows():
    random = np.random.default_rng(0)
    X = csr_array(random.poisson(0.1, size=(300, 80)).astype(float))
    order = random.permutation(300)
    parts = [
        start_rows(Problem(ArrayTable(table), SideInformation.build(300), None), np.full(300, -1), random)
        for table, random in ((X, np.random.RandomState(0)), (X[order], np.random.RandomState(0)))
    ]
    np.testing.assert_array_equal(parts[0].values.toarray(), parts[1].values.toarray())


class TestEmissionOf:
    def columns_and_survey(self, kinds):
        random = np.random.default_rng(0)
        X = random.integers(2, size=(40, len(kinds))).astype(float)
        columns = learn_schema(X, dict(enumerate(kinds)))
        return columns, survey_columns(ArrayTable(encode(X, columns)), None, columns)

    def test_one_kind_has_its_own_family(self):
        for kinds, covariance_type, family in (
            (["gaussian"] * 2, "full", NormalWishart),
            (["gaussian"] * 2, "diag", NormalGamma),
            (["categorical"] * 2, "full", DirichletCategorical),
        ):
            columns, survey = self.columns_and_survey(kinds)
            assert type(emission_of(columns, survey, gaussian_prior(columns, survey, covariance_type))) is family

    def test_several_kinds_are_a_product_with_all_gaussian_columns_in_one_part(self):
        columns, survey = self.columns_and_survey(["gaussian", "poisson", "gaussian", "bernoulli", "categorical"])
        family = emission_of(columns, survey, gaussian_prior(columns, survey))
        assert isinstance(family, ProductFamily)
        found = {type(part).__name__: numbers.tolist() for part, numbers in family.parts}
        assert found == {
            "NormalWishart": [0, 2],
            "GammaPoisson": [1],
            "BetaBernoulli": [3],
            "DirichletCategorical": [4],
        }

    @pytest.mark.parametrize("covariance_type", ["full", "diag"])
    def test_the_gaussian_prior_expects_the_variances_it_was_given(self, covariance_type):
        columns, survey = self.columns_and_survey(["gaussian", "gaussian"])
        variances = np.array([2.0, 5.0])
        family = emission_of(columns, survey, ConjugateGaussians(covariance_type, np.diag(variances), 7.0, 0.1))
        # E Σ = Ψ / (ν − d − 1) of a Wishart, E 1/λ = b / (a − 1) of a Gamma
        if covariance_type == "full":
            expected = np.diagonal(family.scatter) / (family.degrees - 2 - 1)
        else:
            expected = family.rates / (family.shape - 1)
        np.testing.assert_allclose(expected, variances)

    def test_words_count_as_often_as_the_table_has_them(self):
        X = csr_array(np.array([[4.0, 0.0, 0.0], [2.0, 2.0, 0.0]]))
        columns = learn_schema(X, "multinomial")
        survey = survey_columns(ArrayTable(X), None, columns)
        family = emission_of(columns, survey, gaussian_prior(columns, survey))
        assert isinstance(family, DirichletMultinomial)
        assert (np.diff(family.concentrations) < 0).all()
        assert (family.concentrations > 0).all()
        assert family.length == 4

    def test_a_column_without_any_cell_is_refused(self):
        X = np.array([[1.0, np.nan], [2.0, np.nan]])
        columns = learn_schema(X, "gaussian")
        survey = survey_columns(ArrayTable(X), None, columns)
        with pytest.raises(ValueError, match="column 1 has no cell"):
            emission_of(columns, survey, gaussian_prior(columns, survey))


class TestEmbedding:
    def test_every_column_has_variance_one_and_missing_cells_lie_at_the_mean(self):
        random = np.random.default_rng(0)
        truth = draw_truth(random, n_components=3, **SOME)
        X, _ = truth.draw(2000, 0.2, random)
        columns = learn_schema(X, dict(enumerate(truth.kinds)))
        table = encode(X, columns)
        survey = survey_columns(ArrayTable(table), None, columns)
        for number, kind in enumerate(columns.kinds):
            only = learn_schema(X[:, [number]], kind)
            one = survey.only(np.array([number]))
            points = embedding(table[:, [number]], np.ones(2000), only, one, np.random.RandomState(0))
            missing = np.isnan(X[:, number])
            np.testing.assert_allclose(points[missing], 0.0, atol=1e-12)
            np.testing.assert_allclose(points.mean(axis=0), 0.0, atol=1e-9)
            np.testing.assert_allclose(points[~missing].var(axis=0).sum(), 1.0, atol=1e-9)

    def test_rows_that_weigh_twice_count_as_two(self):
        X = np.array([[0.0, 0.0], [4.0, 1.0], [9.0, 2.0], [1.0, 2.0]])
        kinds = {0: "poisson", 1: "categorical"}
        columns, repeated = learn_schema(X, kinds), np.repeat(X, [1, 2, 1, 3], axis=0)
        weights = np.array([1.0, 2.0, 1.0, 3.0])
        points = [
            embedding(table, w, columns, survey_columns(ArrayTable(table), w, columns), np.random.RandomState(0))
            for table, w in ((X, weights), (repeated, np.ones(7)))
        ]
        np.testing.assert_allclose(np.repeat(points[0], [1, 2, 1, 3], axis=0), points[1])

    def test_words_become_few_directions(self):
        X = csr_array(np.random.default_rng(0).poisson(0.05, size=(60, 400)).astype(float))
        columns = learn_schema(X, "multinomial")
        survey = survey_columns(ArrayTable(X), None, columns)
        points = embedding(X, np.ones(60), columns, survey, np.random.RandomState(0))
        assert points.shape == (60, 20)
        assert np.isfinite(points).all()
