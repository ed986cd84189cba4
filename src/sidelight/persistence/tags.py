"""The classes that a saved model may be made of, by their tags: estimators, and the plain records of their state."""

from dataclasses import fields, is_dataclass
from typing import Any

from sidelight._storable import tag_of, tagged
from sidelight.estimators.registry import is_registered
from sidelight.exceptions import ForeignFileError
from sidelight.persistence.format_1 import TAGS


def is_record(cls: type) -> bool:
    """Say whether a class is a NamedTuple or dataclass with a tag, which is the sum of its fields."""
    plain = is_dataclass(cls) or (issubclass(cls, tuple) and hasattr(cls, "_fields"))
    return plain and tag_of(cls) is not None


def field_names(cls: type) -> tuple[str, ...]:
    """Return the names of a record's fields."""
    return tuple(field.name for field in fields(cls)) if is_dataclass(cls) else cls._fields  # type: ignore[attr-defined]


def class_of(name: str, number: int) -> type[Any]:
    """Return the estimator or record that a file of a format calls by a name; nothing is imported for it.

    Parameters
    ----------
    name : str
        A tag; in files of format 1, a module and a class.
    number : int
        The format of the file.
    """
    tag = TAGS.get(name) if number == 1 else name
    found = None if tag is None else tagged(tag)
    if found is None or not (is_registered(found) or is_record(found)):
        raise ForeignFileError(
            f"it names {name!r}, which is not a class that models of this sidelight are made of; where another package "
            "adds it, import that package first"
        )
    return found
