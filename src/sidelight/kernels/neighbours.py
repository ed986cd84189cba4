"""Links between rows, as the inner loops take them."""

from typing import NamedTuple
from weakref import finalize

import numpy as np

from sidelight._typing import AnyArray, FloatArray, IntArray

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
    """Tables for posteriors, whose memory is used again once nobody holds a table any longer.

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
