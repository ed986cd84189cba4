"""Tables that are not in this process's memory: what users may pass in place of one, and what a fit asks of it."""

from pathlib import Path
from typing import Any, Protocol

import numpy as np

from sidelight.tables.dask import DaskSource, is_dask
from sidelight.tables.parquet import ParquetTable
from sidelight.tables.schema import Schema
from sidelight.tables.table import Table


class TableSource(Protocol):
    """A table that is elsewhere. A new kind of source is one new file with a class that has these members."""

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and of columns."""

    @property
    def empty(self) -> Any:
        """A data frame or array with these columns and no rows."""

    def sample(self) -> Any:
        """Return a data frame or array of some rows that show what each column is."""

    def encoded(self, schema: Schema) -> Table:
        """Return the table as numbers, by a schema."""


def opened(X: Any) -> Any:
    """Return what a user passes as a table, with a path opened: Parquet, or an array that is mapped."""
    if not isinstance(X, str | Path):
        return X
    if Path(X).suffix == ".npy":
        return np.load(X, mmap_mode="r")
    return ParquetTable(X)


def source_of(X: Any) -> TableSource | None:
    """Return a table as a source; None where it is in memory, or mapped."""
    if isinstance(X, ParquetTable):
        return X
    return DaskSource(X) if is_dask(X) else None


def in_memory(estimator: object, X: Any) -> Any:
    """Return a table for an estimator that needs it in memory, a path to an array opened; refuse other sources."""
    X = opened(X)
    if not isinstance(X, ParquetTable) and not is_dask(X):
        return X
    raise ValueError(
        f"X: {type(estimator).__name__} needs its table in memory, and {X!r} is elsewhere. Read it first "
        "(pandas.read_parquet, or .compute() of a Dask collection), or fit BayesianMixture, which takes it as it is."
    )
