"""Tables that are not plain files: standard input, pipes and compressed files, brought into a file of their own."""

import bz2
import gzip
import lzma
import os
import shutil
import stat
import sys
import weakref
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import mkdtemp
from typing import Any, BinaryIO

from sidelight.cli.errors import Refusal, one_line

STANDARD_INPUT = Path("-")
_OPENERS: dict[str, Callable[[Path], Any]] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
_DAMAGES = (OSError, EOFError, zlib.error, lzma.LZMAError, zipfile.BadZipFile, NotImplementedError, RuntimeError)
_BLOCK = 1 << 20
# What no text holds, in UTF-16 neither; and the endings of files that are not text.
_HOLE = bytes(1 << 12)
_MAY_HAVE_HOLES = frozenset({".parquet", ".pq", ".feather", ".arrow", ".ipc", ".xlsx", ".xlsm", ".zip"})
# The first bytes of files that are not text, and the ending of their kind: a stream has no name that tells it.
_SIGNS = {
    b"\x1f\x8b": ".gz",
    b"BZh": ".bz2",
    b"\xfd7zXZ\x00": ".xz",
    b"PAR1": ".parquet",
    b"ARROW1": ".feather",
    b"PK\x03\x04": ".zip",
}
_SHEETS = "xl/workbook.xml"
# Folders that macOS puts into archives.
_NOT_TABLES = ("__MACOSX/", ".")


@dataclass(frozen=True)
class StoredTable:
    """Where the bytes of a table are, and the ending that says what it is; a copy is removed with the object."""

    path: Path
    suffix: str


def called(path: Path) -> Path:
    """Return what messages call a table: its path, or standard input."""
    return Path("standard input") if path == STANDARD_INPUT else path


def stored_table(path: Path) -> StoredTable:
    """Return where the bytes of a table are: the file itself, or a copy of what a stream or an archive holds."""
    if path != STANDARD_INPUT:
        _refuse_endless(path)
    # pyarrow opens no file whose name is not UTF-8.
    if path == STANDARD_INPUT or not stat.S_ISREG(path.stat().st_mode) or not _is_utf8(str(path)):
        with _source(path) as source:
            copy = _copied(called(path), source, path.suffix.lower())
        return _unpacked(called(path), copy)
    return _unpacked(path, StoredTable(path, path.suffix.lower()))


def _unpacked(shown: Path, stored: StoredTable) -> StoredTable:
    """Return a table, or what it holds where it is compressed."""
    try:
        if stored.suffix in _OPENERS:
            with _OPENERS[stored.suffix](stored.path) as source:
                return _copied(shown, source, Path(shown.stem).suffix.lower())
        if stored.suffix == ".zip":
            return _from_archive(shown, stored)
    except _DAMAGES as error:
        raise Refusal(f"{shown} cannot be unpacked: {one_line(error)}; get a copy that is whole.") from error
    return stored


def _refuse_endless(path: Path) -> None:
    """Refuse devices, which need not end; those of standard input and nothing at all do."""
    mode = path.stat().st_mode
    ends = path.samefile(os.devnull) or (stat.S_ISCHR(mode) and _is_terminal(path))
    if stat.S_ISBLK(mode) or (stat.S_ISCHR(mode) and not ends):
        raise Refusal(f"{path} is a device, not a file; name the file that holds the table.")


def _is_terminal(path: Path) -> bool:
    with path.open("rb") as file:
        return file.isatty()


def _is_utf8(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def _from_archive(shown: Path, stored: StoredTable) -> StoredTable:
    with zipfile.ZipFile(stored.path) as archive:
        names = [name for name in archive.namelist() if not name.endswith("/") and not name.startswith(_NOT_TABLES)]
        if _SHEETS in names:
            with stored.path.open("rb") as whole:
                return _copied(shown, whole, ".xlsx")
        if len(names) != 1:
            raise Refusal(f"{shown} holds {len(names)} files; it must hold one table. Unpack it, and name the table.")
        with archive.open(names[0]) as source:
            return _copied(shown, source, Path(names[0]).suffix.lower())


def _copied(shown: Path, source: Any, suffix: str) -> StoredTable:
    """Copy a stream into a file; what it begins with says what it is where its name has no ending."""
    block = source.read(_BLOCK)
    suffix = suffix or next((ending for sign, ending in _SIGNS.items() if block.startswith(sign)), ".csv")
    folder = Path(mkdtemp(prefix="sidelight-"))
    stored = StoredTable(folder / f"table{suffix}", suffix)
    weakref.finalize(stored, shutil.rmtree, folder, ignore_errors=True)
    with stored.path.open("wb") as file:
        while block:
            if suffix not in _MAY_HAVE_HOLES:
                refuse_hole(shown, block)
            file.write(block)
            block = source.read(_BLOCK)
    return stored


def refuse_hole(path: Path, block: bytes) -> None:
    """Refuse a part of a text with a hole: zero bytes, which need not end."""
    if _HOLE in block:
        raise Refusal(f"{path} holds {len(_HOLE)} zero bytes in a row, which no text does; get a copy that is whole.")


@contextmanager
def _source(path: Path) -> Iterator[BinaryIO]:
    if path == STANDARD_INPUT:
        yield sys.stdin.buffer
        return
    with path.open("rb") as file:
        yield file
