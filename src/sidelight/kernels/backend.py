"""Which form of the inner loops to use: compiled where numba is installed and there is enough to do, else NumPy."""

from collections.abc import Callable
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import NamedTuple

from sidelight._typing import AnyArray, FloatArray, IntArray
from sidelight.kernels import plain

# Importing numba and loading the compiled loops takes about a second; NumPy needs about 5 ns more per score.
_SCORES_WORTH_COMPILING = 20_000_000


class Backend(NamedTuple):
    """The inner loops, in one form or the other; sweeps, all of them in one, only where they are compiled."""

    softmax: Callable[[FloatArray, FloatArray, FloatArray, FloatArray], None]
    argmax: Callable[[FloatArray, FloatArray, FloatArray, FloatArray], None]
    quadratic_features: Callable[[FloatArray, FloatArray, FloatArray], None]
    add_neighbours: Callable[[IntArray, AnyArray, FloatArray, AnyArray, FloatArray], None]
    quadratic_sweep: Callable[..., float] | None
    linked_sweep: Callable[..., float] | None


NUMPY = Backend(plain.softmax, plain.argmax, plain.quadratic_features, plain.add_neighbours, None, None)


@cache
def compiled() -> Backend:
    """Return the compiled loops; raises ImportError where numba is not installed (``pip install sidelight[fast]``)."""
    loops = import_module("sidelight.kernels.compiled")
    return Backend(*(getattr(loops, name) for name in Backend._fields))


def backend_for(n_scores: int) -> Backend:
    """Return the form that is quicker for about ``n_scores`` log densities in all."""
    if n_scores >= _SCORES_WORTH_COMPILING and find_spec("numba") is not None:
        return compiled()
    return NUMPY
