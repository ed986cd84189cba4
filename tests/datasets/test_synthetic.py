"""The synthetic data of the papers: what each is made to show."""

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score
from sklearn.mixture import GaussianMixture

from sidelight.datasets import four_gaussians, horizontal_boundary, three_components, two_moons, two_views


@pytest.mark.parametrize("make", [four_gaussians, horizontal_boundary, three_components, two_moons, two_views])
def test_the_same_seed_gives_the_same_rows(make):
    first, second, other = (make(random_state=seed) for seed in (3, 3, 4))
    np.testing.assert_array_equal(first.X, second.X)
    assert (first.X != other.X).any()
    assert len(first.X) == len(first.y)
    assert len(make(n=50, random_state=0).y) == 50


def test_both_views_are_of_the_same_rows():
    horizontal, vertical = (two_views(view=view, random_state=0) for view in ("horizontal", "vertical"))
    np.testing.assert_array_equal(horizontal.X, vertical.X)
    assert abs(adjusted_rand_score(horizontal.y, vertical.y)) < 0.01
    with pytest.raises(ValueError, match="view='diagonal' must be one of horizontal, vertical"):
        two_views(view="diagonal")


def test_classes_of_several_gaussians():
    assert np.bincount(four_gaussians(random_state=0).y).tolist() == [100, 100, 200]
    assert np.bincount(three_components(random_state=0).y).tolist() == [200, 100]


def test_a_plain_mixture_takes_the_wrong_boundary():
    X, y, _ = horizontal_boundary(random_state=0)
    found = GaussianMixture(2, n_init=5, random_state=0).fit_predict(X)
    assert adjusted_rand_score(X[:, 0] > 0, found) > 0.95
    assert abs(adjusted_rand_score(y, found)) < 0.05
