"""Folders of Parquet files, which are read part by part."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sidelight._typing import IntArray
from sidelight.cli.errors import Refusal, one_line
from sidelight.cli.extras import arrow
from sidelight.cli.tables.arrow_columns import converted, with_plain_text

if TYPE_CHECKING:
    from sidelight.tables.parquet import ParquetTable


@dataclass(frozen=True)
class ParquetFolder:
    """A folder of Parquet files that together are one table; ``first_row`` is that of the part that is read."""

    path: Path
    source: "ParquetTable"
    first_row: int = 0

    @property
    def header(self) -> tuple[str, ...]:
        """The names of its columns."""
        return self.source.columns

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self.source.shape[0]

    def read(self, columns: Sequence[str]) -> Any:
        """Return columns of all rows, which must fit into memory, as an arrow table."""
        parts = [table for _, table in self.only(columns).batches()]
        return with_plain_text(arrow().concat_tables(parts))

    def as_written(self, table: Any, name: str) -> Any:
        """Return a column of a table that was read as text."""
        return self.convert(table[name], name, arrow().string())

    def convert(self, column: Any, name: str, kind: Any = None) -> Any:
        """Return a column that was read as another type; unchanged where none is given."""
        return converted(self.path, column, name, kind)

    def place(self, row: int) -> str:
        """Say where a row stands, as the user counts."""
        return f"row {self.first_row + row + 1}"

    def sample(self) -> Any:
        """Return some rows that show what each column is, as an arrow table."""
        return with_plain_text(arrow().Table.from_pandas(self.source.sample(), preserve_index=False))

    def rows(self, numbers: IntArray) -> Any:
        """Return some rows, by their sorted numbers, as an arrow table."""
        return with_plain_text(arrow().concat_tables(list(self.source.picked(numbers))))

    def parts(self, columns: Sequence[str]) -> Iterator[tuple["ParquetFolder", Any]]:
        """Yield columns part by part, as arrow tables, each with a folder that knows where its rows stand."""
        for start, table in self.only(columns).batches():
            yield replace(self, first_row=start), with_plain_text(table)

    def only(self, columns: Sequence[str]) -> "ParquetTable":
        """Return some columns as a table for a model."""
        from sidelight.tables.parquet import ParquetTable

        return ParquetTable(self.path, list(columns))


def open_folder(path: Path) -> ParquetFolder:
    """Look at a folder of Parquet files, and refuse what is none."""
    from sidelight.tables.parquet import ParquetTable

    try:
        return ParquetFolder(path, ParquetTable(path))
    except (ValueError, OSError) as error:
        raise Refusal(one_line(error)) from error
