"""Evaluators of columns of category codes, dense or one-hot and sparse."""

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from sidelight._typing import AnyArray, FloatArray, IntArray
from sidelight.families.evaluators.counts import CountEvaluator
from sidelight.families.evaluators.evaluator import Evaluator
from sidelight.families.exponential import CountStatistics, LinearEvaluator

# With more categories per column than this, sparse rows are quicker.
MANY_CATEGORIES = 10


def code_evaluator(
    logs: FloatArray, categories: tuple[int, ...], many_categories: int = MANY_CATEGORIES
) -> Evaluator[CountStatistics]:
    """Return an evaluator of the sum over columns of the ``logs`` of their category; a missing code is left out.

    Parameters
    ----------
    logs : (components, Σ categories)
        Log probability of every category, column after column.
    categories : tuple of int
        The number of categories of each column, whose codes are 0, 1, 2, …
    many_categories : int
        With more categories per column than this, rows are sparse.
    """
    codes = _Codes(np.cumsum([0, *categories[:-1]]), sum(categories))
    if logs.shape[1] > many_categories * len(categories):
        return CountEvaluator(logs, read=codes.one_hot)
    coefficients = np.concatenate([np.zeros((len(logs), 1)), logs], axis=1)
    return LinearEvaluator(codes.fill, coefficients, lambda sums: CountStatistics(sums[:, 0], sums[:, 1:]))


@dataclass(frozen=True, eq=False)
class _Codes:
    """Where the categories of each column start, and how many there are of all columns."""

    starts: IntArray
    n_categories: int

    def fill(self, block: AnyArray, out: FloatArray) -> None:
        """Write [1, one-hot codes] of a block, (1 + Σ categories, rows)."""
        # A missing code marks the first feature, which is 1 anyway.
        codes = np.where(np.isnan(block), 0.0, block + self.starts + 1.0).astype(np.intp)
        out[1:] = 0.0
        out[codes.T, np.arange(len(block))] = 1.0
        out[0] = 1.0

    def one_hot(self, block: AnyArray) -> csr_array:
        """Return the codes of a block as sparse rows of zeros and ones."""
        seen = ~np.isnan(block)
        codes = (block + self.starts)[seen].astype(np.intp)
        ends = np.concatenate([[0], np.cumsum(seen.sum(axis=1))])
        return csr_array((np.ones(len(codes)), codes, ends), shape=(len(block), self.n_categories))
