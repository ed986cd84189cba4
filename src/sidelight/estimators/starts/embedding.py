"""Rows as points between which distances mean something, whatever their columns are: where starts look for centres."""

import numpy as np

from sidelight._typing import FloatArray
from sidelight.estimators.starts.sample import Data
from sidelight.tables.kinds import kind_named
from sidelight.tables.schema import Columns
from sidelight.tables.survey import Survey


def embedding(data: Data, columns: Columns, survey: Survey, random: np.random.RandomState) -> FloatArray:
    """Return rows as points (m, d'); every column has variance one, or none, and missing cells lie at its mean.

    Parameters
    ----------
    data : Data
        Encoded rows.
    columns : Columns
    survey : Survey
        Of the whole table.
    random : RandomState
    """
    weights = np.ones(data.X.shape[0]) if data.weights is None else data.weights
    if "multinomial" in columns.kinds:
        return kind_named("multinomial").embed(data.X, weights, survey, random)
    parts = []
    for kind in sorted(set(columns.kinds)):
        numbers = columns.of_kind(kind)
        parts.append(kind_named(kind).embed(data.X[:, numbers], weights, survey.only(numbers), random))
    return np.concatenate(parts, axis=1)
