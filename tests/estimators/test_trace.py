"""What a fit says about its steps agrees: n_iter_, lower_bounds_, history_, callbacks and the convergence plot."""

import warnings

import numpy as np
import pytest
from matplotlib.figure import Figure

from sidelight import BayesianMixture, EquivalenceMixture, SideInformation, all_estimators
from sidelight.plots import ConvergenceDisplay
from sidelight.reproduce import SSDPGMM

Y = np.arange(90) % 3
X = np.random.default_rng(0).normal(size=(90, 2)) * 1.2 + np.array([[0.0, 0.0], [4.0, 0.0], [0.0, 5.0]])[Y]
SOME = np.where(np.arange(90) % 5 == 0, Y, -1)
# GuidedMixture, which has callbacks too, has no bound; tests/estimators/test_guided_mixture.py has what it tells them.
ESTIMATORS = {
    name: estimator
    for name, estimator in all_estimators()
    if "callbacks" in estimator().get_params() and name != "GuidedMixture"
}


def fit(estimator, *, side=None, y=SOME, **parameters):
    """Return a fitted estimator and what its callback was told."""
    heard = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = estimator(random_state=0, callbacks=[heard.append], **parameters).fit(X, y, side=side)
    return model, heard


def assert_agreement(model, heard):
    """Check that the steps of the kept start are the record, each heard once and in order."""
    bounds = np.array(model.lower_bounds_)
    assert model.n_iter_ == len(bounds) - 1
    assert model.lower_bound_ == bounds[-1]
    starts = {progress.start for progress in heard}
    kept = []
    for start in starts:
        steps = [progress for progress in heard if progress.start == start]
        assert [progress.iteration for progress in steps] == list(range(1, len(steps) + 1))
        objectives = np.array([progress.objective for progress in steps])
        if len(steps) == model.n_iter_ and np.allclose(objectives * bounds[0], bounds[:-1] * objectives[0], rtol=1e-9):
            kept.append(start)
    assert kept, "no start has the steps that were kept"
    if hasattr(model, "history_"):
        np.testing.assert_allclose([snapshot.bound for snapshot in model.history_], bounds[:-1], rtol=1e-12)
    drawn = ConvergenceDisplay.from_estimator(model, ax=Figure().subplots()).ax_.lines[0].get_ydata()
    np.testing.assert_array_equal(drawn, bounds)


@pytest.mark.parametrize("n_init", [1, 3])
@pytest.mark.parametrize("name", [*ESTIMATORS, "SSDPGMM"])
def test_the_records_of_a_fit_agree(name, n_init):
    estimator = SSDPGMM if name == "SSDPGMM" else ESTIMATORS[name]
    assert_agreement(*fit(estimator, n_init=n_init))


def test_every_phase_is_heard_once_and_named():
    model, heard = fit(BayesianMixture, y=None, n_components=8, covariance_type="full")
    assert_agreement(model, heard)
    phases = [progress.phase for progress in heard]
    assert phases[0] == "ascent"
    assert phases[-1] == "pruning"
    assert sorted(phases) == phases  # ascent before pruning
    assert (np.diff(model.lower_bounds_) >= -1e-9 * np.abs(model.lower_bounds_[:-1])).all()


def test_learning_the_prior_is_a_phase_of_its_own():
    model, heard = fit(BayesianMixture, y=None)
    assert_agreement(model, heard)
    assert [progress.phase for progress in heard][-1] == "prior"
    assert (np.diff(model.lower_bounds_) >= -1e-9 * np.abs(model.lower_bounds_[:-1])).all()


def test_settling_goes_on_in_the_same_record():
    # Two classes that share one heap, and few labels: rows without labels pull the classes away from their labels.
    y = np.where(np.arange(90) < 8, np.arange(90) % 2, -1)
    model, heard = fit(BayesianMixture, y=y)
    assert {progress.phase for progress in heard} >= {"ascent", "settling"}
    assert_agreement(model, heard)


def test_a_fit_with_lighter_rows_is_a_start_of_its_own():
    # Every class has labels: rows without labels count less in a second fit, whose record is kept.
    y = np.where(np.arange(90) < 40, np.arange(90) % 2, -1)
    model, heard = fit(BayesianMixture, y=y)
    assert {progress.start for progress in heard} == {1, 2}
    assert_agreement(model, [progress for progress in heard if progress.start == 2])


@pytest.mark.parametrize("wrong", [0, 6])
def test_a_fit_with_uncertain_links_has_one_record(wrong):
    pairs = np.random.default_rng(1).integers(90, size=(60, 2))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    same = Y[pairs[:, 0]] == Y[pairs[:, 1]]
    same[:wrong] = ~same[:wrong]
    side = SideInformation.build(90, must_link=pairs[same], cannot_link=pairs[~same], confidence=0.9)
    model, heard = fit(EquivalenceMixture, y=None, side=side, n_classes=3)
    assert_agreement(model, heard)
