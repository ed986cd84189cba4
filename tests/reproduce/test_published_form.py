"""SS-DPGMM in its published form: it runs as the authors ran it, and refuses what the paper does not have."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris

import sidelight
from sidelight.metrics import clustering_accuracy_score
from sidelight.reproduce import SSDPGMM

X, Y = load_iris(return_X_y=True)
KNOWN = np.where(np.random.default_rng(0).random(150) < 0.2, Y, -1)


@pytest.mark.parametrize("printed", [False, True])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_it_runs_with_the_authors_settings(printed):
    model = SSDPGMM(10, printed=printed, random_state=0).fit(X, KNOWN)
    assert model.n_clusters_ == 10
    assert clustering_accuracy_score(Y, model.labels_) > 0.6
    assert len(model.lower_bounds_) == model.n_iter_ + 1 == len(model.history_) + 1


def test_it_takes_labels_only():
    with pytest.raises(ValueError, match="SSDPGMM cannot use must-links: use"):
        SSDPGMM().fit(X, must_link=[(0, 1)])


def test_it_is_cloned_and_saved_like_any_estimator(tmp_path):
    model = clone(SSDPGMM(3, max_iter=500, random_state=0)).fit(X, KNOWN)
    sidelight.save(model, tmp_path / "model")
    np.testing.assert_array_equal(sidelight.load(tmp_path / "model").predict_proba(X), model.predict_proba(X))


def test_parameters_that_make_no_sense_are_refused():
    with pytest.raises(ValueError, match="weights='none' is not known"):
        SSDPGMM(weights="none").fit(X)
