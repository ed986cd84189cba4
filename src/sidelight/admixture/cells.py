"""The E-step of a block of rows and its sums, in NumPy; and the choice between this form and the compiled one.

The latent of every cell is never kept: its probabilities Q live in a buffer that fits the cache, for a few attributes
at a time, and only their sums go out.
"""

from importlib import import_module
from importlib.util import find_spec
from typing import Protocol

import numpy as np

from sidelight._typing import FloatArray
from sidelight.admixture.model import Densities
from sidelight.kernels.loops import softmax

# Loading the compiled form takes about a second; NumPy needs about 9 ns more per cell and process.
_SCORES_WORTH_COMPILING = 200_000_000
_CACHE_DOUBLES = 64_000


class Accumulate(Protocol):
    """Adds what a block of rows says to sums over rows and over attributes."""

    def __call__(
        self,
        values: FloatArray,
        observed: FloatArray,
        densities: Densities,
        offsets: FloatArray,
        row_mass: FloatArray,
        sums: FloatArray,
    ) -> float:
        """Return the block's evidence, Σ over cells of ln Σ_k exp(offset_k) N_k(x).

        Parameters
        ----------
        values : (d, rows)
            Any number where a cell is missing.
        observed : (d, rows)
            1 where a cell is there, 0 where it is missing.
        densities : Densities
        offsets : (K, rows)
            E ln θ of every row's block.
        row_mass : (K, rows)
            Σ Q over attributes is added.
        sums : (3, K, d)
            Σ Q, Σ Q x and Σ Q x² over rows are added.
        """


def accumulate(
    values: FloatArray,
    observed: FloatArray,
    densities: Densities,
    offsets: FloatArray,
    row_mass: FloatArray,
    sums: FloatArray,
) -> float:
    """See :class:`Accumulate` (Li, Ying and Campbell, eq. 6, and the sums that eqs. 7 to 9 need)."""
    n_processes, n_rows = offsets.shape
    d = len(values)
    width = max(_CACHE_DOUBLES // (n_processes * n_rows), 1)
    buffer, log_evidence = np.empty(n_processes * width * n_rows), np.empty(width * n_rows)
    no_offsets = np.zeros(n_processes)
    evidence = 0.0
    for start in range(0, d, width):
        columns = slice(start, min(start + width, d))
        shape = (n_processes, columns.stop - columns.start, n_rows)
        scores = buffer[: shape[0] * shape[1] * shape[2]].reshape(shape)
        x, weights = values[columns], observed[columns]
        densities.columns(columns).log(x, out=scores)
        scores += offsets[:, None, :]
        cells = log_evidence[: x.size]
        softmax(scores.reshape(n_processes, -1), no_offsets, weights.reshape(-1), cells)
        evidence += float(cells @ weights.reshape(-1))
        row_mass += scores.sum(axis=1)
        powers = np.stack([np.ones_like(x), x, np.square(x)], axis=2)
        sums[:, :, columns] += (scores.transpose(1, 0, 2) @ powers).transpose(2, 1, 0)
    return evidence


def accumulate_for(n_scores: int) -> Accumulate:
    """Return the form that is quicker for about ``n_scores`` cells times processes times passes in all."""
    if n_scores >= _SCORES_WORTH_COMPILING and find_spec("numba") is not None:
        form: Accumulate = import_module("sidelight.admixture.compiled").accumulate
        return form
    return accumulate
