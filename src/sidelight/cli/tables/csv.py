"""CSV files: any usual delimiter, decimal points or commas, and errors that name the line."""

import codecs
import csv
import io
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, TextIO

from sidelight._warnings import warn
from sidelight.cli.errors import Refusal, one_line
from sidelight.cli.extras import arrow
from sidelight.cli.tables.arrow_columns import without_missing_words
from sidelight.cli.tables.streams import StoredTable, refuse_hole

_DELIMITERS = (",", ";", "\t", "|")
# UTF-8, with or without the mark that some programs put before it.
_MARKED = "utf-8-sig"
# What the column is called that programs put before the others to number the rows, and give no name.
_UNNAMED = "column 1"
_BLOCK = 1 << 20
_PARSED_AT_ONCE = 1 << 23
_SAMPLE_LINES = 200
_LONGEST_CELL = 1 << 24
_NUMBER = re.compile(r"\s*[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?\s*")
_DECIMAL_COMMA = re.compile(r"\s*[-+]?\d+,\d+\s*")
_DECIMAL_POINT = re.compile(r"\s*[-+]?\d+\.\d+\s*")
# A line before the header that tells Excel the delimiter.
_DELIMITER_LINE = re.compile(r'"?sep=([,;\t|])"?\s*', re.IGNORECASE)
# What files that are no text begin with, and what to do with them.
_OTHER_FILES = {
    b"PK\x03\x04": "a spreadsheet or an archive; give it the ending .xlsx or .zip that it should have",
    b"PAR1": "Parquet; give it the ending .parquet",
    b"ARROW1": "Feather; give it the ending .feather",
    b"\x1f\x8b": "compressed; give it the ending .csv.gz",
    b"\xd0\xcf\x11\xe0": "an old spreadsheet; save it as .xlsx or as CSV (UTF-8) first",
}
_UTF16_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


class Record(NamedTuple):
    """The cells of a row and the line it begins on."""

    line: int
    cells: list[str]


@dataclass(frozen=True)
class CsvFile:
    """A CSV file whose bytes and header have been looked at; ``lines_before`` the header are not of the table."""

    path: Path
    encoding: str
    delimiter: str
    decimal: str
    header: tuple[str, ...]
    lines_before: int = 0
    stored: StoredTable | None = None

    @property
    def _bytes(self) -> Path:
        """Where the file is, or the copy of a stream."""
        return self.path if self.stored is None else self.stored.path

    def read(self, columns: Sequence[str]) -> Any:
        """Return columns as an arrow table of text."""
        csv_part = arrow("csv")
        unnamed = [f"column {number}" for number in range(len(self.header))]
        included = [unnamed[self.header.index(name)] for name in columns]
        options = csv_part.ReadOptions(
            use_threads=False,
            block_size=_PARSED_AT_ONCE,
            encoding="utf8" if self.encoding == _MARKED else self.encoding,
            column_names=unnamed,
            skip_rows=self.lines_before,
            skip_rows_after_names=1,
        )
        try:
            table = csv_part.read_csv(
                self._bytes,
                read_options=options,
                parse_options=csv_part.ParseOptions(delimiter=self.delimiter, newlines_in_values=True),
                convert_options=csv_part.ConvertOptions(
                    include_columns=included,
                    column_types=dict.fromkeys(included, arrow().string()),
                    null_values=[""],
                    strings_can_be_null=True,
                ),
            )
        except arrow().ArrowInvalid as error:
            raise self._ragged_line(str(error)) from error
        return table.rename_columns(list(columns))

    def as_written(self, table: Any, name: str) -> Any:
        """Return a column of a table that was read as text, where only empty cells are missing."""
        return table[name]

    def convert(self, column: Any, name: str, kind: Any = None) -> Any:
        """Return a column of text as a type; the one that all its cells have where none is given.

        Cells such as NA are missing.
        """
        pa, csv_part = arrow(), arrow("csv")
        if pa.types.is_string(kind) if kind is not None else _holds_codes(column):
            return without_missing_words(column)
        # Cells become values in the CSV reader, which alone knows all ways of writing numbers, truth values and dates.
        lines = pa.BufferOutputStream()
        csv_part.write_csv(pa.table({name: column}), lines, csv_part.WriteOptions(include_header=False))
        try:
            return csv_part.read_csv(
                pa.BufferReader(lines.getvalue()),
                read_options=csv_part.ReadOptions(use_threads=False, block_size=_PARSED_AT_ONCE, column_names=[name]),
                parse_options=csv_part.ParseOptions(newlines_in_values=True, ignore_empty_lines=False),
                convert_options=csv_part.ConvertOptions(
                    column_types={} if kind is None else {name: kind},
                    strings_can_be_null=True,
                    decimal_point=self.decimal,
                ),
            ).column(name)
        except pa.ArrowInvalid as error:
            raise self._misfit(column, name, kind, str(error)) from error

    def place(self, row: int) -> str:
        """Say where a row of the table stands."""
        for number, record in enumerate(self._records()):
            if number == row:
                return f"line {record.line}"
        return f"row {row + 1}"

    def _records(self) -> Iterator[Record]:
        """Yield the rows of the table, without its header."""
        with self._bytes.open(encoding=self.encoding, newline="") as file:
            records = _records(islice(file, self.lines_before, None), self.delimiter, first_line=self.lines_before + 1)
            next(records, None)
            yield from records

    def _misfit(self, column: Any, name: str, kind: Any, reason: str) -> Refusal:
        """Say which cell of a column is not of a type."""
        noun, fits = _WANTED.get(str(kind), ("", bool))
        for row, cell in enumerate(column.to_pylist()):
            if cell is not None and not fits(cell.replace(self.decimal, ".")):
                return Refusal(
                    f"{self.path}, {self.place(row)}: column {name!r} takes {noun}, but holds {cell!r}; correct the "
                    "cell, or empty it."
                )
        return Refusal(f"{self.path}: {one_line(reason)}")

    def _ragged_line(self, reason: str) -> Refusal:
        """Find out which line the reader stumbled over."""
        records, n_rows = self._records(), 0
        for record in records:
            if len(record.cells) != len(self.header):
                return self._ragged(record, is_last=next(records, None) is None)
            n_rows += 1
        if not n_rows:
            return Refusal(f"{self.path} has a header but no rows.")
        return Refusal(f"{self.path}: {one_line(reason)}")

    def _ragged(self, record: Record, *, is_last: bool) -> Refusal:
        cells = f"{len(record.cells)} cell{'s' if len(record.cells) != 1 else ''}"
        columns = f"{len(self.header)} column{'s' if len(self.header) != 1 else ''}"
        remedy = "mend the line, or put cells that contain the delimiter in quotation marks"
        if is_last and len(record.cells) < len(self.header):
            remedy = "the file seems to be cut off there, or ends with a remark; get the whole file, or remove the line"
        elif len(self.header) == 1:
            remedy = f"if line {self.lines_before + 1} is a title or a remark, remove it"
        return Refusal(f"{self.path}, line {record.line} has {cells}, but the header names {columns}: {remedy}.")


