"""What holds for every baseline: frames, pickles, labels and links in every form."""

import pickle
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sidelight.baselines import (
    ConstrainedKernelKMeans,
    ConstrainedSpectralClustering,
    COPKMeans,
    GraphPropagation,
    HMRFKMeans,
    SeededKMeans,
)
from sidelight.estimators.registry import all_estimators
from sidelight.side import ContradictionError, SideInformation, draw_labels

BASELINES = [
    COPKMeans,
    SeededKMeans,
    HMRFKMeans,
    ConstrainedKernelKMeans,
    ConstrainedSpectralClustering,
    GraphPropagation,
]
LINKED = [COPKMeans, HMRFKMeans, ConstrainedKernelKMeans, ConstrainedSpectralClustering]

every = pytest.mark.parametrize("baseline", BASELINES)
linked = pytest.mark.parametrize("baseline", LINKED)


def data():
    X, y = load_iris(return_X_y=True)
    return X, draw_labels(y, per_class=6, random_state=0)


@every
def test_it_is_registered_and_says_what_it_takes(baseline):
    assert (baseline.__name__, baseline) in all_estimators()
    assert "labels" in baseline.takes


@every
def test_clusters_agree_with_labels_that_are_numbers(baseline):
    X, partial = data()
    model = baseline(random_state=0).fit(X, partial)
    assert model.n_clusters_ == 3
    assert model.cluster_names_.tolist() == [0, 1, 2]
    known = partial >= 0
    assert (model.labels_[known] == partial[known]).mean() > 0.8
    assert model.violations_.n_labels == known.sum()
    if baseline is COPKMeans:
        np.testing.assert_array_equal(model.labels_[known], partial[known])


@every
def test_names_of_labels_become_names_of_clusters(baseline):
    X, partial = data()
    names = np.array(["setosa", "versicolor", None], dtype=object)[np.where(partial > 1, -1, partial)]
    model = baseline(3, random_state=0).fit(X, names)
    assert model.cluster_names_.tolist() == ["setosa", "versicolor", "new 1"]


@every
def test_more_labels_than_clusters_grow_with_a_warning(baseline):
    X, partial = data()
    with pytest.warns(UserWarning, match="n_clusters=2 is less than the 3 labelled classes"):
        assert baseline(2, random_state=0).fit(X, partial).n_clusters_ == 3


@every
def test_fewer_rows_than_clusters_are_refused(baseline):
    with pytest.raises(ValueError, match="asks for 5 clusters, more than the rows: n_samples=3"):
        baseline(5).fit(np.eye(3))


@every
def test_frames_pickles_clones_and_pipelines(baseline):
    X, partial = data()
    model = baseline(random_state=0).fit(X, partial)
    names = ["a", "b", "c", "d"]
    for frame in (pd.DataFrame(X, columns=names), pl.DataFrame(X, schema=names)):
        again = clone(model).fit(frame, partial)
        np.testing.assert_array_equal(again.labels_, model.labels_)
        np.testing.assert_array_equal(again.predict(frame), model.predict(X))
        assert again.feature_names_in_.tolist() == names
    copy = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(copy.predict(X), model.predict(X))
    pipeline = make_pipeline(StandardScaler(), clone(model)).fit(X, partial)
    assert pipeline.predict(X).shape == (150,)


@every
def test_missing_values_and_text_are_refused_by_name(baseline):
    frame = pd.DataFrame({"a": [1.0, np.nan, 3.0], "b": [1.0, 2.0, 3.0]})
    with pytest.raises(ValueError, match="NaN .* row 1, column 'a'"):
        baseline(2).fit(frame)
    with pytest.raises(ValueError, match="column 'b' holds"):
        baseline(2).fit(frame.assign(b="x"))


@every
@pytest.mark.parametrize("name", ["n_clusters", "max_iter", "n_init", "n_neighbors"])
def test_parameters_that_make_no_sense_are_refused_by_name(baseline, name):
    model = baseline()
    if name in model.get_params():
        with pytest.raises(ValueError, match=f"{name}=0 must be a whole number"):
            model.set_params(**{name: 0}).fit(np.eye(4))


@every
def test_results_depend_on_random_state_alone(baseline):
    X, partial = data()
    first = baseline(4, random_state=3).fit(X, partial).labels_
    np.random.seed(11)  # noqa: NPY002
    np.testing.assert_array_equal(first, baseline(4, random_state=3).fit(X, partial).labels_)


@linked
def test_links_by_row_by_id_and_as_side_information_are_the_same(baseline):
    X, _ = data()
    must, cannot = [(0, 10), (60, 70)], [(0, 60), (10, 120)]
    ids = np.array([f"row {number}" for number in range(150)])
    side = SideInformation.build(150, must_link=must, cannot_link=cannot)
    by_row = baseline(3, random_state=0).fit(X, must_link=must, cannot_link=cannot)
    by_id = baseline(3, random_state=0).fit(X, must_link=ids[must], cannot_link=ids[cannot], sample_id=ids)
    by_side = baseline(3, random_state=0).fit(X, side=side)
    np.testing.assert_array_equal(by_row.labels_, by_id.labels_)
    np.testing.assert_array_equal(by_row.labels_, by_side.labels_)
    assert by_row.violations_.n_must_link == 2


@linked
def test_contradictions_are_refused_with_their_chain(baseline):
    with pytest.raises(ContradictionError, match="0–1–2 must link, but 0–2 cannot"):
        baseline(2).fit(np.eye(4), must_link=[(0, 1), (1, 2)], cannot_link=[(0, 2)])


@linked
def test_blocks_hold_together(baseline):
    X, _ = data()
    side = SideInformation.build(150, blocks=[[0, 1, 2], [140, 141, 142, 143]])
    assert baseline(3, random_state=0).fit(X, side=side).violations_.n_blocks == 7


def test_hard_methods_refuse_links_that_may_be_wrong():
    side = SideInformation.build(4, must_link=[(0, 1)], confidence=0.8)
    with pytest.raises(ValueError, match="COPKMeans cannot use links with a confidence below 1: use .*HMRFKMeans"):
        COPKMeans(2).fit(np.eye(4), side=side)


@every
@pytest.mark.parametrize("max_iter", [None, 1, 3])
def test_every_iteration_has_its_objective(baseline, max_iter):
    X, partial = data()
    model = baseline(random_state=0)
    if max_iter is not None:
        if "max_iter" not in model.get_params():
            return
        model.set_params(max_iter=max_iter)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(X, partial)
    assert model.n_iter_ >= 1
    assert max_iter is None or model.n_iter_ <= max_iter
    if baseline is GraphPropagation:
        # Iterations solve a linear system; the criterion has one minimum.
        assert model.objectives_ == [model.objective_]
        return
    assert len(model.objectives_) == model.n_iter_
    if baseline is ConstrainedSpectralClustering:
        # Iterations try weights of the links; the best of them need not be the last.
        assert model.objective_ in model.objectives_
        return
    assert model.objective_ == model.objectives_[-1]
    assert (np.diff(model.objectives_) <= 1e-9 * np.abs(model.objectives_[0])).all()
    assert max_iter is None or model.converged_ or model.n_iter_ == max_iter
