"""The inner loops on blocks of rows, in NumPy, and which form to use: compiled where numba is installed and it pays.

With them, sums and normalisation of numbers given by their logarithms, where -inf stands for zero.
"""

from collections.abc import Callable
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any, NamedTuple
from weakref import finalize

import numpy as np
from scipy.sparse import csr_array
from scipy.special import logsumexp

from sidelight._typing import AnyArray, FloatArray, IntArray


def softmax(scores: FloatArray, offsets: FloatArray, weights: FloatArray, evidence: FloatArray) -> None:
    """Turn scores (components, rows) into ``weights * softmax(scores + offsets)`` over components, in place.

    Scores are log densities, offsets (components,) log mixing weights, which may be -inf, and ``weights`` (rows,) those
    of the rows. ``evidence`` (rows,) becomes the logarithm of the sum over components, not weighted.
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
    """Fill ``out`` with 1, x_i and products of the centred rows of a block, one feature per row of ``out``.

    The room that is left for products says which they are: all x_i x_j (i <= j), the d squares x_i² where components
    are along the axes, or the sum |x|² of these where components are round. Of one column, the three are the same.
    """
    d = block.shape[1]
    centred, products = out[1 : d + 1], out[d + 1 :]
    out[0] = 1.0
    np.subtract(block.T, centre[:, None], out=centred)
    if len(products) == 1:
        np.einsum("dn,dn->n", centred, centred, out=products[0])
    elif len(products) == d:
        np.square(centred, out=products)
    else:
        start = 0
        for i in range(d):
            np.multiply(centred[i], centred[i:], out=products[start : start + d - i])
            start += d - i


def add_neighbours(
    starts: IntArray, neighbours: AnyArray, strengths: FloatArray, posterior: AnyArray, out: FloatArray
) -> None:
    """Add the posteriors of each row's neighbours to ``out`` (rows, components), times the strengths of their links.

    The first three arguments are the fields of `Neighbours`; the posterior (linked rows, components) may be padded.
    """
    links = slice(starts[0], starts[-1])
    # Only what is looked up goes into the product, which would else turn all of a table in single precision to double.
    theirs = posterior.take(neighbours[links], axis=0)[:, : out.shape[1]]
    shape = (len(out), len(theirs))
    out += csr_array((strengths[links], np.arange(len(theirs)), starts - starts[0]), shape=shape) @ theirs


def has_missing(block: AnyArray) -> bool:
    """Say whether any cell of a block is missing: NaN."""
    # The smallest number is NaN if any is, and needs no array of its own.
    return block.size > 0 and bool(np.isnan(block.min()))


_CACHE_LINE = 64
# Multiples of 192 are never powers of two, whose strides collide in the cache.
_UNIT = 192
_CACHE_DOUBLES = 64_000


def rows_per_block(doubles_per_row: int) -> int:
    """Return the number of rows whose features and scores fit into the cache together: 192 to 3072.

    More rows would spill; fewer would spend the time between the loops instead of in them.
    """
    return _UNIT * min(max(_CACHE_DOUBLES // (doubles_per_row * _UNIT), 1), 16)


def front(buffer: FloatArray, n_rows: int, n_columns: int) -> FloatArray:
    """Return the front of a flat buffer as a contiguous (n_rows, n_columns) array, whatever the size of the block."""
    return buffer[: n_rows * n_columns].reshape(n_rows, n_columns)


def owners(starts: IntArray, n_rows: int) -> IntArray:
    """Return the group (n_rows,) of each row, where groups are consecutive rows that start at ``starts``."""
    return np.repeat(np.arange(len(starts)), np.diff(np.append(starts, n_rows)))


class QuadraticForm(NamedTuple):
    """Log densities that are one quadratic form of the row per component: what a compiled sweep needs of them.

    Parameters
    ----------
    centre : (d,)
        Where rows are measured from.
    coefficients : (padded components, features)
        Coefficients of the features that :func:`quadratic_features` makes of rows, as many as there are: those of full
        covariances, of diagonal or of spherical ones. The number of components is padded to a multiple of four.
    sums : (features, components)
        The weighted sums of features are added here.
    block_rows : int
        Rows at a time.
    feature_buffer : (features * block_rows or more,)
        Room for the features of a block: a sweep that brought its own would have the system clear it every time.
    score_buffer : (padded components * block_rows or more,)
    may_miss : bool
        Whether cells may be missing; rows that lack some are not a quadratic form.
    """

    centre: FloatArray
    coefficients: FloatArray
    sums: FloatArray
    block_rows: int
    feature_buffer: FloatArray
    score_buffer: FloatArray
    may_miss: bool = False


class Neighbours(NamedTuple):
    """Links of some rows, in the form of compressed rows.

    ``starts`` (rows + 1,) has where the neighbours of each row start in the other two, and where those of the last end;
    ``places`` (links,) where their posteriors are kept. Strengths (links,) are positive where a link pulls together,
    negative where it pushes apart.
    """

    starts: IntArray
    places: AnyArray
    strengths: FloatArray

    def part(self, rows: slice) -> "Neighbours":
        """Return those of some rows."""
        return Neighbours(self.starts[rows.start : rows.stop + 1], self.places, self.strengths)


class Links(NamedTuple):
    """The neighbours of linked rows that are updated together; none of these rows is linked to another of them.

    Parameters
    ----------
    early, late : Neighbours
        Neighbours that have been updated before these rows, and those that are updated after them.
    before, after : (linked rows, padded components)
        Posteriors of the E-step before and of this one, from :class:`PosteriorTables`. Late neighbours are looked up in
        the first, early ones in the second.
    place : int
        Where the posteriors of these rows are to be kept: the first one's row of ``after``.
    """

    early: Neighbours
    late: Neighbours
    before: AnyArray
    after: AnyArray
    place: int


class PosteriorTables:
    """Tables for posteriors, whose memory is used again once no view of a table is left.

    Memory that comes fresh from the system is filled with zeros first, which takes as long as a good part of an E-step.
    """

    def __init__(self) -> None:
        self._idle: list[AnyArray] = []

    def empty(self, n_rows: int, n_components: int, kind: type[np.floating]) -> AnyArray:
        """Return a table that is padded to a multiple of four components and starts with a cache line.

        Its rows are looked up in no order, so that lines that two of them share are fetched twice.
        """
        width = n_components + -n_components % 4
        size = n_rows * width * np.dtype(kind).itemsize
        # What is idle and too small was for fewer components and will not do later either.
        while self._idle and len(self._idle[-1]) < size + _CACHE_LINE:
            self._idle.pop()
        memory = self._idle.pop() if self._idle else np.empty(size + _CACHE_LINE, dtype=np.uint8)
        # All views of the table refer to this array, and none to the memory itself: when it goes, they are gone.
        room = np.frombuffer(memory.data, dtype=np.uint8)
        finalize(room, self._idle.append, memory).atexit = False
        start = -room.ctypes.data % _CACHE_LINE
        return room[start : start + size].view(kind).reshape(n_rows, width)


class Choice(NamedTuple):
    """Shares (rows, alternatives) that sum to one over alternatives, and what the choice is worth (rows,)."""

    shares: FloatArray
    value: FloatArray


Chooser = Callable[[FloatArray], Choice]


def softly(scores: FloatArray) -> Choice:
    """Choose in proportion to exp(score); worth the logarithm of the sum."""
    value = logsumexp(scores, axis=1)
    return Choice(np.exp(scores - value[:, None]), value)


def outright(scores: FloatArray) -> Choice:
    """Choose the highest score, the first of equals; worth that score."""
    best = scores.argmax(axis=1)
    rows = np.arange(len(scores))
    shares = np.zeros_like(scores)
    shares[rows, best] = 1.0
    return Choice(shares, scores[rows, best])


def log(numbers: FloatArray) -> FloatArray:
    """Return the logarithms; that of zero is -inf."""
    with np.errstate(divide="ignore"):
        return np.log(numbers)


def log_sum(scores: FloatArray, axis: int = -1) -> FloatArray:
    """Return ln Σ exp(scores) along an axis; -inf where everything is."""
    largest = finite(scores.max(axis=axis, keepdims=True))
    return log(np.exp(scores - largest).sum(axis=axis)) + np.squeeze(largest, axis)


def finite(largest: FloatArray) -> FloatArray:
    """Return what may be subtracted from scores with these maxima: zero in place of -inf."""
    return np.where(np.isneginf(largest), 0.0, largest)


def quotient(numerator: FloatArray, denominator: FloatArray) -> FloatArray:
    """Return the logarithm of a quotient, where nothing divided by nothing is nothing."""
    possible = denominator > -np.inf
    out: FloatArray = np.full(np.broadcast_shapes(numerator.shape, denominator.shape), -np.inf)
    return np.subtract(numerator, denominator, out=out, where=possible)


def shares(scores: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return exp(scores) scaled to sum to one over the last axis, and the logarithm of what they summed to."""
    largest = finite(scores.max(axis=-1, keepdims=True))
    exponentials = np.exp(scores - largest)
    total = exponentials.sum(axis=-1, keepdims=True)
    exponentials /= total
    return exponentials, (log(total) + largest)[..., 0]


