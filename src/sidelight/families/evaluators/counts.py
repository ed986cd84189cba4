"""Evaluators of rows of counts, dense or sparse (CSR); sparse rows are never made dense."""

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from scipy.sparse import csr_array, issparse
from scipy.special import gammaln

from sidelight._typing import AnyArray, FloatArray
from sidelight.families.evaluators.evaluator import Evaluator, Scorer
from sidelight.families.exponential import CountStatistics
from sidelight.kernels.loops import front, rows_per_block

_MOST_ROWS = 4096
_TABLE_SIZE = 4096


@cache
def _table() -> FloatArray:
    return gammaln(np.arange(1.0, _TABLE_SIZE + 1.0))


def log_factorials(counts: AnyArray) -> FloatArray:
    """Return ln x! of counts, which are whole numbers but of any type."""
    # They are asked for in every pass, and looking them up takes a tenth of the time.
    if counts.max(initial=0) < _TABLE_SIZE:
        return _table()[counts.astype(np.intp)]
    return gammaln(counts + 1.0)


def count_rows_per_block(n_components: int, n_words: int) -> int:
    """Return how many rows to take at once.

    Each block adds its sums to all words of all components, so that many words want many rows; and as tables of many
    words are mostly sparse, their rows are small.
    """
    return max(rows_per_block(n_components), min(n_words // 8, _MOST_ROWS))


def log_multinomial_coefficients(block: Any) -> FloatArray:
    """Return ln n! − Σ_v ln x_v! of each row, n the sum of its counts."""
    totals = np.asarray(block.sum(axis=1), dtype=float).reshape(-1)
    if issparse(block):
        logs = csr_array((log_factorials(block.data), block.indices, block.indptr), shape=block.shape)
        return log_factorials(totals) - logs.sum(axis=1)
    return log_factorials(totals) - log_factorials(block).sum(axis=1)


class CountEvaluator(Evaluator[CountStatistics]):
    """Log densities Σ_v x_v w_v + a term of the row, and weighted sums of counts.

    ``weights`` (components, words) are w; ``row_terms(counts)`` returns the terms (rows,), zero where not given, and
    ``read(block)`` makes counts of a block, which are the block itself where not given.
    """

    def __init__(
        self,
        weights: FloatArray,
        row_terms: Callable[[Any], FloatArray] | None = None,
        read: Callable[[Any], Any] | None = None,
    ) -> None:
        self.n_components, n_words = weights.shape
        self.block_rows = count_rows_per_block(self.n_components, n_words)
        # The sparse product copies its right factor unless it is contiguous.
        self._weights = np.ascontiguousarray(weights.T)
        self._row_terms = row_terms
        self._read = read
        self._score_buffer = np.empty(self.n_components * self.block_rows)
        self._counts: Any = np.empty((0, n_words))
        self._start()

    def _start(self) -> None:
        self._mass = np.zeros(self.n_components)
        self._sums = np.zeros((self.n_components, len(self._weights)))

    def load(self, block: Any) -> None:
        """Take a block of rows."""
        self._counts = block if self._read is None else self._read(block)

    def log_likelihood(self) -> FloatArray:
        """Return the log densities (components, rows) of the block, in a buffer that the next call overwrites."""
        scores = front(self._score_buffer, self.n_components, self._counts.shape[0])
        scores[:] = (self._counts @ self._weights).T
        if self._row_terms is not None:
            scores += self._row_terms(self._counts)
        return scores

    def accumulate(self, responsibilities: FloatArray) -> None:
        """Add the statistics of the block, weighted by responsibilities (components, rows)."""
        self._mass += responsibilities.sum(axis=1)
        self._sums += responsibilities @ self._counts

    def statistics(self) -> CountStatistics:
        """Return the statistics accumulated since the last call, and start anew."""
        collected = CountStatistics(self._mass, self._sums)
        self._start()
        return collected


class CountPredictive(Scorer):
    """Dirichlet-multinomial log densities, by concentrations (components, words); only cells above 0 are visited."""

    def __init__(self, concentrations: FloatArray) -> None:
        self.n_components, n_words = concentrations.shape
        self.block_rows = count_rows_per_block(self.n_components, n_words)
        self._concentrations = concentrations
        self._log_gammas = gammaln(concentrations)
        self._totals = concentrations.sum(axis=1)
        self._score_buffer = np.empty(self.n_components * self.block_rows)
        self._block = csr_array((0, n_words))

    def load(self, block: Any) -> None:
        """Take a block of rows."""
        self._block = csr_array(block)

    def log_likelihood(self) -> FloatArray:
        """Return the log densities (components, rows) of the block, in a buffer that the next call overwrites."""
        block = self._block
        words, counts = block.indices, block.data
        scores = front(self._score_buffer, self.n_components, block.shape[0])
        rows = np.repeat(np.arange(block.shape[0]), np.diff(block.indptr))
        for k, concentrations in enumerate(self._concentrations):
            gains = gammaln(concentrations[words] + counts) - self._log_gammas[k, words]
            scores[k] = np.bincount(rows, weights=gains, minlength=block.shape[0])
        sizes = block.sum(axis=1)
        scores += gammaln(self._totals)[:, None] - gammaln(self._totals[:, None] + sizes)
        scores += log_multinomial_coefficients(block)
        return scores
