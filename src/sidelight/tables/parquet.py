"""A Parquet file, or a folder of them, as a table that is read part by part and is never in memory whole."""

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np

from sidelight._typing import AnyArray, IntArray
from sidelight.tables.encoding import encode
from sidelight.tables.forward_reader import ForwardReader
from sidelight.tables.held_rows import HeldRows
from sidelight.tables.parquet_types import SeenTypes, arrow, refuse_nested, schema_of, without_index
from sidelight.tables.schema import Schema
from sidelight.tables.schema_sample import SAMPLE_ROWS, WHOLE_ROWS, frame_shows_new
from sidelight.tables.table import CHUNK_ROWS, Rows, row_ranges
from sidelight.tables.usual_values import rows_to_look_at
from sidelight.tables.validation import some_of

Found = TypeVar("Found")

_SUFFIXES = (".parquet", ".pq")
# Cells that are decoded at a time.
_CELLS_AT_ONCE = 1 << 19
_NOUNS = ("row", "column", "file")


class _Piece(NamedTuple):
    """Rows from ``start`` up to ``stop`` of the table: a group of rows of one file."""

    file: Path
    group: int
    start: int
    stop: int


class ParquetTable:
    """A Parquet file, or a folder of Parquet files that together are one table.

    Pass it to ``fit`` and ``predict`` in place of a table. The path by itself does too, unless only some of the columns
    are to be used.

    Parameters
    ----------
    path : str or Path
        A file, or a folder: all files in it, and in the folders below, whose names end in ".parquet" or ".pq". Names
        that begin with "." or "_" are left out. The rows are those of the files in the order of their names, "part-10"
        after "part-9". What the names of folders say ("year=2024") is not a column.
    columns : sequence of str, optional
        The columns to use, in this order; all by default.

    Examples
    --------
    >>> import pandas as pd, tempfile
    >>> folder = tempfile.mkdtemp()
    >>> pd.DataFrame({"height": [1.5, 1.8], "weight": [60.0, 80.0]}).to_parquet(f"{folder}/people.parquet")
    >>> ParquetTable(folder, columns=["height"])
    ParquetTable(2 rows, 1 column, 1 file)
    """

    def __init__(self, path: str | Path, columns: Sequence[str] | None = None) -> None:
        self.path = Path(path)
        files = _files(self.path)
        first = _opened(files[0])
        metadata, index = without_index(first.schema_arrow.metadata or {})
        self.columns = _chosen(self.path, [name for name in first.schema_arrow.names if name not in index], columns)
        seen = {name: SeenTypes() for name in self.columns}
        pieces: list[_Piece] = []
        for file in files:
            pieces.extend(self._pieces_of(file, pieces[-1].stop if pieces else 0, seen))
        kinds = {name: one.common() for name, one in seen.items()}
        self._schema = schema_of(first.schema_arrow, kinds, metadata)
        refuse_nested(self.path, self._schema)
        self._take([piece for piece in pieces if piece.stop > piece.start])
        if not self._pieces:
            raise ValueError(f"{self.path} has no rows; at least one is needed.")

    def _take(self, pieces: list[_Piece]) -> None:
        self._pieces, self._starts = pieces, [piece.start for piece in pieces]

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and of columns."""
        return self._pieces[-1].stop, len(self.columns)

    def parts(self, most_cells: int) -> list["ParquetTable"]:
        """Return tables of neighbouring groups of rows, in order, which can be sent to other processes.

        None has more cells than this, unless one group of rows has.

        Parameters
        ----------
        most_cells : int
            Cells that a table has at most.

        Returns
        -------
        list of ParquetTable
            Together, all rows.
        """
        parts: list[list[_Piece]] = []
        n = 0
        for piece in self._pieces:
            size = piece.stop - piece.start
            if not parts or (n + size) * len(self.columns) > most_cells:
                parts.append([])
                n = 0
            # Other processes may work in another folder.
            parts[-1].append(_Piece(piece.file.absolute(), piece.group, n, n + size))
            n += size
        tables = [copy(self) for _ in parts]
        for table, pieces in zip(tables, parts, strict=True):
            table._take(pieces)
        return tables

    def frame(self) -> Any:
        """Return all rows as a data frame.

        Returns
        -------
        DataFrame
            Of pandas, in memory.
        """
        return _concatenated([batch.to_pandas() for _, batch in self.batches()])

    def __repr__(self) -> str:
        n_files, (n, d) = len({piece.file for piece in self._pieces}), self.shape
        words = [f"{number} {word}" + "s" * (number != 1) for number, word in zip((n, d, n_files), _NOUNS, strict=True)]
        return f"ParquetTable({', '.join(words)})"

    @property
    def empty(self) -> Any:
        """A data frame with these columns and no rows."""
        return self._schema.empty_table().to_pandas()

    def sample(self) -> Any:
        """Return a data frame of some rows that shows what each column is: all rows of a small table.

        Returns
        -------
        DataFrame
            Of pandas, in memory.
        """
        n = self.shape[0]
        if n <= WHOLE_ROWS:
            return self.frame()
        chosen = np.arange(n)[rows_to_look_at(n, SAMPLE_ROWS)]
        few = _concatenated([batch.to_pandas() for batch in self.picked(chosen)])
        shows_new = frame_shows_new(few)
        if shows_new is None:
            return few
        others = (shows_new(batch.to_pandas()) for _, batch in self.batches())
        return _concatenated([few, *(found for found in others if len(found))])

    def encoded(self, schema: Schema) -> "EncodedParquet":
        """Return the table as numbers, by a schema.

        Parameters
        ----------
        schema : Schema
            What each column is.

        Returns
        -------
        EncodedParquet
            A table of numbers, read from the same files.
        """
        return EncodedParquet(self, schema)

    def batches(self, row: int = 0) -> Iterator[tuple[int, Any]]:
        """Yield parts of the table, with the number of their first row, as arrow tables from about a row on.

        The first part has the row.

        Parameters
        ----------
        row : int, default 0
            The first row that is wanted.

        Yields
        ------
        (int, pyarrow.Table)
            Number of the first row, and the rows.
        """
        size = max(_CELLS_AT_ONCE // len(self.columns), 1)
        for piece in self._pieces[self._piece_of(row) :]:
            start = piece.start
            for batch in self._decoded(piece, size):
                if start + batch.num_rows > row:
                    yield start, batch
                start += batch.num_rows

    def picked(self, rows: IntArray) -> Iterator[Any]:
        """Yield rows (sorted) as arrow tables; groups of rows that hold none of them are not read.

        Parameters
        ----------
        rows : (m,) int
            Numbers of the rows, sorted.

        Yields
        ------
        pyarrow.Table
            Some of them, in order.
        """
        size = max(_CELLS_AT_ONCE // len(self.columns), 1)
        for number in np.unique([self._piece_of(int(row)) for row in rows]):
            piece = self._pieces[number]
            start = piece.start
            for batch in self._decoded(piece, size):
                first, last = np.searchsorted(rows, (start, start + batch.num_rows))
                if last > first:
                    yield batch.take(rows[first:last] - start)
                start += batch.num_rows

    def place(self, row: int) -> str:
        """Say where a row stands in its file.

        Parameters
        ----------
        row : int
            Its number in the whole table.

        Returns
        -------
        str
            Its number in its file, and the file.
        """
        file = self._pieces[self._piece_of(row)].file
        first = next(piece.start for piece in self._pieces if piece.file == file)
        return f"row {row - first} of {file}"

    def _piece_of(self, row: int) -> int:
        return bisect_right(self._starts, row) - 1

    def _decoded(self, piece: _Piece, size: int) -> Iterator[Any]:
        with _reading(piece.file):
            for batch in _opened(piece.file).iter_batches(
                size, row_groups=[piece.group], columns=list(self.columns), use_threads=False
            ):
                table = arrow().Table.from_batches([batch]).select(list(self.columns))
                same = table.schema.types == self._schema.types
                yield (table if same else table.cast(self._schema, safe=False)).replace_schema_metadata(
                    self._schema.metadata
                )

    def _pieces_of(self, file: Path, start: int, seen: Mapping[str, SeenTypes]) -> Iterator[_Piece]:
        """Yield the groups of rows of a file, whose columns must be those of the first."""
        opened = _opened(file)
        found = {field.name: field.type for field in opened.schema_arrow}
        absent = [name for name in self.columns if name not in found]
        if absent:
            raise ValueError(
                f"{file} has no column {some_of(absent)}, which other files of {self.path} have; take the file "
                "away, or name the columns that all of them have with ParquetTable(…, columns=[…])."
            )
        for name, before in seen.items():
            other = before.of_another_sort(found[name])
            if other is not None:
                raise ValueError(
                    f"{file}: column {name!r} holds {found[name]}, but {other.kind} in {other.file}; write the files "
                    "with one type for each column."
                )
            before.kinds.setdefault(found[name], file)
        for group in range(opened.metadata.num_row_groups):
            stop = start + opened.metadata.row_group(group).num_rows
            yield _Piece(file, group, start, stop)
            start = stop


@dataclass(frozen=True, eq=False)
class EncodedParquet:
    """The numbers of a Parquet table: decoded while a pass goes over them, and forgotten.

    Parameters
    ----------
    source : ParquetTable
    schema : Schema
        How cells become numbers.
    changes : tuple of callable
        What is done to the numbers, one after the other.
    """

    source: ParquetTable
    schema: Schema
    changes: tuple[Callable[[AnyArray], AnyArray], ...] = ()
    _stream: ForwardReader = field(init=False, repr=False)
    _held: HeldRows = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_stream", ForwardReader(self._numbers_from, self.shape[0]))
        object.__setattr__(self, "_held", HeldRows())

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and of columns."""
        return self.source.shape

    @property
    def is_sparse(self) -> bool:
        """Whether rows come in CSR form: no."""
        return False

    @property
    def in_memory(self) -> bool:
        """Whether all rows are in memory: no."""
        return False

    def chunks(self) -> list[slice]:
        """Return the ranges of rows that tasks take: those of an array."""
        return row_ranges(self.shape[0], CHUNK_ROWS)

    def take(self, rows: slice | IntArray) -> AnyArray:
        """Return some rows: of one chunk from where the pass is; scattered ones that are held, or else fetched."""
        if isinstance(rows, slice):
            start, stop, _ = rows.indices(self.shape[0])
            return self._stream.range(start, stop)
        held = self._held.find(rows)
        if held is not None:
            return held
        if not len(rows):
            return np.empty((0, self.shape[1]))
        low, high = int(rows.min()), int(rows.max())
        if low // CHUNK_ROWS == high // CHUNK_ROWS:
            return self._stream.range(low, high + 1).take(rows - low, axis=0)
        return self.gather(rows)

    def gather(self, rows: IntArray) -> AnyArray:
        """Return rows from all over the table, as floats: one pass over those parts that have any."""
        numbers, places = np.unique(rows, return_inverse=True)
        found = [self._numbers(batch) for batch in self.source.picked(numbers)]
        return np.concatenate([np.empty((0, self.shape[1])), *found]).take(places, axis=0)

    def release(self, chunk: slice) -> None:
        """Forget the chunk that this thread has read."""
        self._stream.release()

    def hold(self, rows: IntArray) -> None:
        """Keep rows in memory, in one pass over the table for those that are not kept yet."""
        new = self._held.missing(rows)
        if len(new):
            self._held.add(new, self.gather(new))

    def mapped(self, change: Callable[[AnyArray], AnyArray]) -> "EncodedParquet":
        """Return the table with a change that is made whenever rows are read."""
        return EncodedParquet(self.source, self.schema, (*self.changes, change))

    def place(self, row: int) -> str:
        """Say where a row stands: its number, and the file."""
        return f"row {row} ({self.source.place(row)})"

    def map_parts(self, rows: Rows, work: Callable[[Rows], Found]) -> Iterator[tuple[int, Found]]:
        """Work on the table, which has one part: this process reads it."""
        yield 0, work(rows)

    def _numbers_from(self, row: int) -> Iterator[tuple[int, AnyArray]]:
        for start, batch in self.source.batches(row):
            yield start, self._numbers(batch)

    def _numbers(self, batch: Any) -> AnyArray:
        values = _plain_numbers(batch) if _is_plain(batch, self.schema) else encode(batch.to_pandas(), self.schema)
        for change in self.changes:
            values = change(values)
        return values


