"""A table with what is known about its rows, and the part of it that a fit starts from."""

from typing import NamedTuple

import numpy as np
from scipy.sparse import issparse

from sidelight._storable import storable
from sidelight._typing import AnyArray, FloatArray
from sidelight.inference.rows import Rows
from sidelight.inference.starts import SAMPLE_ROWS, choose_rows, row_order
from sidelight.side import SideInformation
from sidelight.tables.survey import Survey


@storable("Data")
class Data(NamedTuple):
    """Rows, what is known about them, their weights, and whether they are the whole table."""

    X: AnyArray
    side: SideInformation
    weights: FloatArray | None
    whole: bool = True


def start_from(data: Data, random: np.random.RandomState) -> Data:
    """Return the rows to start from, sorted: all of a small table, a sample of a large one."""
    n = data.X.shape[0]
    rows = choose_rows(n, data.weights, data.side.labels, random)
    values = data.X[rows] if issparse(data.X) else Rows(data.X).gather(rows)
    order = row_order(values, data.side.labels[rows])
    rows = rows[order]
    weights = None if data.weights is None else data.weights[rows]
    return Data(values[order], data.side.restrict(rows), weights, whole=n <= SAMPLE_ROWS)


def scale_of(survey: Survey) -> FloatArray:
    """Return the standard deviations, one where a feature is constant."""
    return np.where(survey.variance > 0, np.sqrt(survey.variance), 1.0)
