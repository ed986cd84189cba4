"""Tables of every kind with missing cells cluster as well as their generating model does itself."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.metrics import accuracy_score

from oracles.mixed_tables import draw_truth
from sidelight.couplings.independent import Independent
from sidelight.couplings.potts import PottsField, atoms_of, lay_stages
from sidelight.estimators.base.layout import lay_out
from sidelight.estimators.bayesian.emissions import family_of
from sidelight.estimators.starts.embedding import embedding
from sidelight.estimators.starts.sample import Data, start_from
from sidelight.estimators.starts.short_runs import STARTS, Sample
from sidelight.families.conjugate import (
    DirichletCategorical,
    DirichletMultinomial,
    GaussianPrior,
    NormalGamma,
    NormalWishart,
    ProductFamily,
)
from sidelight.inference.loop import ascend
from sidelight.inference.mixture import Mixture
from sidelight.inference.rows import Rows
from sidelight.kernels.loops import NUMPY
from sidelight.metrics import clustering_accuracy_score
from sidelight.side import SideInformation, draw_labels
from sidelight.tables.column_survey import survey_columns
from sidelight.tables.schema import encode, learn_columns
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


def assemble(data, family, n_components):
    atoms = atoms_of(data.side, certain=100.0)
    field = left_out = None
    if atoms is not None:
        field = PottsField(lay_stages(atoms, data.weights), 100.0, 1.0, NUMPY)
        left_out = np.isin(np.arange(data.X.shape[0]), field.rows)
    return Mixture(
        rows=Rows(data.X, data.weights, None, left_out),
        family=family,
        weights=DirichletWeights(n_components, 1.0),
        coupling=Independent(np.arange(n_components), NUMPY),
        joint=field,
        backend=NUMPY,
    )


def gaussian_prior(columns, survey, covariance_type="full"):
    return GaussianPrior(covariance_type, survey.variance[columns.of_kind("gaussian")], 10.0, 0.01)


def cluster(table, columns, n_components, *, y=None, covariance_type="full"):
    """Return the most probable component of each row of an encoded table."""
    n = table.shape[0]
    random = np.random.RandomState(0)
    survey = survey_columns(Rows(table), columns)
    family = family_of(columns, survey, gaussian_prior(columns, survey, covariance_type))
    data = Data(table, SideInformation.build(n, y=y), None)
    few = start_from(data, random)
    sample = Sample(
        mixture=assemble(few, family, n_components),
        scaled=embedding(few, columns, survey, random),
        weights=np.ones(few.X.shape[0]),
        codes=few.side.labels,
        layout=lay_out(data.side.label_names, n_components, 1),
        whole=few.whole,
    )
    mixture = assemble(data, family, n_components)
    trace = ascend(mixture.step, STARTS["short_runs"](sample, random), max_iter=100, tol=1e-4 * n)
    rises = np.diff(trace.objectives)
    assert (rises > -1e-9 * np.abs(trace.objectives[-1])).all()
    labels = np.empty(n, dtype=int)

    def write(rows, posterior, _):
        labels[rows] = posterior.argmax(axis=1)

    mixture.assignments(trace.state, write)
    return labels


@pytest.mark.parametrize("kind", TABLES)
@pytest.mark.parametrize("seed", [0, 1])
def test_a_fifth_of_the_cells_missing_costs_no_more_than_it_must(kind, seed):
    random = np.random.default_rng(seed)
    truth = draw_truth(random, n_components=4, **TABLES[kind])
    X, z = truth.draw(6000, 0.2, random)
    columns = learn_columns(X, dict(enumerate(truth.kinds)))
    found = cluster(encode(X, columns), columns, 4, covariance_type="diag" if kind == "diag" else "full")
    best = accuracy_score(z, truth.best_labels(X))
    assert 0.75 < best < 0.98
    assert clustering_accuracy_score(z, found) >= best - 0.02


def test_labels_say_which_component_is_which_class():
    random = np.random.default_rng(2)
    truth = draw_truth(random, n_components=4, **SOME)
    X, z = truth.draw(4000, 0.2, random)
    y = draw_labels(z, fraction=0.05, random_state=0)
    columns = learn_columns(X, dict(enumerate(truth.kinds)))
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
    columns = learn_columns(X, "multinomial")
    best = accuracy_score(z, (counts @ np.log(shares).T).argmax(axis=1))
    assert clustering_accuracy_score(z, cluster(encode(X, columns), columns, 4)) >= best - 0.02


def test_a_start_does_not_depend_on_the_order_of_sparse_rows():
    random = np.random.default_rng(0)
    X = csr_array(random.poisson(0.1, size=(300, 80)).astype(float))
    order = random.permutation(300)
    parts = [
        start_from(Data(table, SideInformation.build(300), None), np.random.RandomState(0)) for table in (X, X[order])
    ]
    np.testing.assert_array_equal(parts[0].X.toarray(), parts[1].X.toarray())


class TestFamilyOf:
    def columns_and_survey(self, kinds):
        random = np.random.default_rng(0)
        X = random.integers(2, size=(40, len(kinds))).astype(float)
        columns = learn_columns(X, dict(enumerate(kinds)))
        return columns, survey_columns(Rows(encode(X, columns)), columns)

    def test_one_kind_has_its_own_family(self):
        for kinds, covariance_type, family in (
            (["gaussian"] * 2, "full", NormalWishart),
            (["gaussian"] * 2, "diag", NormalGamma),
            (["categorical"] * 2, "full", DirichletCategorical),
        ):
            columns, survey = self.columns_and_survey(kinds)
            assert type(family_of(columns, survey, gaussian_prior(columns, survey, covariance_type))) is family

    def test_several_kinds_are_a_product_with_all_gaussian_columns_in_one_part(self):
        columns, survey = self.columns_and_survey(["gaussian", "poisson", "gaussian", "bernoulli", "categorical"])
        family = family_of(columns, survey, gaussian_prior(columns, survey))
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
        family = family_of(columns, survey, GaussianPrior(covariance_type, variances, 7.0, 0.1))
        # E Σ = Ψ / (ν − d − 1) of a Wishart, E 1/λ = b / (a − 1) of a Gamma
        if covariance_type == "full":
            expected = np.diagonal(family.scatter) / (family.degrees - 2 - 1)
        else:
            expected = family.rates / (family.shape - 1)
        np.testing.assert_allclose(expected, variances)

    def test_words_count_as_often_as_the_table_has_them(self):
        X = csr_array(np.array([[4.0, 0.0, 0.0], [2.0, 2.0, 0.0]]))
        columns = learn_columns(X, "multinomial")
        survey = survey_columns(Rows(X), columns)
        family = family_of(columns, survey, gaussian_prior(columns, survey))
        assert isinstance(family, DirichletMultinomial)
        assert (np.diff(family.concentrations) < 0).all()
        assert (family.concentrations > 0).all()
        assert family.length == 4

    def test_a_column_without_any_cell_is_refused(self):
        X = np.array([[1.0, np.nan], [2.0, np.nan]])
        columns = learn_columns(X, "auto")
        survey = survey_columns(Rows(X), columns)
        with pytest.raises(ValueError, match="column 1 has no cell"):
            family_of(columns, survey, gaussian_prior(columns, survey))


class TestEmbedding:
    def test_every_column_has_variance_one_and_missing_cells_lie_at_the_mean(self):
        random = np.random.default_rng(0)
        truth = draw_truth(random, n_components=3, **SOME)
        X, _ = truth.draw(2000, 0.2, random)
        columns = learn_columns(X, dict(enumerate(truth.kinds)))
        table = encode(X, columns)
        survey = survey_columns(Rows(table), columns)
        for number, kind in enumerate(columns.kinds):
            only = learn_columns(X[:, [number]], kind)
            data = Data(table[:, [number]], SideInformation.build(2000), None)
            points = embedding(data, only, survey.only(np.array([number])), np.random.RandomState(0))
            missing = np.isnan(X[:, number])
            np.testing.assert_allclose(points[missing], 0.0, atol=1e-12)
            np.testing.assert_allclose(points.mean(axis=0), 0.0, atol=1e-9)
            np.testing.assert_allclose(points[~missing].var(axis=0).sum(), 1.0, atol=1e-9)

    def test_rows_that_weigh_twice_count_as_two(self):
        X = np.array([[0.0, 0.0], [4.0, 1.0], [9.0, 2.0], [1.0, 2.0]])
        kinds = {0: "poisson", 1: "categorical"}
        columns, repeated = learn_columns(X, kinds), np.repeat(X, [1, 2, 1, 3], axis=0)
        weights = np.array([1.0, 2.0, 1.0, 3.0])
        points = [
            embedding(
                Data(table, SideInformation.build(len(table)), w),
                columns,
                survey_columns(Rows(table, w), columns),
                None,
            )
            for table, w in ((X, weights), (repeated, None))
        ]
        np.testing.assert_allclose(np.repeat(points[0], [1, 2, 1, 3], axis=0), points[1])

    def test_words_become_few_directions(self):
        X = csr_array(np.random.default_rng(0).poisson(0.05, size=(60, 400)).astype(float))
        columns = learn_columns(X, "multinomial")
        data = Data(X, SideInformation.build(60), None)
        points = embedding(data, columns, survey_columns(Rows(X), columns), np.random.RandomState(0))
        assert points.shape == (60, 20)
        assert np.isfinite(points).all()
