"""Parameters under the name that another estimator has for them: the error says which name is meant."""

import difflib
import inspect
from collections.abc import Callable
from functools import wraps
from typing import Any

# How estimators call the number of groups that they make.
_NUMBERS = ("n_components", "n_clusters", "n_classes", "n_processes", "k")


def suggesting_names(init: Callable[..., None]) -> Callable[..., None]:
    """Make an ``__init__`` say which parameter was meant where it is given one that it does not have."""
    known = list(inspect.signature(init).parameters)[1:]

    @wraps(init)
    def checked(estimator: Any, *args: Any, **kwargs: Any) -> None:
        unknown = next((name for name in kwargs if name not in known), None)
        if unknown is not None:
            raise TypeError(
                f"{type(estimator).__name__} has no parameter {unknown!r}{_meant(unknown, known)} It has "
                f"{', '.join(known)}."
            )
        init(estimator, *args, **kwargs)

    return checked


def _meant(name: str, known: list[str]) -> str:
    same = [other for other in _NUMBERS if other in known] if name in _NUMBERS else []
    close = same or difflib.get_close_matches(name, known, n=1)
    return f"; did you mean {close[0]}?" if close else "."
