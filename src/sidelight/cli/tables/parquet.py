"""Parquet files."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sidelight.cli.errors import Refusal, one_line
from sidelight.cli.extras import arrow
from sidelight.cli.tables.csv import check_names


@dataclass(frozen=True)
class ParquetFile:
    """A Parquet file that is open, so that its columns are known.

    Parameters
    ----------
    path : Path
    header : tuple of str
        Names of the columns.
    source : pyarrow.parquet.ParquetFile
    """

    path: Path
    header: tuple[str, ...]
    source: Any

    def read(self, columns: Sequence[str]) -> Any:
        """Return columns as an arrow table, with the types that the file has."""
        try:
            return self.source.read(columns=list(columns), use_threads=False).select(list(columns))
        except (arrow().ArrowException, OSError) as error:
            raise _unreadable(self.path, error) from error

    def convert(self, column: Any, name: str, kind: Any = None) -> Any:
        """Return a column that was read as another type; unchanged where none is given."""
        pa = arrow()
        if kind is None:
            return column
        if pa.types.is_floating(column.type) and pa.types.is_string(kind):
            # Whole numbers with gaps are often stored as floats, and 17.0 is the name 17.
            whole = arrow("compute").cast(column, pa.int64(), safe=False)
            if whole.cast(pa.float64()).equals(column.cast(pa.float64())):
                column = whole
        try:
            return column.cast(kind)
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
            raise Refusal(f"{self.path}: column {name!r} cannot be taken as {kind}: {one_line(error)}") from error

    def place(self, row: int) -> str:
        """Say where a row stands, as the user counts."""
        return f"row {row + 1}"


def open_parquet(path: Path) -> ParquetFile:
    """Open a file and read the names of its columns."""
    if path.stat().st_size == 0:
        raise Refusal(f"{path} is empty.")
    try:
        source = arrow("parquet").ParquetFile(path)
        header = tuple(source.schema_arrow.names)
    except (arrow().ArrowException, OSError) as error:
        raise _unreadable(path, error) from error
    check_names(path, header)
    return ParquetFile(path, header, source)


def _unreadable(path: Path, error: Exception) -> Refusal:
    return Refusal(f"{path} cannot be read as Parquet: {one_line(error)}")