def _opened(file: Path) -> Any:
    with _reading(file):
        return arrow("parquet").ParquetFile(file)


class _reading:  # noqa: N801
    """A context in which what pyarrow raises becomes an error that names the file."""

    def __init__(self, file: Path) -> None:
        self._file = file

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        if isinstance(error, arrow().ArrowException) or (isinstance(error, OSError) and not error.errno):
            reason = str(error).splitlines()[0].rstrip(".")
            raise ValueError(f"{self._file} cannot be read as Parquet: {reason}. Write it again.") from error


def _files(path: Path) -> list[Path]:
    """Return the files of a table in order."""
    if path.is_file():
        return [path]
    if not path.exists():
        raise FileNotFoundError(f"{path} does not exist; name a Parquet file, or a folder of them.")
    found = [
        file
        for file in path.rglob("*")
        if file.suffix in _SUFFIXES and file.is_file() and not file.name.startswith((".", "_"))
    ]
    if not found:
        raise ValueError(f"{path} holds no file whose name ends in {' or '.join(_SUFFIXES)}; name a folder that does.")
    return sorted(found, key=lambda file: _natural(str(file.relative_to(path))))


def _natural(name: str) -> list[tuple[int, str]]:
    """Return what names are sorted by, so that part-10 comes after part-9."""
    return [(int(digits or -1), other) for digits, other in re.findall(r"(\d+)|(\D+)", name)]


