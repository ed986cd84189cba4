"""The inner loops in NumPy: the reference, and what runs where numba is not installed."""

import numpy as np
from scipy.sparse import csr_array

from sidelight._typing import AnyArray, FloatArray, IntArray


def softmax(scores: FloatArray, offsets: FloatArray, weights: FloatArray, evidence: FloatArray) -> None:
    """Turn scores into weighted responsibilities, in place.

    Parameters
    ----------
    scores : (components, rows)
        Log densities; on return ``weights * softmax(scores + offsets)`` over components.
    offsets : (components,)
        Log mixing weights; may be ``-inf``.
    weights : (rows,)
        Weight of each row.
    evidence : (rows,)
        On return the logarithm of the sum over components, not weighted.
    """
    scores += offsets[:, None]
    largest = scores.max(axis=0)
    scores -= largest
    np.exp(scores, out=scores)
    total = scores.sum(axis=0)
    scores *= weights / total
    np.log(total, out=evidence)
    evidence += largest


def argmax(scores: FloatArray, offsets: FloatArray, weights: FloatArray, evidence: FloatArray) -> None:
    """Give each row wholly to its best component, in place; ties go to the first.

    The arguments are those of :func:`softmax`; ``evidence`` becomes the largest score.
    """
    scores += offsets[:, None]
    best = scores.argmax(axis=0)
    rows = np.arange(scores.shape[1])
    evidence[:] = scores[best, rows]
    scores[:] = 0.0
    scores[best, rows] = weights


def quadratic_features(block: FloatArray, centre: FloatArray, out: FloatArray) -> None:
    """Fill ``out`` with [1, x_i, x_i x_j (i <= j)] of the centred rows of a block, one feature per row of ``out``."""
    d = block.shape[1]
    centred = out[1 : d + 1]
    out[0] = 1.0
    np.subtract(block.T, centre[:, None], out=centred)
    start = d + 1
    for i in range(d):
        np.multiply(centred[i], centred[i:], out=out[start : start + d - i])
        start += d - i


def add_neighbours(
    starts: IntArray, neighbours: AnyArray, strengths: FloatArray, posterior: AnyArray, out: FloatArray
) -> None:
    """Add the posteriors of each row's neighbours to ``out``, times the strengths of their links.

    Parameters
    ----------
    starts : (rows + 1,)
        Where the neighbours of each row start in ``neighbours`` and ``strengths``, and where those of the last end.
    neighbours, strengths : (links,)
    posterior : (linked rows, at least as many components)
    out : (rows, components)
    """
    links = slice(starts[0], starts[-1])
    # Only what is looked up goes into the product, which would else turn all of a table in single precision to double.
    theirs = posterior.take(neighbours[links], axis=0)[:, : out.shape[1]]
    shape = (len(out), len(theirs))
    out += csr_array((strengths[links], np.arange(len(theirs)), starts - starts[0]), shape=shape) @ theirs
