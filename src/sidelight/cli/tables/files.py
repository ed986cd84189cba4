"""Tables on disk, CSV or Parquet: their columns, their cells as text, and where in the file a row stands."""

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from sidelight._typing import AnyArray
from sidelight.cli.errors import Refusal, one_line
from sidelight.cli.extras import arrow
from sidelight.cli.tables.csv import check_names, open_csv

_PARQUET = (".parquet", ".pq")
_SPREADSHEETS = (".xlsx", ".xls", ".ods")
_SHOWN = 5


class TableFile(Protocol):
    """A table on disk."""

    @property
    def path(self) -> Path:
        """Where it is."""

    @property
    def header(self) -> tuple[str, ...]:
        """The names of its columns."""

    def read(self, columns: Sequence[str]) -> Any:
        """Return columns as an arrow table, as they are stored."""

    def convert(self, column: Any, name: str, kind: Any = None) -> Any:
        """Return a column that was read as an arrow type; the one that it seems to have where none is given."""

    def place(self, row: int) -> str:
        """Say where a row stands, as the user counts."""


@dataclass(frozen=True)
class ParquetFile:
    """A Parquet file that is open (its source is pyarrow's), so that its columns are known."""

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


def _open_parquet(path: Path) -> ParquetFile:
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


def open_table(path: Path, encoding: str = "utf-8") -> TableFile:
    """Look at a table on disk and refuse what is none."""
    arrow()
    if not path.exists():
        raise Refusal(f"{path} does not exist; check the name, and the folder you are in.")
    if path.is_dir():
        raise Refusal(f"{path} is a folder, not a table.")
    if path.suffix.lower() in _SPREADSHEETS:
        raise Refusal(f"{path} is a spreadsheet; save it as CSV (UTF-8) first.")
    if path.suffix.lower() in _PARQUET:
        return _open_parquet(path)
    return open_csv(path, encoding)


def check_columns(file: TableFile, wanted: Mapping[str, str]) -> None:
    """Refuse a table without columns that options name; ``wanted`` maps a column to what named it."""
    for name, option in wanted.items():
        if name not in file.header:
            close = difflib.get_close_matches(name, file.header, n=1)
            hint = f"did you mean {close[0]!r}?" if close else f"it has {some(file.header)}."
            raise Refusal(f"{file.path} has no column {name!r}, which {option} names; {hint}")


def text_cells(file: TableFile, table: Any, name: str) -> list[str | None]:
    """Return a column of a table that was read as text without spaces around it, None where a cell is empty."""
    column = file.convert(table[name], name, arrow().string())
    return [cell or None for cell in arrow("compute").utf8_trim_whitespace(column).to_pylist()]


def read_text(file: TableFile, columns: Sequence[str]) -> dict[str, list[str | None]]:
    """Read columns as text without spaces around it, None where a cell is empty."""
    table = file.read(columns)
    return {name: text_cells(file, table, name) for name in columns}


def row_ids(file: TableFile, table: Any, column: str) -> AnyArray:
    """Return the ids of all rows as text; missing and repeated ids are refused."""
    cells = text_cells(file, table, column)
    first: dict[str, int] = {}
    for row, cell in enumerate(cells):
        if cell is None:
            raise Refusal(f"{file.path}, {file.place(row)}: the row has no id in column {column!r}; give it one.")
        if first.setdefault(cell, row) != row:
            raise Refusal(
                f"{file.path}: the id {cell!r} in column {column!r} stands twice, in {file.place(first[cell])} and "
                f"{file.place(row)}; ids must differ."
            )
    return np.array(cells, dtype=str)


def some(names: Sequence[Any]) -> str:
    """Name the first few."""
    shown = ", ".join(repr(name) for name in names[:_SHOWN])
    return shown if len(names) <= _SHOWN else f"{shown}, … ({len(names)} in all)"