def log_shares(scores: FloatArray, axes: tuple[int, ...]) -> tuple[FloatArray, FloatArray]:
    """Return ln r and r for r in proportion to exp(scores), which sums to one over some axes; ln r is finite."""
    log_values = scores - scores.max(axis=axes, keepdims=True)
    values = np.exp(log_values)
    total = values.sum(axis=axes, keepdims=True)
    log_values -= np.log(total)
    values /= total
    return log_values, values


def potentials(log_equal: FloatArray, log_different: FloatArray, n_classes: int) -> FloatArray:
    """Return the log potentials (..., classes, classes) of links that only tell whether two classes are equal."""
    same: AnyArray = np.eye(n_classes, dtype=bool)
    return np.where(same, log_equal[..., None, None], log_different[..., None, None])


def log_sum_of_others(scores: FloatArray) -> FloatArray:
    """Return ln Σ_{m' ≠ m} exp(score_m') for each m, along the last axis.

    Total minus own loses every digit where own is nearly all of the total; there, at the largest score, the others are
    summed by themselves.
    """
    best = scores.argmax(axis=-1)[..., None]
    top = np.take_along_axis(scores, best, axis=-1)
    rest = scores.copy()
    np.put_along_axis(rest, best, -np.inf, axis=-1)
    second = rest.max(axis=-1, keepdims=True)
    with np.errstate(divide="ignore"):
        beside_best = second + np.log(np.exp(rest - np.where(np.isfinite(second), second, 0.0)).sum(-1, keepdims=True))
        # The best itself is among the others of any other, so at least one is left.
        others = top + np.log1p(np.maximum(np.exp(beside_best - top) - np.exp(rest - top), 0.0))
    np.put_along_axis(others, best, beside_best, axis=-1)
    return others


