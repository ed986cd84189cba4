"""Links between rows, as the inner loops take them."""

from typing import NamedTuple

import numpy as np

from sidelight.kernels.arrays import AnyArray, FloatArray, IntArray

_CACHE_LINE = 64


class Neighbours(NamedTuple):
    """Links of some rows, in the form of compressed rows.

    Parameters
    ----------
    starts : (rows + 1,)
        Where the neighbours of each row start in ``places`` and ``strengths``, and where those of the last end.
    places : (links,)
        Where the posteriors of the neighbours are kept.
    strengths : (links,)
        Positive where a link pulls together, negative where it pushes apart.
    """

    starts: IntArray
    places: AnyArray
    strengths: FloatArray

    def part(self, rows: slice) -> "Neighbours":
        """Return those of some rows."""
        return Neighbours(self.starts[rows.start : rows.stop + 1], self.places, self.strengths)


class Links(NamedTuple):
    """What linked rows, none of which is linked to another of them, need to know of their neighbours.

    Parameters
    ----------
    early, late : Neighbours
        Those that have been updated before these rows, and those that will be after them.
    before, after : (linked rows, padded components)
        Posteriors of the E-step before and of this one, from :func:`posterior_table`. Late neighbours are looked up in
        the first, early ones in the second.
    place : int
        Where the posteriors of these rows are to be kept: the first one's row of ``after``.
    """

    early: Neighbours
    late: Neighbours
    before: AnyArray
    after: AnyArray
    place: int


def posterior_table(n_rows: int, n_components: int, kind: type[np.floating]) -> AnyArray:
    """Return an empty table for posteriors, padded to a multiple of four components, at the start of a cache line.

    Rows are looked up all over the table: where a whole number of them shares a line, or of lines a row, the least
    number of lines is fetched.
    """
    width = n_components + -n_components % 4
    size = n_rows * width * np.dtype(kind).itemsize
    room = np.empty(size + _CACHE_LINE, dtype=np.uint8)
    start = -room.ctypes.data % _CACHE_LINE
    return room[start : start + size].view(kind).reshape(n_rows, width)
