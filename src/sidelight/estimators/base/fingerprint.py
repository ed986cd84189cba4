"""What tells one fit from another: whether a checkpoint is of this fit."""

import joblib
import numpy as np
from sklearn.base import BaseEstimator

from sidelight._version import __version__
from sidelight.estimators.starts.sample import Problem
from sidelight.tables.schema import Schema
from sidelight.tables.survey import Survey

# Parameters that change nothing about the passes of a fit.
_SILENT = ("callbacks", "verbose", "n_jobs", "keep_posterior", "keep_history")


def fingerprint(estimator: BaseEstimator, problem: Problem, survey: Survey, schema: Schema) -> str:
    """Return a digest of everything that the passes of a fit depend on.

    The cells of the table are in it by the moments of the columns, which change with every cell, and with the order in
    which rows are added up. A generator that is not a number is kept with the checkpoint itself.
    """
    parameters = {name: value for name, value in estimator.get_params().items() if name not in _SILENT}
    if not isinstance(parameters.get("random_state"), int | np.integer):
        parameters["random_state"] = None
    side = problem.side
    known = (
        side.labels if len(side.label_names) else None,
        side.label_names,
        side.must_link,
        side.cannot_link,
        side.must_link_confidence,
        side.cannot_link_confidence,
        side.blocks if len(side.block_names) else None,
    )
    described = (
        (__version__, type(estimator).__name__, parameters),
        (problem.table.shape, tuple(survey), schema.names, schema.kinds, schema.categories, schema.powers),
        (known, problem.weights),
    )
    return str(joblib.hash(described, hash_name="sha1"))
