"""The E-step of a few rows and its sums, in NumPy; and the choice between this form and the compiled one.

The probabilities Q of the latent variables are never stored for the whole table. A buffer that fits the cache holds
those of a few attributes at a time, and only their sums are kept.
"""

from collections.abc import Callable
from importlib import import_module

import numpy as np

from sidelight._typing import FloatArray
from sidelight.admixture.model import Densities
from sidelight.kernels.loops import softmax, worth_compiling

_CACHE_DOUBLES = 64_000


# Values, observed, densities, offsets, row mass, sums → evidence; see accumulate.
CellKernel = Callable[[FloatArray, FloatArray, Densities, FloatArray, FloatArray, FloatArray], float]


def accumulate(
    values: FloatArray,
    observed: FloatArray,
    densities: Densities,
    offsets: FloatArray,
    row_mass: FloatArray,
    sums: FloatArray,
) -> float:
    """Add the sums of a few rows and return their evidence, Σ over cells of ln Σ_k exp(offset_k) N_k(x).

    Li, Ying and Campbell, eq. 6, and the sums that eqs. 7 to 9 need.

    Parameters
    ----------
    values : (d, rows)
        Any number where a cell is missing.
    observed : (d, rows)
        1 where a cell is observed, 0 where it is missing.
    densities : Densities
    offsets : (K, rows)
        E ln θ of every row's block.
    row_mass : (K, rows)
        Σ Q over attributes is added.
    sums : (3, K, d)
        Σ Q, Σ Q x and Σ Q x² over rows are added.
    """
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


def kernel_for(n_scores: int, *, threshold: int = 200_000_000) -> CellKernel:
    """Return the form that is quicker for about ``n_scores`` cells times processes times passes in all.

    Loading the compiled form takes about a second; NumPy needs about 9 ns more per score.
    """
    if worth_compiling(n_scores, threshold):
        compiled: CellKernel = import_module("sidelight.admixture.compiled").accumulate
        return compiled
    return accumulate
