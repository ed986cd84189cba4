"""Clusters of a mixture that knows nothing but the table."""

import warnings

import numpy as np

from sidelight._typing import AnyArray, FloatArray
from sidelight.estimators.bayesian.mixture import BayesianMixture
from sidelight.experts.view import View
from sidelight.tables.schema import Schema

# A mixture of more rows takes longer and finds much the same clusters; of more columns it is fitted to coordinates.
_MOST_ROWS = 1000
_MOST_COLUMNS = 40
# Kinds of cells that are encoded as plain numbers, and what they are to a mixture then.
_ENCODED = {"date": "gaussian"}


def clusters_without_statements(
    cells: AnyArray, schema: Schema, view: View, random: np.random.RandomState
) -> FloatArray:
    """Return the probability (n, clusters) of each cluster for encoded rows, by a Bayesian mixture of some of them."""
    wide = cells.shape[1] > _MOST_COLUMNS
    table = view.coordinates if wide else cells.astype(float)
    kinds = {column: _ENCODED.get(kind, kind) for column, kind in enumerate(schema.kinds)}
    rows = np.sort(random.permutation(len(table))[:_MOST_ROWS])
    model = BayesianMixture(
        family="gaussian" if wide else kinds,
        power=not wide and "auto",
        # Clusters that split a class do no harm: statements join them.
        parsimony=0.0,
        random_state=random.randint(2**31 - 1),
    )
    with warnings.catch_warnings():
        # The clusters are candidates, each of which is judged later on.
        warnings.simplefilter("ignore")
        model.fit(table[rows])
        return model.predict_proba(table)
