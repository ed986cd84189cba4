"""From a table to numbers, by its schema."""

from itertools import repeat
from typing import Any

import numpy as np
from scipy.sparse import csr_array, issparse

from sidelight._typing import AnyArray, FloatArray
from sidelight._warnings import warn
from sidelight.tables.frame import RawColumn, raw_columns
from sidelight.tables.kinds import kind_named
from sidelight.tables.power import transformed
from sidelight.tables.schema import Schema, check_holds
from sidelight.tables.validation import as_frame, some_of


def encode(X: Any, schema: Schema) -> Any:
    """Return a table as numbers: floats with NaN where a cell is missing, or CSR for a sparse one.

    Categories become their codes, booleans 0 and 1. A category that the fitted table did not have becomes missing, with
    a warning that names it. Columns with a transform are transformed; an array of floats without transforms and
    categories is handed back as it is.

    Parameters
    ----------
    X : frame, (n, d) array of floats, booleans or objects, or sparse array
    schema : Schema
    """
    if issparse(X):
        return _canonical(csr_array(X))
    if as_frame(X) is None and X.dtype.kind == "f" and all(found is None for found in schema.categories):
        return transformed(X, schema.powers)
    encoded: list[AnyArray] = []
    for raw, kind, categories in zip(raw_columns(X), schema.kinds, schema.categories, strict=True):
        encoded.append(_as_numbers(raw, kind, categories))
    single = all(values.dtype == np.float32 for values in encoded)
    table = np.empty(X.shape, dtype=np.float32 if single else np.float64)
    for number, values in enumerate(encoded):
        table[:, number] = values
    return transformed(table, schema.powers)


def _canonical(X: "csr_array[Any]") -> "csr_array[Any]":
    """Return a sparse table in which every cell stands once."""
    if X.has_canonical_format:
        return X
    copy = X.copy()
    copy.sum_duplicates()
    return copy


def _as_numbers(raw: RawColumn, name: str, categories: tuple[Any, ...] | None) -> AnyArray:
    """Return a column as numbers; what a column that takes no part holds now does not matter."""
    kind = kind_named(name)
    if kind.ignores:
        text = raw.values.dtype == object or categories is not None
        return _codes(raw, categories or ()) if text else raw.values
    check_holds(raw, name)
    if categories is None:
        return raw.values
    _warn_unseen(raw, categories)
    return _codes(raw, categories)


def _codes(raw: RawColumn, categories: tuple[Any, ...]) -> FloatArray:
    """Return the codes of a column's cells, NaN where one is missing or of no category."""
    codes: dict[Any, float] = {category: code for code, category in enumerate(categories)}
    cells = raw.cells()
    return np.fromiter(map(codes.get, cells, repeat(np.nan)), float, len(cells))


def _warn_unseen(raw: RawColumn, categories: tuple[Any, ...]) -> None:
    unseen = set(raw.cells()) - {*categories, None}
    if unseen:
        warn(
            f"X: {raw.label} has categories that it did not have when the model was fitted: "
            f"{some_of(sorted(unseen, key=str))}. These cells are taken as missing.",
        )
