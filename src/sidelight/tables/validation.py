"""From what users pass to ``fit`` and ``predict`` to arrays, or to an error that says what is wrong and where."""

from typing import Any

import narwhals as nw
import numpy as np
from scipy.sparse import issparse
from sklearn.base import BaseEstimator
from sklearn.utils.validation import _check_sample_weight, validate_data

from sidelight._typing import AnyArray, FloatArray
from sidelight.inference.rows import Rows
from sidelight.tables.frame import as_frame
from sidelight.tables.survey import Survey, survey


def read_table(estimator: BaseEstimator, X: Any, *, reset: bool) -> AnyArray:
    """Return X as an array of floats; a memory-mapped one stays mapped, float32 stays float32.

    Whether all cells are finite is not looked at here: that takes a pass over the table.
    """
    _refuse_text_columns(X)
    return validate_data(
        estimator,
        X,
        reset=reset,
        dtype=[np.float64, np.float32],
        ensure_all_finite=False,
        ensure_min_samples=1,
    )


def _refuse_text_columns(X: Any) -> None:
    frame = as_frame(X)
    if frame is None:
        return
    for name, kind in frame.schema.items():
        if not (kind.is_numeric() or kind in (nw.Boolean, nw.Object)):
            raise ValueError(
                f"X: column {name!r} holds {kind}, not numbers. Leave it out, or encode it "
                "(scikit-learn's OneHotEncoder, say) before fitting."
            )


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


def _holds_text(X: Any) -> bool:
    if issparse(X):
        return False
    array = np.asarray(X)
    if array.dtype == object:
        return any(isinstance(cell, str) for cell in array.flat)
    return array.dtype.kind in "US"


def read_weights(sample_weight: Any, X: AnyArray) -> FloatArray | None:
    """Return the row weights, None where there are none."""
    if sample_weight is None:
        return None
    weights: FloatArray = _check_sample_weight(sample_weight, X, dtype=np.float64)
    if (weights < 0).any():
        row = int(np.argmax(weights < 0))
        raise ValueError(f"sample_weight: the weight of row {row} is {weights[row]}; weights cannot be negative.")
    if not weights.any():
        raise ValueError("sample_weight: all weights are zero; at least one row must count.")
    return weights


def survey_finite(estimator: BaseEstimator, rows: Rows) -> Survey:
    """Survey the table and refuse NaN, infinity and what is nearly so, saying where the first one stands."""
    found = survey(rows)
    if found.first_bad is not None:
        row, column = found.first_bad
        value = rows.X[row, column]
        names = getattr(estimator, "feature_names_in_", None)
        where = f"row {row}, column {column}" if names is None else f"row {row}, column {names[column]!r}"
        if np.isfinite(value):
            raise ValueError(f"X contains {value} in {where}, too large to square; rescale the column.")
        kind = "NaN (a missing value)" if np.isnan(value) else "infinity"
        raise ValueError(
            f"X contains {kind} in {where}. {type(estimator).__name__} needs a number in every cell: "
            "fill missing ones in (sklearn.impute.SimpleImputer) or leave the row or column out."
        )
    return found
