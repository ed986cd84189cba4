"""Tables on disk, of whatever kind of file: their columns, their cells as text, and where in the file a row stands."""

import difflib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from sidelight._typing import AnyArray
from sidelight._warnings import warn
from sidelight.cli.errors import Refusal, one_line
from sidelight.cli.extras import arrow
from sidelight.cli.tables.arrow_columns import converted, with_plain_text
from sidelight.cli.tables.csv import distinct_names, open_csv
from sidelight.cli.tables.folders import open_folder
from sidelight.cli.tables.spreadsheets import read_spreadsheet
from sidelight.cli.tables.streams import STANDARD_INPUT, StoredTable, called, stored_table

_PARQUET = (".parquet", ".pq")
_FEATHER = (".feather", ".arrow", ".ipc")
_SPREADSHEETS = (".xlsx", ".xlsm")
_OTHER_SPREADSHEETS = (".xls", ".ods")
_JSON = (".json", ".jsonl", ".ndjson")
_SHOWN = 5
_LONGEST_ID = 1000


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

    def as_written(self, table: Any, name: str) -> Any:
        """Return a column of a table that was read as text, with words such as NA that may stand for nothing."""

    def convert(self, column: Any, name: str, kind: Any = None) -> Any:
        """Return a column that was read as an arrow type; the one that it seems to have where none is given."""

    def place(self, row: int) -> str:
        """Say where a row stands, as the user counts."""


@dataclass(frozen=True)
class ArrowFile:
    """A table whose columns have types: Parquet, Feather or a spreadsheet.

    ``read_columns`` returns all columns, or those that are named, as an arrow table; ``own_names`` are their names in
    the file, and ``words`` are the columns of a spreadsheet that hold words such as NA, as text with these words.
    """

    path: Path
    header: tuple[str, ...]
    own_names: tuple[str, ...]
    read_columns: Callable[[list[str] | None], Any]
    stored: StoredTable
    words: Mapping[str, Any] = field(default_factory=dict)

    def read(self, columns: Sequence[str]) -> Any:
        """Return columns as an arrow table, with the types that the file has."""
        renamed = self.header != self.own_names
        try:
            table = self.read_columns(None if renamed else list(columns))
        except (arrow().ArrowException, OSError) as error:
            raise _unreadable(self.path, error) from error
        if renamed:
            table = table.rename_columns(list(self.header))
        return with_plain_text(_sound(self.path, table.select(list(columns))))

    def as_written(self, table: Any, name: str) -> Any:
        """Return a column of a table that was read as text, with words such as NA that may stand for nothing."""
        return self.words[name] if name in self.words else self.convert(table[name], name, arrow().string())

    def convert(self, column: Any, name: str, kind: Any = None) -> Any:
        """Return a column that was read as another type; unchanged where none is given."""
        return converted(self.path, column, name, kind)

    def place(self, row: int) -> str:
        """Say where a row stands, as the user counts."""
        return f"row {row + 1}"


def _sound(path: Path, table: Any) -> Any:
    """Return an arrow table whose content is what its types say, such as text that is UTF-8; readers do not look."""
    try:
        table.validate(full=True)
    except arrow().ArrowException as error:
        raise Refusal(f"{path} is damaged: {one_line(error)}; write it again.") from error
    return table


def _open_parquet(path: Path, stored: StoredTable) -> ArrowFile:
    """Open a Parquet file and read the names of its columns."""
    _refuse_empty(path, stored)
    try:
        source = arrow("parquet").ParquetFile(stored.path)
        names = tuple(source.schema_arrow.names)
    except (arrow().ArrowException, OSError, UnicodeDecodeError) as error:
        raise _unreadable(path, error) from error
    return ArrowFile(
        path, distinct_names(path, names), names, lambda columns: source.read(columns, use_threads=False), stored
    )


def _open_feather(path: Path, stored: StoredTable) -> ArrowFile:
    """Open a Feather or Arrow file and read the names of its columns."""
    _refuse_empty(path, stored)
    try:
        table = arrow("feather").read_table(stored.path, use_threads=False)
        _ = table.column_names  # which are text only now
    except (arrow().ArrowException, OSError, UnicodeDecodeError) as error:
        raise _unreadable(path, error, "Feather") from error
    return _held(path, table, stored)


def _held(path: Path, table: Any, stored: StoredTable, words: Mapping[int, Any] | None = None) -> ArrowFile:
    """Return a table that was read already; ``words`` are columns by their numbers."""
    names = tuple(table.column_names)
    header = distinct_names(path, names)
    return ArrowFile(
        path,
        header,
        names,
        lambda columns: table if columns is None else table.select(columns),
        stored,
        {header[number]: column for number, column in (words or {}).items()},
    )