def _chosen(path: Path, names: Sequence[str], wanted: Sequence[str] | None) -> tuple[str, ...]:
    """Return the columns to use."""
    if isinstance(wanted, str):
        raise TypeError(f"columns={wanted!r} must be a list of names; write columns=[{wanted!r}].")
    chosen = tuple(names if wanted is None else wanted)
    absent = [name for name in chosen if name not in names]
    if absent:
        raise ValueError(f"columns names {some_of(absent)}, but {path} has the columns {some_of(names)}.")
    if len(set(chosen)) < len(chosen) or not chosen:
        raise ValueError(f"{path}: the columns {some_of(chosen)} must have names of their own, and be at least one.")
    return chosen


def _concatenated(frames: list[Any]) -> Any:
    return import_module("pandas").concat(frames, ignore_index=True)


def _is_plain(batch: Any, schema: Schema) -> bool:
    """Say whether cells are numbers as they come: floats, of columns without categories."""
    floats = all(arrow().types.is_floating(kind) for kind in batch.schema.types)
    return floats and schema.powers is None and all(found is None for found in schema.categories)


def _plain_numbers(batch: Any) -> AnyArray:
    """Return columns of floats side by side, NaN where a cell is missing; single precision if all are."""
    single = all(arrow().types.is_float32(kind) for kind in batch.schema.types)
    values = np.empty(batch.shape, dtype=np.float32 if single else np.float64)
    for number, column in enumerate(batch.itercolumns()):
        values[:, number] = column.to_numpy()
    return values
