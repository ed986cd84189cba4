"""Tags of the classes that saved models are made of.

A saved model names a class by its tag and never by its module, so that files can be moved and classes renamed without
breaking saved models. A tag is given once and stays.
"""

from collections.abc import Callable
from typing import Any, TypeVar

Record = TypeVar("Record", bound=type[Any])

_CLASSES: dict[str, type[Any]] = {}
_TAGS: dict[type[Any], str] = {}


def storable(tag: str) -> Callable[[Record], Record]:
    """Give a NamedTuple, dataclass or estimator the tag that files call it by; used as a decorator.

    Parameters
    ----------
    tag : str
        Of no other class. Code outside sidelight prefixes its own name, as in "mypackage.Weibull".
    """

    def mark(cls: Record) -> Record:
        other = _CLASSES.get(tag)
        if other is not None and (other.__module__, other.__qualname__) != (cls.__module__, cls.__qualname__):
            raise ValueError(f"tag {tag!r} belongs to {other.__module__}.{other.__qualname__}; choose another.")
        _CLASSES[tag], _TAGS[cls] = cls, tag
        return cls

    return mark


def tag_of(cls: type[Any]) -> str | None:
    """Return the tag of a class, None where it has none."""
    return _TAGS.get(cls)


def tagged(tag: str) -> type[Any] | None:
    """Return the class of a tag, None where no class that has been imported has it."""
    return _CLASSES.get(tag)
