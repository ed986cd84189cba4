"""Turn a model into JSON and plain arrays.

None, booleans, whole numbers, finite floats, strings and lists are what JSON calls them. Everything else is an object
with one key, which says what it is::

    {"float": "nan"}                          floats without a numeral: nan, inf, -inf
    {"int": "0x…"}                            whole numbers beyond 64 bits
    {"bytes": "…"}                            in base 64
    {"tuple": […]}
    {"dict": [[key, value], …]}
    {"scalar": ["<i8", 3]}                    a NumPy scalar: its type and value
    {"array": "means_"}                       an array of numbers: its name in the arrays file
    {"strings": [[2], ["a", "b"]]}            an array of strings: shape, cells
    {"objects": [[2], ["a", null]]}           an array of objects: shape, cells
    {"sparse": ["csr_array", [2, 3], …]}      type, shape; values, indices and pointers as arrays
    {"object": ["tag", {…}]}                  an estimator or a record: the tag of its class, attributes by name
"""

import base64
import math
from dataclasses import MISSING, fields, is_dataclass
from typing import Any

import numpy as np
from scipy.sparse import csc_array, csc_matrix, csr_array, csr_matrix, issparse
from sklearn.base import BaseEstimator

from sidelight._storable import tag_of
from sidelight._typing import AnyArray
from sidelight.persistence.archive import is_plain
from sidelight.side.parsing.columns import have_one_width
from sidelight.tables.dask import is_dask

SPARSE = {cls.__name__: cls for cls in (csr_array, csc_array, csr_matrix, csc_matrix)}
_WORD = 2**63


def is_estimator(cls: type) -> bool:
    """Say whether a class is an estimator with a tag."""
    return issubclass(cls, BaseEstimator) and tag_of(cls) is not None


def is_record(cls: type) -> bool:
    """Say whether a class is a NamedTuple or dataclass with a tag, which is the sum of its fields."""
    plain = is_dataclass(cls) or (issubclass(cls, tuple) and hasattr(cls, "_fields"))
    return plain and tag_of(cls) is not None


def field_names(cls: type) -> tuple[str, ...]:
    """Return the names of a record's fields."""
    return tuple(field.name for field in fields(cls)) if is_dataclass(cls) else cls._fields  # type: ignore[attr-defined]


def optional_field_names(cls: type) -> set[str]:
    """Return the names of a record's fields that have defaults."""
    if is_dataclass(cls):
        return {field.name for field in fields(cls) if field.default is not MISSING}
    return set(cls._field_defaults)  # type: ignore[attr-defined]


def is_plain_scalar(dtype: np.dtype[Any]) -> bool:
    """Say whether a NumPy scalar of a type has a Python counterpart that is equal to it."""
    return dtype.kind in "biufU" and (is_plain(dtype) or dtype.kind == "U")


class Encoder:
    """Encodes values one after the other and collects their arrays.

    Attributes
    ----------
    arrays : dict
        Arrays by name. One that is met twice is kept once.
    """

    def __init__(self) -> None:
        self.arrays: dict[str, AnyArray] = {}
        self._names: dict[int, str] = {}

    def encode(self, value: Any, path: tuple[str, ...]) -> Any:
        """Return a value as JSON; arrays are named by its path from the model, and errors name it."""
        kind = type(value)
        if value is None or kind in (bool, str):
            return value
        if kind is int:
            return value if -_WORD <= value < _WORD else {"int": hex(value)}
        if kind is float:
            return value if math.isfinite(value) else {"float": str(value)}
        if kind is bytes:
            return {"bytes": base64.b64encode(value).decode("ascii")}
        if kind is list:
            return self._items(value, path)
        if kind is tuple:
            return {"tuple": self._items(value, path)}
        if kind is dict:
            return {"dict": [self._entry(n, key, item, path) for n, (key, item) in enumerate(value.items())]}
        if isinstance(value, np.generic) and is_plain_scalar(value.dtype):
            return {"scalar": [value.dtype.str, self.encode(value.item(), path)]}
        if kind in (np.ndarray, np.memmap):
            return self._array(value, path)
        if issparse(value) and kind in SPARSE.values():
            parts = {name: getattr(value, name) for name in ("data", "indices", "indptr")}
            shape = [int(length) for length in value.shape]
            return {"sparse": [kind.__name__, shape, *(self._array(p, (*path, name)) for name, p in parts.items())]}
        if is_estimator(kind):
            return self._object(kind, vars(value), path)
        if is_record(kind):
            return self._object(kind, {name: getattr(value, name) for name in field_names(kind)}, path)
        if is_dask(value):  # results of rows that are on a cluster; a file holds them themselves
            return self.encode(value.compute(), path)
        raise _unsavable(value, path)

    def _items(self, values: Any, path: tuple[str, ...]) -> list[Any]:
        return [self.encode(value, (*path, str(n))) for n, value in enumerate(values)]

    def _entry(self, number: int, key: Any, value: Any, path: tuple[str, ...]) -> list[Any]:
        step = key if isinstance(key, str) and key.isidentifier() else str(number)
        return [self.encode(key, (*path, step)), self.encode(value, (*path, step))]

    def _object(self, cls: type, attributes: dict[str, Any], path: tuple[str, ...]) -> dict[str, Any]:
        encoded = {name: self.encode(value, (*path, name)) for name, value in attributes.items()}
        return {"object": [tag_of(cls), encoded]}

    def _array(self, array: AnyArray, path: tuple[str, ...]) -> dict[str, Any]:
        if array.dtype.kind == "U" and have_one_width(array.ravel().tolist()):
            return {"strings": [list(array.shape), array.ravel().tolist()]}
        if array.dtype.kind in "OU":
            return {"objects": [list(array.shape), self._items(array.ravel().tolist(), path)]}
        if not is_plain(array.dtype):
            raise _unsavable(array, path)
        if id(array) not in self._names:
            self._names[id(array)] = ".".join(path[1:])
            self.arrays[self._names[id(array)]] = np.asarray(array)
        return {"array": self._names[id(array)]}


def _unsavable(value: Any, path: tuple[str, ...]) -> TypeError:
    place = ".".join(path)
    if isinstance(value, np.random.RandomState | np.random.Generator | np.random.BitGenerator):
        return TypeError(
            f"{place} is a live random generator ({type(value).__name__}), which a saved model cannot hold; set "
            "random_state to a whole number or None before saving, such as model.set_params(random_state=0)."
        )
    if isinstance(value, np.ndarray):
        return TypeError(f"{place} is an array of type {value.dtype}, which differs between machines; use float64.")
    if callable(value):
        return TypeError(
            f"{place} is a function ({value!r}), and code is never saved with a model; take it out before saving, such "
            f"as model.set_params({path[1] if len(path) > 1 else 'name'}=None), and set it again after loading."
        )
    return TypeError(
        f"{place} is of type {type(value).__module__}.{type(value).__qualname__}, which a saved model cannot hold; use "
        "numbers, strings, lists, tuples, dicts and NumPy or SciPy CSR/CSC arrays."
    )
