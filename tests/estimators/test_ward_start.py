"""Groups to start from: Ward's, none of them with two labels."""

import numpy as np
import pytest
from sklearn.cluster import AgglomerativeClustering
from sklearn.metrics import adjusted_rand_score

from sidelight.estimators.starts.ward import ward_groups


def points(seed, n):
    return np.random.default_rng(seed).normal(size=(n, 3))


def random_state():
    return np.random.RandomState(0)


def test_without_labels_groups_are_those_of_scikit_learn():
    X = points(0, 200)
    found = ward_groups(X, np.full(200, -1), 12, random_state())
    assert adjusted_rand_score(found, AgglomerativeClustering(12).fit_predict(X)) == 1.0


@pytest.mark.parametrize("n", [60, 3000])
@pytest.mark.parametrize("n_groups", [4, 10, 30])
def test_no_group_has_two_labels(n, n_groups):
    X = points(1, n)
    codes = np.where(np.arange(n) % 5 == 0, np.arange(n) % 4, -1)
    groups = ward_groups(X, codes, n_groups, random_state())
    assert set(groups.tolist()) == set(range(groups.max() + 1))
    assert groups.max() < n_groups
    labelled = codes >= 0
    pairs = set(zip(groups[labelled].tolist(), codes[labelled].tolist(), strict=True))
    assert len(pairs) == len({group for group, _ in pairs})


def test_one_row_is_one_group():
    assert ward_groups(points(2, 1), np.array([-1]), 1, random_state()).tolist() == [0]
