"""Turn JSON and plain arrays back into a model; the forms are those of `encoding`."""

import base64
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from sidelight._storable import tag_of, tagged
from sidelight._typing import AnyArray
from sidelight.exceptions import ForeignFileError
from sidelight.persistence.encoding import (
    SPARSE,
    field_names,
    is_estimator,
    is_plain_scalar,
    is_record,
    optional_field_names,
)
from sidelight.persistence.format_1 import DROPPED, TAGS, DroppedParameter, upgraded, without_dropped
from sidelight.side.parsing.columns import have_one_width

_NO_NUMERAL = {text: float(text) for text in ("nan", "inf", "-inf")}


class Decoder:
    """Decodes values of a file of format ``number``, taking their arrays from its arrays by name.

    ``dropped`` are parameters of estimators that files of format 1 may still have. The names of arrays that no value
    has asked for are in ``unused``.
    """

    def __init__(
        self,
        arrays: Mapping[str, AnyArray],
        number: int,
        *,
        dropped: Mapping[str, Mapping[str, DroppedParameter]] = DROPPED,
    ) -> None:
        self.unused = set(arrays)
        self._dropped = dropped if number == 1 else {}
        self._number = number
        self._arrays = arrays
        self._forms: dict[str, Callable[[Any], Any]] = {
            "float": _NO_NUMERAL.__getitem__,
            "int": lambda text: int(text, 16),
            "bytes": lambda text: base64.b64decode(text, validate=True),
            "tuple": lambda items: tuple(self._items(items)),
            "dict": lambda entries: {self.decode(key): self.decode(value) for key, value in entries},
            "scalar": self._scalar,
            "array": self._array,
            "strings": _strings,
            "objects": self._objects,
            "sparse": self._sparse,
            "object": self._object,
        }

    def decode(self, form: Any) -> Any:
        """Return the value that JSON stands for."""
        if isinstance(form, list):
            return self._items(form)
        if not isinstance(form, dict):
            return form
        (kind, content), *others = form.items()
        if others or kind not in self._forms:
            raise ForeignFileError(f"it holds an object with the keys {sorted(form)}, which stands for nothing")
        return self._forms[kind](content)

    def _items(self, forms: list[Any]) -> list[Any]:
        return [self.decode(form) for form in forms]

    def _scalar(self, content: Any) -> Any:
        code, form = content
        dtype = np.dtype(code)
        if not is_plain_scalar(dtype):
            raise ForeignFileError(f"it holds a scalar of type {dtype}, which saved models never have")
        return dtype.type(self.decode(form))

    def _array(self, name: str) -> AnyArray:
        if name not in self._arrays:
            raise ForeignFileError(f"it names the array {name!r}, which the arrays file does not hold")
        self.unused.discard(name)
        return self._arrays[name]

    def _objects(self, content: Any) -> AnyArray:
        shape, items = content
        array = np.empty(len(items), dtype=object)
        for n, form in enumerate(items):
            array[n] = self.decode(form)
        return array.reshape(shape)

    def _sparse(self, content: Any) -> Any:
        name, shape, *forms = content
        data, indices, indptr = self._items(forms)
        matrix = SPARSE[name]((data, indices, indptr), shape=tuple(shape))
        # The constructor may choose a smaller type for these.
        matrix.indices, matrix.indptr = indices, indptr
        # Indices out of range would have compiled loops read what is not theirs.
        matrix.check_format(full_check=True)
        return matrix

    def _object(self, content: Any) -> Any:
        name, forms = content
        cls = _class_of(name, self._number)
        attributes = {name: self.decode(form) for name, form in forms.items()}
        if self._number == 1:
            attributes = upgraded(tag_of(cls), attributes)
        if not is_estimator(cls):
            return _record(cls, attributes)
        return _estimator(cls, without_dropped(tag_of(cls), attributes, self._dropped))


def _class_of(name: str, number: int) -> type[Any]:
    """Return the estimator or record with a tag (in format 1, a module and a class); nothing is imported for it."""
    tag = TAGS.get(name) if number == 1 else name
    found = None if tag is None else tagged(tag)
    if found is None or not (is_estimator(found) or is_record(found)):
        raise ForeignFileError(
            f"it names {name!r}, which is not a class that models of this sidelight are made of; where another package "
            "adds it, import that package first"
        )
    return found


def _strings(content: Any) -> AnyArray:
    shape, items = content
    if not all(isinstance(item, str) for item in items):
        raise ForeignFileError("it holds an array of strings with cells that are none")
    if not have_one_width(items):
        # An array of strings has room for the longest in each of its cells.
        raise ForeignFileError("it holds an array of strings that would take far more room than the file")
    return np.array(items, dtype=str).reshape(shape)


def _record(cls: type[Any], attributes: dict[str, Any]) -> Any:
    # A field that was added since the file was written has a default.
    absent = set(field_names(cls)) - set(attributes) - optional_field_names(cls)
    different = absent | (set(attributes) - set(field_names(cls)))
    if different:
        raise ForeignFileError(
            f"its {cls.__name__} and that of this version of sidelight differ in {sorted(different)}"
        )
    return cls(**attributes)


def _estimator(cls: type[Any], attributes: dict[str, Any]) -> Any:
    names = set(cls._get_param_names())
    parameters = {name: value for name, value in attributes.items() if name in names}
    state = {name: value for name, value in attributes.items() if name not in names}
    # What is fitted begins or ends with an underscore; anything else is a parameter of another version.
    unknown = sorted(name for name in state if not name.startswith("_") and not name.endswith("_"))
    if unknown:
        raise ForeignFileError(f"its {cls.__name__} has parameters that this version of sidelight lacks: {unknown}")
    model = cls(**parameters)
    vars(model).update(state)
    return model
