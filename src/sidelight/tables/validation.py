"""What users pass to an estimator: parameters and tables, checked, or an error that says what is wrong and where."""

from collections.abc import Collection, Sequence
from numbers import Integral, Real
from typing import Any

import narwhals as nw
import numpy as np
from scipy.sparse import issparse
from sklearn.base import BaseEstimator
from sklearn.utils.validation import _check_sample_weight, validate_data

from sidelight._typing import AnyArray, FloatArray

# How many values a message shows of many.
SHOWN = 5
# Sums of rows that count for more could overflow.
_LARGEST_TOTAL = 1e100


def check_choice(name: str, value: Any, choices: Collection[str]) -> None:
    """Refuse a value that is none of the choices."""
    if not isinstance(value, str) or value not in choices:
        options = ", ".join(repr(choice) for choice in choices)
        raise ValueError(f"{name}={value!r} is not known; choose one of {options}.")


def check_integer(name: str, value: Any, *, least: int) -> None:
    """Refuse anything but a whole number of at least ``least``."""
    if not isinstance(value, Integral) or isinstance(value, bool) or value < least:
        raise ValueError(f"{name}={value!r} must be a whole number of at least {least}.")


def check_number(name: str, value: Any, *, least: float, most: float = float("inf")) -> None:
    """Refuse anything but a number from ``least`` to ``most``."""
    if not isinstance(value, Real) or isinstance(value, bool) or not least <= float(value) <= most:
        bounds = f"of at least {least}" if most == float("inf") else f"from {least} to {most}"
        raise ValueError(f"{name}={value!r} must be a number {bounds}.")


def as_frame(X: Any) -> "nw.DataFrame[Any] | None":
    """Return X as a frame, None where it is none."""
    if isinstance(X, np.ndarray):
        return None
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    return frame if isinstance(frame, nw.DataFrame) else None


def column_names(X: Any) -> tuple[Any, ...] | None:
    """Return the names of a frame's columns, None for an array."""
    frame = as_frame(X)
    return None if frame is None else tuple(frame.columns)


def column_label(number: int, names: Sequence[Any] | AnyArray | None) -> str:
    """Return what messages call a column."""
    return f"column {number}" if names is None else f"column {names[number]!r}"


def some_of(values: Any) -> str:
    """Return the first few of a sequence of values, as messages write them."""
    shown = ", ".join(repr(value) for value in values[:SHOWN])
    return shown if len(values) <= SHOWN else f"{shown}, … ({len(values)} in all)"


def read_table(estimator: BaseEstimator, X: Any, *, reset: bool) -> AnyArray:
    """Return X as an array of floats; a memory-mapped one stays mapped, float32 stays float32.

    Whether all cells are finite is not looked at here: that takes a pass over the table.
    """
    refuse_text_columns(X)
    return validate_data(
        estimator,
        X,
        reset=reset,
        dtype=[np.float64, np.float32],
        ensure_all_finite=False,
        ensure_min_samples=1,
    )


def refuse_text_columns(X: Any) -> None:
    """Refuse a frame, an array or a list with columns that do not hold numbers."""
    frame = as_frame(X)
    if frame is None:
        _refuse_text_cells(X)
        return
    for name, kind in frame.schema.items():
        if not (kind.is_numeric() or kind in (nw.Boolean, nw.Object)):
            raise ValueError(
                f"X: column {name!r} holds {kind}, not numbers. Leave it out, encode it (scikit-learn's OneHotEncoder, "
                "say), or use GuidedMixture or BayesianMixture, which take columns of text."
            )
        if kind == nw.Object:
            _refuse_text(f"column {name!r}", frame[name].to_list())


def _refuse_text_cells(X: Any) -> None:
    """Refuse an array of objects or text, or a list that becomes one, with cells that are not numbers."""
    array = np.array(X, dtype=object) if isinstance(X, list) and _is_rectangle(X) else X
    if isinstance(array, np.ndarray) and array.dtype.kind in "OU" and array.ndim == 2:
        for number, column in enumerate(array.T):
            _refuse_text(f"column {number}", column.tolist())


