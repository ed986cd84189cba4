"""What is read off the table before the ascent: units, starts; and off the result: which attributes tell."""

import numpy as np
import pytest
from plain_processes import random_problem
from scipy.integrate import quad
from scipy.stats import norm
from sklearn.datasets import make_blobs

from sidelight.admixture import scaling
from sidelight.admixture.ranking import attribute_distances
from sidelight.admixture.starts import fill_missing, kmeans_centres, state_at
from sidelight.inference.rows import Rows


def test_units_are_moments_of_the_cells_that_are_there(monkeypatch):
    monkeypatch.setattr(scaling, "_BLOCK_ROWS", 7)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 4)) * [1, 1e-3, 1e5, 1] + [0, 1e6, 0, 3]
    X[rng.uniform(size=X.shape) < 0.3] = np.nan
    X[:, 3] = 0.1
    found = scaling.survey_observed(Rows(X))
    np.testing.assert_allclose(found.centre, np.nanmean(X, axis=0), rtol=1e-12)
    np.testing.assert_allclose(found.scale[:3], np.nanstd(X[:, :3], axis=0), rtol=1e-8)
    assert found.scale[3] == 1
    np.testing.assert_array_equal(found.n_observed, (~np.isnan(X)).sum(axis=0))
    assert scaling.find_infinite(Rows(X)) is None


def test_infinity_is_found_where_it_stands(monkeypatch):
    monkeypatch.setattr(scaling, "_BLOCK_ROWS", 2)
    X = np.zeros((9, 3))
    X[5, 1] = np.inf
    assert scaling.find_infinite(Rows(X)) == (5, 1)


@pytest.mark.parametrize("guided", [True, False])
def test_starts_find_blobs_and_keep_labels_in_their_process(guided):
    X, y = make_blobs(90, 3, centers=3, cluster_std=0.3, random_state=1)
    sample = fill_missing(X, X.mean(axis=0), X.std(axis=0))
    codes = np.where(np.arange(90) % 10 == 0, y, -1)
    centres = kmeans_centres(sample, codes, 3, np.random.RandomState(0), guided=guided)
    np.testing.assert_allclose(centres, [sample[y == c].mean(axis=0) for c in range(3)], atol=1e-9)


def test_a_start_is_the_m_step_of_whole_rows():
    on_data, _ = random_problem(0, missing=True, blocks=True, n=20)
    codes = np.full(20, -1)
    codes[:4] = 2
    centres = np.array([[-1.0, 0, 0], [1, 0, 0], [50, 50, 50]])
    state = state_at(centres, codes, on_data)
    X = (on_data.rows.X - on_data.scaling.centre) / on_data.scaling.scale
    np.testing.assert_allclose(state.parameters.means[2], np.nanmean(X[:4], axis=0))
    cells = (~np.isnan(X)).sum(axis=1)
    assert state.gamma.sum() == pytest.approx(cells.sum() + 3 * len(state.gamma))
    block = on_data.blocks == on_data.blocks[0]
    assert state.gamma[on_data.blocks[0], 2] == pytest.approx(1 + cells[:4][block[:4]].sum())
    assert np.isfinite(state.parameters.variances).all()


def test_missing_cells_are_filled_for_the_start_only():
    filled = fill_missing(np.array([[1.0, np.nan], [3.0, 6.0]]), np.array([2.0, 6.0]), np.array([1.0, 2.0]))
    np.testing.assert_array_equal(filled, [[-1, 0], [1, 0]])


def test_distances_are_integrals_and_bound_the_error_of_telling_processes_apart():
    means, scales = np.array([[0.0, 1.0, 3.0], [2.0, 1.0, 3.1]]), np.array([[1.0, 0.5, 2.0], [0.7, 2.0, 2.0]])
    found = attribute_distances(means, scales, 0, 1)
    for g in range(3):
        p, q = norm(means[0, g], scales[0, g]).pdf, norm(means[1, g], scales[1, g]).pdf
        overlap = quad(lambda x, p=p, q=q: np.sqrt(p(x) * q(x)), -40, 40, limit=300, points=[0, 1, 2, 3])[0]
        error = quad(lambda x, p=p, q=q: 0.5 * min(p(x), q(x)), -40, 40, limit=300, points=[0, 1, 2, 3])[0]
        assert found[g] == pytest.approx(-np.log(overlap), abs=1e-9)
        assert error <= 0.5 * np.exp(-found[g])
    np.testing.assert_allclose(found, attribute_distances(means, scales, 1, 0))
    np.testing.assert_allclose(attribute_distances(means, scales, 1, 1), 0, atol=1e-15)
