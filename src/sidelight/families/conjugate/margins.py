"""Which family describes whole numbers best: the evidence of a column by itself, with one component."""

from typing import Any, NamedTuple

import numpy as np

from sidelight._typing import FloatArray
from sidelight.families.conjugate.family import ConjugateFamily
from sidelight.families.conjugate.normal_gamma import NormalGamma
from sidelight.families.evaluators.evaluator import Evaluator
from sidelight.kernels.loops import NUMPY
from sidelight.tables.table import row_ranges

# The variance that rounding to whole numbers adds.
_ROUNDING = 1.0 / 12.0


class Margin(NamedTuple):
    """The different values of a column (m,) in their order, and how many cells hold each (m,)."""

    values: FloatArray
    counts: FloatArray

    @property
    def mean(self) -> FloatArray:
        """Mean of all cells, (1,)."""
        return np.atleast_1d(self.counts @ self.values / self.counts.sum())

    @property
    def variance(self) -> FloatArray:
        """Variance of all cells, (1,)."""
        return np.atleast_1d(self.counts @ np.square(self.values - self.mean) / self.counts.sum())

    @property
    def codes(self) -> "Margin":
        """The margin of the numbers 0, 1, 2, … of the values."""
        return Margin(np.arange(float(len(self.values))), self.counts)


def margin_of(cells: FloatArray) -> Margin:
    """Return the margin of observed cells (n,), of which there is at least one."""
    values, counts = np.unique(cells, return_counts=True)
    return Margin(values, counts.astype(float))


def log_evidence(family: ConjugateFamily[Any, Any], margin: Margin) -> float:
    """Return ln p(cells) under the prior of a family of one column: with one component the bound is the evidence."""
    evaluator = family.evaluator(family.around(np.full((1, 1), np.nan)), NUMPY)
    for values, counts in _blocks(margin, evaluator):
        evaluator.load(values)
        evaluator.accumulate(counts)
    parameters = family.update(evaluator.statistics())
    evaluator, total = family.evaluator(parameters, NUMPY), family.log_prior(parameters)
    for values, counts in _blocks(margin, evaluator):
        evaluator.load(values)
        total += float(evaluator.log_likelihood()[0] @ counts[0])
    return total


def _blocks(margin: Margin, evaluator: Evaluator[Any]) -> list[tuple[FloatArray, FloatArray]]:
    """Return columns of values with their counts as responsibilities of one component."""
    return [
        (margin.values[part, None], np.ascontiguousarray(margin.counts[None, part]))
        for part in row_ranges(len(margin.values), evaluator.block_rows)
    ]


def gaussian_evidence(margin: Margin) -> float:
    """Return ln p(cells) of whole numbers under a Gaussian, whose density over a unit is their probability."""
    return log_evidence(NormalGamma.scaled(margin.mean, margin.variance + _ROUNDING), margin)
