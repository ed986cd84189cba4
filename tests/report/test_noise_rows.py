"""Rows of noise are one more line of the report and one more group of the pictures, named noise."""

import numpy as np

from sidelight import BayesianMixture, SideInformation
from sidelight.describe.assignment import certainty_of, clusters_of, names_of
from sidelight.describe.profiles import cluster_profiles
from sidelight.describe.table import fitted_table
from sidelight.plots import ClustersDisplay, HistoryDisplay, MembershipDisplay
from sidelight.report import html_report


def fitted():
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=(40, 3)) + place for place in ([0, 0, 0], [9, 0, 0])])
    X[::8] = rng.uniform(-60, 60, size=(10, 3))
    return BayesianMixture(noise=True, random_state=0).fit(X), X


def test_noise_is_described_as_the_last_group():
    model, X = fitted()
    table = fitted_table(model, X)
    clusters = clusters_of(model, table)
    assert (model.labels_[::8] == -1).all()
    assert names_of(model, clusters) == ["cluster 0", "cluster 1", "noise"]
    np.testing.assert_array_equal(clusters == 2, model.labels_ == -1)
    np.testing.assert_allclose(certainty_of(model, table, clusters).values[::8], model.noise_probability_[::8])
    assert cluster_profiles(model, X).names == ["cluster 0", "cluster 1", "noise"]


def test_the_report_names_noise_and_keeps_links_within_it():
    model, X = fitted()
    side = SideInformation.build(len(X), must_link=[(0, 8)], cannot_link=[(16, 24), (1, 2)])
    page = html_report(model, X, side=side)
    assert ">noise" in page
    assert f"both in cluster {model.labels_[1]}" in page
    assert "both in noise" not in page
    assert "cluster &gt;= 0 else" in page


def test_pictures_take_noise():
    model, X = fitted()
    assert ClustersDisplay.from_estimator(model, X).names[-1] == "noise"
    assert MembershipDisplay.from_estimator(model, X).posterior.shape[1] == 3
    assert HistoryDisplay.from_estimator(model, X).panels
