"""Warnings that point to the line of the user's program, however deep they arise."""

import sys
import warnings
from types import FrameType

# Code between the user's program and ours: searches and cross-validation call estimators through these, and in worker
# processes and threads there is nothing else.
_BETWEEN = frozenset({"sidelight", "sklearn", "joblib", "contextlib", "functools"})
_WORKERS = frozenset({"concurrent", "multiprocessing", "runpy", "threading"})


def warn(message: str, category: type[Warning] = UserWarning) -> None:
    """Issue a warning with the place where the user's program called sidelight, or scikit-learn around it.

    Where there is no such place, as in a worker process of a search, it is the caller of this function.
    """
    warnings.warn(message, category, stacklevel=_levels())


def _levels() -> int:
    """Return how many calls above `warn` the user's program is."""
    frame, level = sys._getframe(2), 2
    while _package(frame) in _BETWEEN | _WORKERS:
        if frame.f_back is None:
            return 2
        frame, level = frame.f_back, level + 1
    return level


def _package(frame: FrameType) -> str:
    """Return the name of the package that a frame runs code of; workers run a module of theirs as the program."""
    spec = frame.f_globals.get("__spec__")
    name = frame.f_globals.get("__name__") if spec is None else spec.name
    return str(name).partition(".")[0]