def _is_rectangle(rows: list[Any]) -> bool:
    return all(isinstance(row, list | tuple) for row in rows) and len({len(row) for row in rows}) == 1


def _refuse_text(column: str, cells: list[Any]) -> None:
    for row, cell in enumerate(cells):
        if isinstance(cell, str) and not _is_number(cell):
            raise ValueError(
                f"X: {column} holds {cell!r} in row {row}, which is not a number. Correct the cell, or leave the "
                "column out; where text is missing data, replace it by NaN."
            )


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def admit_table(estimator: BaseEstimator, X: Any, *, sparse: bool, reset: bool) -> Any:
    """Return a table whose shape and column names scikit-learn has checked, its columns of any kind.

    A frame stays one; an array that holds text becomes one of objects; any other, one of floats or booleans, mapped if
    it was; a sparse one, where that is allowed, CSR. What the cells are is not looked at.
    """
    frame = as_frame(X)
    if frame is not None:
        validate_data(estimator, X, reset=reset, skip_check_array=True)
        if 0 in frame.shape:
            raise ValueError(
                f"X has {frame.shape[0]} rows and {frame.shape[1]} columns; at least one of each is needed."
            )
        return frame
    text = _holds_text(X)
    return validate_data(
        estimator,
        np.asarray(X, dtype=object) if text else X,
        reset=reset,
        accept_sparse="csr" if sparse else False,
        dtype=object if text else [np.float64, np.float32, np.bool_],
        ensure_all_finite=False,
        ensure_min_samples=1,
    )


def admit_columns(estimator: BaseEstimator, X: Any, *, reset: bool) -> None:
    """Let scikit-learn check number and names of the columns of a table, of which no row is looked at."""
    validate_data(estimator, X, reset=reset, skip_check_array=True)


def as_frame_or_array(X: Any) -> Any:
    """Return rows of a table as :func:`admit_table` would, where their columns are checked already."""
    frame = as_frame(X)
    return np.asarray(X) if frame is None else frame


def _holds_text(X: Any) -> bool:
    if issparse(X):
        return False
    array = np.asarray(X)
    if array.dtype == object:
        return any(isinstance(cell, str) for cell in array.flat)
    return array.dtype.kind in "US"


def refuse_other_order(X: Any, **columns: Any) -> None:
    """Refuse columns of pandas, by the names of the arguments, whose index has the labels of X in another order.

    By position they would go to other rows than by their index, and which of the two is meant cannot be known.
    """
    index: Any = getattr(X, "index", None)
    if not hasattr(index, "equals"):  # not a frame of pandas
        return
    for name, column in columns.items():
        other: Any = getattr(column, "index", None)
        if not hasattr(other, "equals") or len(other) != len(index) or other.equals(index):
            continue
        if index.is_unique and index.isin(other).all():
            raise ValueError(
                f"{name}: its index has the labels of X's in another order. Pass {name}.reindex(X.index) where rows go "
                f"by their index, or {name}.to_numpy() where they go by their position."
            )


def read_weights(sample_weight: Any, n_rows: int) -> FloatArray | None:
    """Return the row weights, None where there are none."""
    if sample_weight is None:
        return None
    weights: FloatArray = _check_sample_weight(sample_weight, np.empty((n_rows, 0)), dtype=np.float64)
    if (weights < 0).any():
        row = int(np.argmax(weights < 0))
        raise ValueError(f"sample_weight: the weight of row {row} is {weights[row]}; weights cannot be negative.")
    with np.errstate(over="ignore"):
        total = weights.sum()
    if total > _LARGEST_TOTAL:
        raise ValueError(
            f"sample_weight: the weights add up to more than {_LARGEST_TOTAL:g}; divide them by a common number."
        )
    if not weights.any():
        raise ValueError("sample_weight: all weights are zero; at least one row must count.")
    return weights