def _refuse_empty(path: Path, stored: StoredTable) -> None:
    if stored.path.stat().st_size == 0:
        raise Refusal(f"{path} is empty.")


def _unreadable(path: Path, error: Exception, kind: str = "Parquet") -> Refusal:
    return Refusal(f"{path} cannot be read as {kind}: {one_line(error)}")


def open_table(path: Path, encoding: str = "utf-8") -> TableFile:
    """Look at a table on disk, or on standard input where the path is "-", and refuse what is none."""
    arrow()
    if path != STANDARD_INPUT and not path.exists():
        raise Refusal(f"{path} does not exist; check the name, and the folder you are in.")
    if path.is_dir():
        return open_folder(path)
    stored = stored_table(path)
    shown = called(path)
    if stored.suffix in _OTHER_SPREADSHEETS:
        raise Refusal(f"{shown} is a spreadsheet; save it as .xlsx or as CSV (UTF-8) first.")
    if stored.suffix in _JSON:
        raise Refusal(f"{shown} is JSON, not a table; save it as CSV, Parquet or .xlsx first.")
    if stored.suffix in _SPREADSHEETS:
        _refuse_empty(shown, stored)
        table, words = read_spreadsheet(shown, stored.path)
        return _held(shown, table, stored, words)
    if stored.suffix in _PARQUET:
        return _open_parquet(shown, stored)
    if stored.suffix in _FEATHER:
        return _open_feather(shown, stored)
    return open_csv(shown, encoding, stored)


def check_columns(file: TableFile, wanted: Mapping[str, str]) -> None:
    """Refuse a table without columns that options name; ``wanted`` maps a column to what named it."""
    for name, option in wanted.items():
        if name not in file.header:
            close = difflib.get_close_matches(name, file.header, n=1)
            hint = f"did you mean {close[0]!r}?" if close else f"it has {some(file.header)}."
            raise Refusal(f"{file.path} has no column {name!r}, which {option} names; {hint}")


def text_cells(file: TableFile, table: Any, name: str) -> list[str | None]:
    """Return a column of a table that was read as text without spaces around it, None where a cell is missing."""
    column = file.convert(table[name], name, arrow().string())
    return [cell or None for cell in _trimmed(column)]


def cells_as_written(file: TableFile, table: Any, name: str) -> list[str | None]:
    """Return the same of names, where NA may be one: every text is left as it is, also an empty one."""
    return _trimmed(file.as_written(table, name))


def _trimmed(column: Any) -> list[str | None]:
    cells: list[str | None] = arrow("compute").utf8_trim_whitespace(column).to_pylist()
    return cells


def read_text(file: TableFile, columns: Sequence[str], ids: Sequence[str] = ()) -> dict[str, list[str | None]]:
    """Read columns as text without spaces around it, None where a cell is missing, in ``ids`` where it is empty."""
    table = file.read([*ids, *columns])
    names = {name: [cell or None for cell in cells_as_written(file, table, name)] for name in ids}
    return {**names, **{name: text_cells(file, table, name) for name in columns}}


def row_ids(file: TableFile, table: Any, column: str, *, needed: bool = True) -> AnyArray:
    """Return the ids of all rows as text; missing and repeated ids are refused.

    Where they are not ``needed`` to find rows by, a repeated one is only warned about.
    """
    from sidelight.side.parsing.columns import names_array

    cells = [cell or None for cell in cells_as_written(file, table, column)]
    different = set(cells)
    whole = len(different) == len(cells) and None not in different
    if whole and max(map(len, filter(None, cells)), default=0) <= _LONGEST_ID:
        return names_array(cells)
    first: dict[str, int] = {}
    for row, cell in enumerate(cells):
        if cell is None:
            raise Refusal(f"{file.path}, {file.place(row)}: the row has no id in column {column!r}; give it one.")
        if len(cell) > _LONGEST_ID:
            raise Refusal(
                f"{file.path}, {file.place(row)}: the id in column {column!r} is {len(cell)} characters long, and "
                f"begins with {cell[:20]!r}; an id names a row, with at most {_LONGEST_ID} characters."
            )
        if first.setdefault(cell, row) != row:
            twice = (
                f"{file.path}: the id {cell!r} in column {column!r} stands twice, in {file.place(first[cell])} and "
                f"{file.place(row)}"
            )
            if needed:
                raise Refusal(f"{twice}; ids must differ.")
            warn(f"{twice}; links and sidelight ask need ids that differ.")
            break
    return names_array(cells)


def some(names: Sequence[Any]) -> str:
    """Name the first few."""
    shown = ", ".join(repr(name) for name in names[:_SHOWN])
    return shown if len(names) <= _SHOWN else f"{shown}, … ({len(names)} in all)"
