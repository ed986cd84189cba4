"""The classes that a saved model may be made of: estimators, and the plain records of their state."""

import re
from dataclasses import fields, is_dataclass
from importlib import import_module
from typing import Any

from sidelight.estimators.registry import all_estimators
from sidelight.persistence.errors import ForeignFileError

# Rooms whose records make up the state of estimators. A file can name modules of these only, so that reading one
# never imports anything else.
_ROOMS = (
    "admixture",
    "baselines",
    "couplings",
    "estimators",
    "families",
    "inference",
    "metrics",
    "side",
    "weights",
)
_MODULE = re.compile(rf"sidelight\.({'|'.join(_ROOMS)})(\.[a-z][a-z0-9_]*)*")
_CLASS = re.compile(r"[A-Z][A-Za-z0-9]*")


def is_estimator(cls: type) -> bool:
    """Say whether a class is one of sidelight's public estimators."""
    return any(cls is estimator for _, estimator in all_estimators())


def is_record(cls: type) -> bool:
    """Say whether a class is a NamedTuple or dataclass of sidelight, which is the sum of its fields."""
    plain = is_dataclass(cls) or (issubclass(cls, tuple) and hasattr(cls, "_fields"))
    return plain and _MODULE.fullmatch(cls.__module__) is not None and _CLASS.fullmatch(cls.__qualname__) is not None


def field_names(cls: type) -> tuple[str, ...]:
    """Return the names of a record's fields."""
    return tuple(field.name for field in fields(cls)) if is_dataclass(cls) else cls._fields  # type: ignore[attr-defined]


def address_of(cls: type) -> str:
    """Return what a file calls a class: its module and its name."""
    return f"{cls.__module__}:{cls.__qualname__}"


def class_at(address: str) -> type[Any]:
    """Return the estimator or record of an address; anything else is refused, and nothing else is imported."""
    module_name, _, name = address.partition(":")
    if _MODULE.fullmatch(module_name) is None or _CLASS.fullmatch(name) is None:
        raise ForeignFileError(f"it names {address!r}, which is no class that models are made of")
    try:
        found = getattr(import_module(module_name), name, None)
    except ImportError:
        found = None
    if not isinstance(found, type) or found.__module__ != module_name:
        raise ForeignFileError(f"it names {address!r}, which this version of sidelight does not have")
    if not (is_estimator(found) or is_record(found)):
        raise ForeignFileError(f"it names {address!r}, which is no class that models are made of")
    return found
