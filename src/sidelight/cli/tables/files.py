"""Tables on disk, CSV or Parquet: their columns, their cells as text, and where in the file a row stands."""

import difflib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from sidelight._typing import AnyArray
from sidelight.cli.errors import Refusal
from sidelight.cli.extras import arrow
from sidelight.cli.tables.csv import open_csv
from sidelight.cli.tables.parquet import open_parquet

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
        return open_parquet(path)
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