def open_csv(path: Path, encoding: str, stored: StoredTable | None = None) -> CsvFile:
    """Look through the bytes of a file, or of its copy, find its delimiter and read its header."""
    with (path if stored is None else stored.path).open("rb") as file:
        n_marks = _look_through(path, file, encoding)
        text = io.TextIOWrapper(file, encoding=_with_mark(encoding), newline="")
        text.seek(0)
        n_blank, lines = _first_lines(text)
        if not lines:
            raise Refusal(f"{path} is empty; it needs a line with the names of the columns, and rows.")
        told = _DELIMITER_LINE.fullmatch(lines[0])
        if told is not None and len(lines) > 1:
            del lines[0]
            n_blank += 1
        delimiter = _delimiter(lines) if told is None else told[1]
        if n_marks % 2:
            text.seek(0)
            _check_closed(path, text, delimiter)
    first, *others = _records(lines, delimiter, strict=False)
    header = tuple(name.strip() for name in first.cells)
    if len(header) > 1 and not header[0]:
        header = (_UNNAMED, *header[1:])
    header = _checked_header(path, header)
    decimal = _decimal([record.cells for record in others], delimiter)
    return CsvFile(path, _with_mark(encoding), delimiter, decimal, header, n_blank + first.line - 1, stored)


def _first_lines(text: TextIO) -> tuple[int, list[str]]:
    """Return the number of blank lines that a file begins with, and a sample of those from there on."""
    n_blank = 0
    for line in text:
        if line.strip():
            return n_blank, [line, *islice(text, _SAMPLE_LINES - 1)]
        n_blank += 1
    return n_blank, []


def is_number(cell: str) -> bool:
    """Say whether a cell holds a number, written with a decimal point."""
    return _NUMBER.fullmatch(cell) is not None


def _is_truth(cell: str) -> bool:
    return cell.lower() in ("true", "false", "0", "1")


# What cells of a type must be, in words and as a test.
_WANTED: dict[str, tuple[str, Callable[[str], bool]]] = {
    "double": ("numbers", is_number),
    "bool": ("true and false", _is_truth),
}


def distinct_names(path: Path, header: Sequence[str]) -> tuple[str, ...]:
    """Return the names of columns with a number behind those that stood before, and a warning that says so."""
    taken, names = set(header), []
    for place, name in enumerate(header):
        new, number = name, 1
        while new in names or (new != name and new in taken):
            number += 1
            new = f"{name} ({number})"
        if new != name:
            warn(
                f"{path} has several columns {name!r}; that in place {place + 1} is called {new!r} here.",
            )
        names.append(new)
    return tuple(names)


def _holds_codes(column: Any) -> bool:
    """Say whether a column of text holds digits that begin with a zero, such as postal codes: they are not numbers."""
    compute = arrow("compute")
    return bool(compute.any(compute.match_substring_regex(column, r"^\s*0[0-9]+\s*$")).as_py())


