"""Fused loops: a compiled sweep takes many rows through densities, assignment and statistics at once.

There is one where the log densities are a quadratic form and rows are assigned by Bayes' rule, each on its own or with
the posteriors of its neighbours added to its scores. Anything else goes block by block.
"""

from typing import Any

import numpy as np

from sidelight._typing import FloatArray, IntArray
from sidelight.inference.protocols import Evaluator
from sidelight.kernels.loops import Backend, Links, has_missing
from sidelight.tables.table import Block

_NONE = np.empty(0, dtype=np.int64)


def can_sweep(evaluator: Evaluator[Any], backend: Backend) -> bool:
    """Say whether there is a compiled sweep for complete rows that are assigned by Bayes' rule."""
    return backend.quadratic_sweep is not None and evaluator.quadratic_form() is not None


def sweep(
    evaluator: Evaluator[Any],
    backend: Backend,
    block: Block,
    log_weights: FloatArray,
    *,
    classes: IntArray = _NONE,
    links: Links | None = None,
) -> float | None:
    """Accumulate the statistics of rows in ``evaluator``; return their weighted log evidence.

    None, and nothing done, where the rows must go block by block: a cell is missing, or there is no such sweep. The
    codes of the block are the classes of labelled rows, ``classes`` (components,) those of the components. With
    ``links``, neighbours add to the scores and the posterior is kept for them; the evidence leaves out what late
    neighbours add, and codes are not looked at.
    """
    form = evaluator.quadratic_form()
    if form is None or backend.quadratic_sweep is None or backend.linked_sweep is None:
        return None
    if form.may_miss and has_missing(block.values):
        return None
    # One layout and type for the compiled loops, which would else be compiled again for each.
    values = np.require(block.values, np.float64, ["C", "W"])
    centre, coefficients, sums, *room, _ = form
    if links is not None:
        return backend.linked_sweep(values, centre, coefficients, log_weights, block.weights, links, sums, *room)
    codes = _NONE if block.codes is None else np.require(block.codes, np.int64, ["C", "W"])
    return backend.quadratic_sweep(
        values, centre, coefficients, log_weights, codes, classes, block.weights, sums, *room
    )
