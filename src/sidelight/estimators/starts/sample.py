"""What is to be fitted, and the rows of it that a fit starts from."""

from typing import NamedTuple

import numpy as np

from sidelight._typing import AnyArray, FloatArray, IntArray
from sidelight.estimators.base.classes import Layout
from sidelight.inference.mixture import Mixture
from sidelight.inference.starts import SAMPLE_ROWS, choose_rows, row_order
from sidelight.side import SideInformation
from sidelight.tables.array import ArrayTable
from sidelight.tables.kinds import kind_named
from sidelight.tables.schema import Schema
from sidelight.tables.survey import Survey
from sidelight.tables.table import Table


class Problem(NamedTuple):
    """A table, the side information about its rows, and their weights (all one where None)."""

    table: Table
    side: SideInformation
    weights: FloatArray | None

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self.table.shape[0]

    def row_weights(self) -> FloatArray:
        """Return the weights of the rows."""
        return np.ones(self.n_rows) if self.weights is None else self.weights


class StartRows(NamedTuple):
    """The rows that a fit starts from, in memory and sorted.

    Parameters
    ----------
    problem : Problem
        These rows as a problem of their own.
    values : (m, d)
    whole : bool
        Whether the table is small enough to start from all of it.
    """

    problem: Problem
    values: AnyArray
    whole: bool


class Sample(NamedTuple):
    """The rows that a fit starts from, as a mixture of their own.

    Parameters
    ----------
    mixture : Mixture
    values : (m, d)
        The rows.
    points : (m, d')
        The rows where distances mean something: in standard deviations, categories as directions.
    weights : (m,)
    codes : (m,)
        Label codes, -1 unknown.
    layout : Layout
    whole : bool
    side : SideInformation
    """

    mixture: Mixture
    values: AnyArray
    points: FloatArray
    weights: FloatArray
    codes: IntArray
    layout: Layout
    whole: bool
    side: SideInformation


def start_rows(problem: Problem, preferred: IntArray, random: np.random.RandomState) -> StartRows:
    """Return the rows to start from: all of a small table; of a large one, half of them preferred rows.

    Parameters
    ----------
    problem : Problem
    preferred : (n,)
        Not negative for rows that a sample should have: those with labels, or with any statement.
    random : RandomState
    """
    rows = choose_rows(problem.n_rows, problem.weights, preferred, random)
    values = problem.table.gather(rows)
    order = row_order(values, problem.side.labels[rows])
    rows, values = rows[order], values[order]
    weights = None if problem.weights is None else problem.weights[rows]
    few = Problem(ArrayTable(values), problem.side.restrict(rows), weights)
    return StartRows(few, values, whole=problem.n_rows <= SAMPLE_ROWS)


def embedding(
    values: AnyArray, weights: FloatArray, schema: Schema, survey: Survey, random: np.random.RandomState
) -> FloatArray:
    """Return encoded rows (m, d) as points (m, d'), each column as its kind embeds it."""
    parts = []
    for name in sorted(set(schema.kinds)):
        kind, numbers = kind_named(name), schema.of_kind(name)
        cells = values if kind.whole_rows else values[:, numbers]
        parts.append(kind.embed(cells, weights, survey.only(numbers), random))
    return np.concatenate(parts, axis=1)
