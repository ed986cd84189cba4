"""The number of components by merging from many to few."""

import numpy as np
import pytest
from sklearn.datasets import make_blobs

from sidelight import ClassMixture, LabelledMixture


@pytest.mark.parametrize("k", [1, 3, 6])
def test_planted_components_are_counted(k):
    table, _ = make_blobs(300, centers=8.0 * np.eye(6)[:k], random_state=0)
    assert ClassMixture(random_state=0).fit(table).n_components_ == k


def test_the_number_does_not_hang_on_the_start():
    # Three in a row, which k-means in standard deviations cuts across.
    table, _ = make_blobs(300, centers=[[-5, 0], [0, 0], [5, 0]], random_state=106)
    assert {ClassMixture(random_state=seed).fit(table).n_components_ for seed in range(3)} == {3}


def test_the_number_found_has_the_lowest_bic_of_fits_made_anew():
    table, _ = make_blobs(200, centers=4, cluster_std=1.5, random_state=1)
    found = ClassMixture(random_state=0).fit(table).n_components_
    settings = {"covariance_type": "full", "n_init": 2, "tol": 1e-5, "max_iter": 500, "random_state": 0}
    fits = [LabelledMixture(k, **settings).fit(table) for k in range(2, 6)]
    assert found == 2 + int(np.argmin([fit.bic(table) for fit in fits]))