# Importing numba and loading the compiled loops takes about a second; NumPy needs about 5 ns more per score.
_SCORES_WORTH_COMPILING = 20_000_000


def worth_compiling(n_scores: int, threshold: int = _SCORES_WORTH_COMPILING) -> bool:
    """Say whether compiled loops are quicker for about ``n_scores`` scores in all; never where numba is missing."""
    return n_scores >= threshold and find_spec("numba") is not None


class Backend(NamedTuple):
    """The inner loops, in one form or the other; sweeps, all of them in one, only where they are compiled."""

    softmax: Callable[[FloatArray, FloatArray, FloatArray, FloatArray], None]
    argmax: Callable[[FloatArray, FloatArray, FloatArray, FloatArray], None]
    quadratic_features: Callable[[FloatArray, FloatArray, FloatArray], None]
    add_neighbours: Callable[[IntArray, AnyArray, FloatArray, AnyArray, FloatArray], None]
    quadratic_sweep: Callable[..., float] | None
    linked_sweep: Callable[..., float] | None

    def __reduce__(self) -> tuple[Any, ...]:
        # Another process has loops of its own: compiled code is not sent.
        return (_numpy_loops, ()) if self is NUMPY else (compiled, ())


def _numpy_loops() -> "Backend":
    return NUMPY


NUMPY = Backend(softmax, argmax, quadratic_features, add_neighbours, None, None)


@cache
def compiled() -> Backend:
    """Return the compiled loops; raises ImportError where numba is not installed (``pip install sidelight[fast]``)."""
    loops = import_module("sidelight.kernels.compiled")
    return Backend(*(getattr(loops, name) for name in Backend._fields))


def backend_for(n_scores: int) -> Backend:
    """Return the form that is quicker for about ``n_scores`` log densities in all."""
    return compiled() if worth_compiling(n_scores) else NUMPY