def _checked_header(path: Path, header: tuple[str, ...]) -> tuple[str, ...]:
    if "" in header:
        raise Refusal(f"{path}: column {header.index('') + 1} of the header has no name; give every column one.")
    if all(is_number(name.replace(",", ".")) for name in header):
        raise Refusal(f"{path} begins with numbers; its first line must hold the names of the columns.")
    return distinct_names(path, header)


def _with_mark(encoding: str) -> str:
    """Return the encoding that also takes the mark which some programs put before UTF-8."""
    return _MARKED if encoding.lower().replace("_", "-") in ("utf-8", "utf8") else encoding


def _look_through(path: Path, file: BinaryIO, encoding: str) -> int:
    """Refuse bytes that are not text of the encoding; returns the number of quotation marks."""
    try:
        "".encode(encoding)  # base64 and the like are codecs, but not of text
        decoder = codecs.getincrementaldecoder(encoding)()
    except (LookupError, UnicodeError, ValueError):
        raise Refusal(f"--encoding {encoding} is not known; utf-8, latin-1 and cp1252 are usual.") from None
    lines, marks = 1, 0
    _refuse_other_files(path, file, encoding)
    while block := file.read(_BLOCK):
        if b"\0" in block and not encoding.lower().startswith("utf-16"):
            line = lines + block[: block.index(b"\0")].count(b"\n")
            raise Refusal(
                f"{path}, line {line} holds zero bytes, so it is no CSV in {encoding}; save it as UTF-8 text."
            )
        refuse_hole(path, block)
        with _refusing_bytes(path, encoding, lines, block):
            decoder.decode(block)
        lines += block.count(b"\n")
        marks += block.count(b'"')
    with _refusing_bytes(path, encoding, lines, b""):
        decoder.decode(b"", final=True)
    return marks


def _refuse_other_files(path: Path, file: BinaryIO, encoding: str) -> None:
    """Refuse what is no text by the bytes it begins with, saying what it is; leaves the file at its beginning."""
    start = file.read(8)
    file.seek(0)
    for sign, remedy in _OTHER_FILES.items():
        if start.startswith(sign):
            raise Refusal(f"{path} is not CSV but {remedy}.")
    if start.startswith(_UTF16_MARKS) and not encoding.lower().startswith("utf-16"):
        raise Refusal(f"{path} is written in UTF-16; say so with --encoding utf-16.")


@contextmanager
def _refusing_bytes(path: Path, encoding: str, lines: int, block: bytes) -> Iterator[None]:
    try:
        yield
    except UnicodeDecodeError as error:
        # Bytes of a character that began in the block before are put in front of this one.
        carried = len(error.object) - len(block)
        line = lines + block[: max(error.start - carried, 0)].count(b"\n")
        raise Refusal(
            f"{path}, line {line} is not {encoding}: byte 0x{error.object[error.start]:02x} ({error.reason}); save the "
            "file as UTF-8, or name what it is written in with --encoding (latin-1 or cp1252, say)."
        ) from None
    except UnicodeError as error:  # UTF-16 without the mark that it must begin with
        raise Refusal(
            f"{path} is not {encoding}: {one_line(error)}; name what it is written in with --encoding."
        ) from None


def _check_closed(path: Path, text: TextIO, delimiter: str) -> None:
    """Refuse a quotation mark that is never closed."""
    line = 1
    try:
        for record in _records(text, delimiter):
            line = record.line + 1
    except csv.Error:
        raise Refusal(
            f"{path}: a quotation mark in the row after line {line - 1} is never closed; the file may be cut off, or "
            "the mark belongs to the text and must stand twice."
        ) from None


def _records(lines: Iterable[str], delimiter: str, *, strict: bool = True, first_line: int = 1) -> Iterator[Record]:
    """Yield rows that hold anything; the first of the lines has this number in its file."""
    csv.field_size_limit(_LONGEST_CELL)
    reader = csv.reader(lines, delimiter=delimiter, strict=strict)
    line = first_line
    try:
        for cells in reader:
            if cells:
                yield Record(line, cells)
            line = first_line + reader.line_num
    except csv.Error as error:
        if "field limit" not in str(error):
            raise
        raise Refusal(
            f"line {line} of a CSV file holds a cell of more than {_LONGEST_CELL // 10**6} million characters; a "
            "quotation mark may not be closed there, or the file holds something else than a table."
        ) from None


def _delimiter(lines: list[str]) -> str:
    """Return the delimiter that cuts the header, and most of the lines after it, into the most cells."""

    def worth(delimiter: str) -> tuple[float, int]:
        rows = [len(record.cells) for record in _records(lines, delimiter, strict=False)]
        if not rows or rows[0] < 2:
            return 0.0, 0
        return sum(row == rows[0] for row in rows) / len(rows), rows[0]

    return max(_DELIMITERS, key=worth)


def _decimal(rows: list[list[str]], delimiter: str) -> str:
    """Return the comma where numbers are written with one, which a file cut by commas cannot have."""
    if delimiter == ",":
        return "."
    cells = [cell for row in rows for cell in row]
    commas = sum(_DECIMAL_COMMA.fullmatch(cell) is not None for cell in cells)
    points = sum(_DECIMAL_POINT.fullmatch(cell) is not None for cell in cells)
    return "," if commas > points else "."
