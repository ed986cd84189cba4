"""What people guess: names of parameters, and names of clusters."""

import inspect
import pickle

import numpy as np
import pytest
from sklearn.base import clone

from sidelight import BayesianMixture, LatentProcessDecomposition, PairwiseMixture, SeededKMeans, all_estimators

EVERY = pytest.mark.parametrize("estimator", [cls for _, cls in all_estimators()], ids=[n for n, _ in all_estimators()])
X = np.r_[np.linspace(0, 1, 10), np.linspace(9, 10, 10)][:, None]
LABELS = ["low", *[None] * 18, "high"]


@pytest.mark.parametrize(
    ("estimator", "guess", "meant"),
    [
        (BayesianMixture, "n_clusters", "n_components"),
        (SeededKMeans, "n_components", "n_clusters"),
        (LatentProcessDecomposition, "n_components", "n_processes"),
        (PairwiseMixture, "n_clusters", "n_classes"),
        (BayesianMixture, "covariance", "covariance_type"),
        (BayesianMixture, "max_iters", "max_iter"),
    ],
)
def test_the_name_that_was_meant(estimator, guess, meant):
    with pytest.raises(TypeError, match=f"{estimator.__name__} has no parameter '{guess}'; did you mean {meant}[?]"):
        estimator(**{guess: 3})


def test_a_name_like_none_of_them():
    with pytest.raises(TypeError, match="BayesianMixture has no parameter 'colour'[.] It has n_components, family"):
        BayesianMixture(colour="red")


@EVERY
def test_signatures_parameters_clones_and_pickles_are_as_before(estimator):
    parameters = list(inspect.signature(estimator).parameters)
    assert set(parameters) == set(estimator().get_params())
    assert clone(pickle.loads(pickle.dumps(estimator()))).get_params() == estimator().get_params()


@EVERY
def test_names_of_predicted_clusters(estimator):
    if "labels" not in estimator.takes:
        pytest.skip("takes no labels")
    names = estimator().fit(X, LABELS).predict_names([[0.5], [9.5]])
    assert names.tolist() == ["low", "high"]


def test_names_of_numbered_clusters_and_of_noise():
    model = BayesianMixture(2, noise=0.05, random_state=0).fit(X, [3, *[-1] * 18, 7])
    assert model.predict_names([[0.5], [500.0], [9.5]]).tolist() == [3, "noise", 7]
