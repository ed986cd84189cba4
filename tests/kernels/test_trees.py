"""Rows go down trees in NumPy and compiled alike, and as those of scikit-learn do."""

import numpy as np
import pytest
from sklearn.ensemble import ExtraTreesClassifier

from sidelight.experts.forest import _as_arrays
from sidelight.kernels.trees import Trees, add_shares, mean_shares


@pytest.fixture(scope="module")
def forest():
    random = np.random.default_rng(0)
    rows = random.normal(size=(700, 4)).astype(np.float32).astype(float)
    model = ExtraTreesClassifier(30, random_state=0).fit(rows[:200], random.integers(3, size=200))
    learned = _as_arrays([model], 3, np.full(3, 1 / 3), trust=1.0)
    trees = Trees(*(getattr(learned, name) for name in Trees._fields))
    return rows, trees, model.predict_proba(rows)


def test_rows_come_to_the_leaves_of_scikit_learn(forest):
    rows, trees, expected = forest
    np.testing.assert_allclose(mean_shares(rows, trees), expected, rtol=1e-12)


def test_compiled_trees_are_the_same(forest):
    compiled = pytest.importorskip("sidelight.kernels.compiled_trees")
    rows, trees, _ = forest
    plain, quick = np.zeros((700, 3)), np.zeros((700, 3))
    add_shares(rows, trees, plain)
    compiled.add_shares(rows, *trees, quick)
    np.testing.assert_allclose(quick, plain, rtol=1e-13)
