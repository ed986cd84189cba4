"""The table that an estimator was fitted to: cells as numbers, a chunk of rows at a time."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.utils.validation import check_is_fitted

from sidelight._typing import AnyArray, FloatArray, IntArray
from sidelight.tables.encoding import encode
from sidelight.tables.kinds import ColumnKind, kind_named
from sidelight.tables.schema import Schema
from sidelight.tables.validation import as_frame, column_names

CHUNK_ROWS = 20_000


@dataclass(frozen=True, eq=False)
class FittedTable:
    """A table (array, sparse array or frame), the schema that the estimator learnt from it, and names to show."""

    cells: Any
    columns: Schema
    names: list[str]
    chunk_rows: int = CHUNK_ROWS

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.cells.shape[0])

    @property
    def kinds(self) -> list[ColumnKind]:
        """The kind of each column."""
        return [kind_named(name) for name in self.columns.kinds]

    @cached_property
    def usual(self) -> FloatArray | None:
        """The usual value of each column (d,), NaN for those without one; None where no column has one."""
        return self.columns.usual_values()

    @property
    def has_categories(self) -> bool:
        """Whether some column has categories."""
        return any(categories is not None for categories in self.columns.categories)

    @property
    def is_sparse(self) -> bool:
        """Whether most cells are zero and only the others are stored."""
        return bool(issparse(self.cells))

    @property
    def is_compositional(self) -> bool:
        """Whether cells count as shares of the sum of their row, as in sparse tables of counts."""
        return self.is_sparse or any(kind.compositional for kind in self.kinds)

    def rows(self, numbers: slice | IntArray) -> Any:
        """Return rows (m, d) in original units, NaN for missing cells, codes for categories; CSR if sparse."""
        cells = self.cells
        part = cells[numbers] if isinstance(numbers, slice) or as_frame(cells) is None else cells[numbers, :]
        encoded = encode(part, self.columns.in_original_units())
        return encoded if issparse(encoded) else np.asarray(encoded, dtype=float)

    def native(self, numbers: slice | IntArray) -> Any:
        """Return rows in the form that the estimator takes."""
        frame = as_frame(self.cells)
        if frame is None:
            return self.cells[numbers]
        return (frame[numbers] if isinstance(numbers, slice) else frame[numbers, :]).to_native()

    def chunks(self) -> Iterator[slice]:
        """Yield consecutive ranges of rows, each small enough to be copied."""
        for start in range(0, self.n_rows, self.chunk_rows):
            yield slice(start, min(start + self.chunk_rows, self.n_rows))


def fitted_table(estimator: Any, X: Any, *, chunk_rows: int = CHUNK_ROWS) -> FittedTable:
    """Return the table that an estimator was fitted to; refuse one of another size."""
    check_is_fitted(estimator)
    frame = as_frame(X)
    cells = frame if frame is not None else X.tocsr() if issparse(X) else _as_array(X)
    if len(cells.shape) != 2:
        raise ValueError(f"X has shape {cells.shape}; pass the table that {type(estimator).__name__} was fitted to.")
    _check_size(estimator, cells.shape)
    names = column_names(X)
    if names is None:
        names = getattr(estimator, "feature_names_in_", None)
    columns = getattr(estimator, "_schema", None)
    if columns is None:  # an estimator that takes numbers only
        columns = Schema.uniform("gaussian", cells.shape[1], column_names(X))
    shown = [f"feature {i}" for i in range(cells.shape[1])] if names is None else [str(name) for name in names]
    return FittedTable(cells, columns, shown, chunk_rows)


def _as_array(X: Any) -> AnyArray:
    array = np.asarray(X)
    return array.astype(object) if array.dtype.kind in "US" else array


def _check_size(estimator: Any, shape: tuple[int, int]) -> None:
    name = type(estimator).__name__
    labels = getattr(estimator, "labels_", None)
    if labels is not None and len(labels) != shape[0]:
        raise ValueError(
            f"X has {shape[0]} rows, but {name} was fitted to {len(labels)}; pass the table it was fitted to."
        )
    width = getattr(estimator, "n_features_in_", shape[1])
    if width != shape[1]:
        raise ValueError(
            f"X has {shape[1]} columns, but {name} was fitted to {width}; pass the table it was fitted to."
        )
