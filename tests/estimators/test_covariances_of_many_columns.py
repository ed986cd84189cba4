"""Tables of very many columns: no estimator makes a matrix columns × columns unless it is asked for."""

import tracemalloc

import numpy as np
import pytest

from sidelight import ClassMixture, EquivalenceMixture, LabelledMixture, all_estimators
from sidelight.estimators.base.likelihood_gaussians import structure_unless_given
from sidelight.tables.schema import Schema

D = 2000
MATRIX = 8 * D * D


@pytest.fixture(scope="module")
def table():
    random = np.random.default_rng(0)
    truth = np.arange(60) % 3
    return random.normal(size=(60, D)) + 2 * random.normal(size=(3, D))[truth], truth


def statements(takes, truth):
    """Return labels and links, as far as an estimator takes them."""
    said = {}
    if "labels" in takes:
        said["y"] = np.where(np.arange(len(truth)) < 12, truth, -1)
    if "must_link" in takes:
        said["must_link"] = [(12, 15), (13, 16)]
    if "cannot_link" in takes:
        said["cannot_link"] = [(12, 13), (13, 14), (15, 17)]
    return said


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("name", [name for name, _ in all_estimators()])
def test_no_matrix_of_columns_by_columns_is_made(name, table):
    X, truth = table
    estimator = dict(all_estimators())[name]
    numbers = {"n_components", "n_clusters", "n_classes", "n_processes"}.intersection(estimator().get_params())
    model = estimator(**dict.fromkeys(numbers, 3), random_state=0) if numbers else estimator(random_state=0)
    tracemalloc.start()
    try:
        model.fit(X, **statements(estimator.takes, truth))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    # Less than a matrix for every component; metric_ of HMRFKMeans is one matrix for all clusters.
    assert peak < 3 * MATRIX
    kept = [value for value in vars(model).values() if isinstance(value, np.ndarray)]
    assert max(array.nbytes for array in kept) <= MATRIX


@pytest.mark.parametrize("estimator", [LabelledMixture, ClassMixture, EquivalenceMixture])
def test_many_columns_have_diagonal_covariances_unless_full_ones_are_asked_for(estimator, table):
    X, truth = table
    said = statements(estimator.takes, truth)
    many = estimator(3, random_state=0).fit(X[:, :201], **said)
    assert (many.covariance_type_, many.covariances_.shape) == ("diag", (3, 201))
    few = estimator(3, random_state=0).fit(X[:, :8], **said)
    assert (few.covariance_type_, few.covariances_.shape) == ("full", (3, 8, 8))
    asked = estimator(3, covariance_type="full", random_state=0).fit(X[:, :201], **said)
    assert asked.covariances_.shape == (3, 201, 201)


def test_columns_that_have_no_covariance_do_not_count():
    schema = Schema(None, ("gaussian",) * 200 + ("bernoulli",) * 100, (None,) * 300)
    assert structure_unless_given("auto", schema) == "full"
    assert structure_unless_given("VEV", Schema.uniform("gaussian", 300)) == "VEV"
