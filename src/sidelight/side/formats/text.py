"""Reading text: tables of comma-separated values and JSON, with the line in which everything stands."""

import csv
import io
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from sidelight.side.formats.statements import FormatError

_BLOCK = 1 << 20
_WHOLE = re.compile(r"-?(0|[1-9][0-9]*)")


class Line(NamedTuple):
    """A row of a table: its cells by column, and the line it ends in."""

    number: int
    cells: dict[str, str]


class TextTable(NamedTuple):
    """A header and lines; lines without any cell are left out."""

    header: list[str]
    lines: list[Line]


def text_of(path: Path) -> str:
    """Return the text of a file in UTF-8; zero bytes, of which a damaged file may have any number, are refused."""
    content = bytearray()
    with path.open("rb") as file:
        while block := file.read(_BLOCK):
            content += block
            if b"\0" in block:
                line = content.count(b"\n", 0, content.index(b"\0")) + 1
                raise FormatError("the file holds zero bytes, so it is no text; get a copy that is whole", line)
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise FormatError("the file is not in UTF-8; save it so", content.count(b"\n", 0, error.start) + 1) from error


def read_table(text: str) -> TextTable:
    """Read comma-, semicolon- or tab-separated values with a header."""
    first = text.lstrip("\ufeff").split("\n", 1)[0]
    separator = max(",;\t", key=first.count)
    reader = csv.reader(io.StringIO(text.lstrip("\ufeff"), newline=""), delimiter=separator, strict=True)
    try:
        header = [name.strip() for name in next(reader, [])]
        repeated = [name for name in header if header.count(name) > 1]
        if repeated:
            raise FormatError(f"two columns are called {repeated[0]!r}; rename one", 1)
        lines = []
        for cells in reader:
            if not any(cell.strip() for cell in cells):
                continue
            if len(cells) != len(header):
                raise FormatError(
                    f"{len(cells)} cells, but the header names {len(header)} columns; complete or quote them",
                    reader.line_num,
                )
            lines.append(Line(reader.line_num, dict(zip(header, (cell.strip() for cell in cells), strict=True))))
    except csv.Error as error:
        raise FormatError(f"this is not a table of comma-separated values ({error})", reader.line_num) from error
    return TextTable(header, lines)


def header_of(text: str) -> set[str]:
    """Return the names in the first line, whatever separates them; empty where the text is JSON."""
    if text.lstrip("\ufeff \t\r\n")[:1] in ("{", "["):
        return set()
    try:
        first = text.lstrip("\ufeff").split("\n", 1)[0]
        return set(read_table(first).header)
    except FormatError:
        return set()


def as_numbers(cells: list[str | None]) -> list[Any]:
    """Return whole numbers where every cell that is not None is written as one, else the cells."""
    if all(cell is None or _WHOLE.fullmatch(cell) for cell in cells):
        return [None if cell is None else int(cell) for cell in cells]
    return list(cells)


def write_table(header: list[str], rows: list[list[Any]]) -> str:
    """Return a table of comma-separated values."""
    out = io.StringIO(newline="")
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    return out.getvalue()


def json_items(text: str) -> Iterator[tuple[int, Any]]:
    """Yield the items of a JSON array, or the JSON values of the lines of a file, with the line each starts in."""
    text = text.lstrip("\ufeff")
    if text.lstrip()[:1] != "[":
        for number, content in enumerate(text.split("\n"), 1):
            if content.strip():
                yield number, _decoded(content, number)
        return
    decoder, place = json.JSONDecoder(), text.index("[") + 1
    line, counted = 1, 0
    while True:
        place = _after_blank(text, place)
        line, counted = line + text.count("\n", counted, place), place
        if text[place : place + 1] == "]":
            if text[place + 1 :].strip():
                raise FormatError("more follows the end of the list; remove it", line)
            return
        try:
            value, place = decoder.raw_decode(text, place)
        except json.JSONDecodeError as error:
            raise FormatError(f"this is not JSON ({error.msg})", error.lineno) from error
        yield line, value
        place = _after_blank(text, place)
        if text[place : place + 1] == ",":
            place += 1
        elif text[place : place + 1] != "]":
            raise FormatError("a comma or the end of the list is missing", text.count("\n", 0, place) + 1)


def _after_blank(text: str, place: int) -> int:
    while place < len(text) and text[place].isspace():
        place += 1
    return place


def _decoded(line: str, number: int) -> Any:
    try:
        return json.loads(line)
    except json.JSONDecodeError as error:
        raise FormatError(f"this is not JSON ({error.msg})", number) from error


def first_item(text: str) -> Any:
    """Return the first item of a JSON list or file of JSON lines; None where there is none, or the text is broken."""
    if text.lstrip("\ufeff \t\r\n")[:1] not in ("{", "["):
        return None
    try:
        return next(json_items(text), (0, None))[1]
    except FormatError:
        return None


def is_name(value: Any) -> bool:
    """Say whether a JSON value can name a row, a class or an annotator."""
    return isinstance(value, str | int) and value != ""
