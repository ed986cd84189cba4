"""K-means starts."""

import numpy as np
import pytest
from plain_processes import random_problem
from sklearn.datasets import make_blobs

from sidelight.admixture.starts import kmeans_centres, kmeans_starts, state_at


@pytest.mark.parametrize("guided", [True, False])
def test_starts_find_blobs_and_keep_labels_in_their_process(guided):
    X, y = make_blobs(90, 3, centers=3, cluster_std=0.3, random_state=1)
    sample = (X - X.mean(axis=0)) / X.std(axis=0)
    codes = np.where(np.arange(90) % 10 == 0, y, -1)
    centres = kmeans_centres(sample, codes, 3, np.random.RandomState(0), guided=guided)
    np.testing.assert_allclose(centres, [sample[y == c].mean(axis=0) for c in range(3)], atol=1e-9)


def test_a_start_is_the_m_step_with_each_row_in_one_process():
    decomposition, _ = random_problem(0, missing=True, blocks=True, n=20)
    codes = np.full(20, -1)
    codes[:4] = 2
    centres = np.array([[-1.0, 0, 0], [1, 0, 0], [50, 50, 50]])
    state = state_at(centres, codes, decomposition)
    X = (decomposition.rows.table.array - decomposition.scaling.centre) / decomposition.scaling.scale
    np.testing.assert_allclose(state.parameters.means[2], np.nanmean(X[:4], axis=0))
    cells = (~np.isnan(X)).sum(axis=1)
    assert state.gamma.sum() == pytest.approx(cells.sum() + 3 * len(state.gamma))
    block = decomposition.blocks == decomposition.blocks[0]
    assert state.gamma[decomposition.blocks[0], 2] == pytest.approx(1 + cells[:4][block[:4]].sum())
    assert np.isfinite(state.parameters.variances).all()


def test_first_start_begins_at_the_labels_and_missing_cells_count_as_the_mean():
    """In k-means a missing cell lies at the mean of its attribute; the sums of the start leave it out."""
    decomposition, _ = random_problem(0, missing=True, n=20)
    codes = np.full(20, -1)
    codes[:4], codes[4:8] = 0, 1
    starts = kmeans_starts(decomposition, codes, 3, 4, np.random.RandomState(0))
    assert list(starts) == [1, 2, 3, 4]
    sample = np.nan_to_num(decomposition.scaling.standardise(decomposition.rows.table.array))
    centres = kmeans_centres(sample, codes, 3, np.random.RandomState(0), guided=True)
    first, expected = starts.pop(1)(), state_at(centres, codes, decomposition)
    np.testing.assert_array_equal(first.gamma, expected.gamma)
    for found, wanted in zip(first.parameters, expected.parameters, strict=True):
        np.testing.assert_array_equal(found, wanted)
    for start in starts.values():
        state = start()
        assert all(np.isfinite(values).all() for values in (*state.parameters, state.gamma))
        assert (state.gamma[:4].argmax(axis=1) == 0).all()
        assert (state.gamma[4:8].argmax(axis=1) == 1).all()
