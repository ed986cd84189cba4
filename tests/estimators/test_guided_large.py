"""What GuidedMixture does with tables of many rows: whom experts look at, and how all rows are assigned."""

import numpy as np

from sidelight import SideInformation
from sidelight.estimators.base.results import Results, Wanted
from sidelight.estimators.guided.assignment import core_of_table
from sidelight.estimators.guided.core import CORE_ROWS
from sidelight.inference.protocols import Assignment
from sidelight.tables.table import ArrayTable


def test_experts_look_at_the_rows_with_statements_and_at_others_from_everywhere():
    n = 1_200_000
    y = np.full(n, -1)
    labelled = np.arange(0, n, 10_000)
    y[labelled] = np.arange(len(labelled)) % 2
    weights = np.ones(n)
    weights[n // 2 : n // 2 + 100_000] = 0
    side = SideInformation.build(n, y=y, cannot_link=[(0, 10_000)])
    core = core_of_table(side, weights, np.random.RandomState(0))
    assert len(core.rows) == CORE_ROWS
    assert np.all(np.diff(core.rows) > 0)
    assert np.isin(labelled[weights[labelled] > 0], core.rows).all()
    assert (weights[core.rows] > 0).all()
    np.testing.assert_array_equal(core.side.labels, y[core.rows])
    assert core.rows[core.side.cannot_link].tolist() == [[0, 10_000]]
    others = np.setdiff1d(core.rows, labelled)
    assert abs(np.mean(others < n // 2) - 0.6 / 1.1) < 0.04


def test_classes_without_rows_are_left_out_of_probabilities():
    wanted = Wanted(np.arange(3), 3, keep_posterior=True)
    posterior = np.array([[0.5, 0.2, 0.3], [0.1, 0.1, 0.8]])
    found = Results.of(ArrayTable(np.zeros((2, 1))), [Assignment(slice(0, 2), posterior, 0.0)], wanted)
    numbered = found.numbered(np.array([2, 0]))
    assert numbered.array("labels").tolist() == [1, 0]
    np.testing.assert_allclose(numbered.array("posterior"), [[0.375, 0.625], [8 / 9, 1 / 9]])
    assert numbered.sizes().tolist() == [1, 1]
