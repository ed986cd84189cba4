"""Where output goes: places are checked before the work begins."""

import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

from sidelight._wording import printable
from sidelight.cli.errors import Refusal
from sidelight.files.whole import recover, whole_file, whole_folder


def check_file_free(target: Path, *, force: bool) -> None:
    """Refuse to write to a file that exists, unless ``force``, and to a folder that does not."""
    if target.is_dir():
        raise Refusal(f"{target} is a folder; give -o the name of a file.")
    if target.exists() and target.is_file() and not force:
        raise Refusal(f"{target} exists; add --force to overwrite it, or choose another name with -o.")
    _check_parent(target)


def check_table_output(target: Path | None, *, force: bool, as_json: bool) -> None:
    """Refuse a place for a table: a file that exists, or standard output if it is for JSON."""
    if target is not None:
        check_file_free(target, force=force)
    elif as_json:
        raise Refusal("--json leaves no room for the table on standard output; name a file for it with -o.")


def check_folder_free(target: Path, *, force: bool, ours: Callable[[Path], bool], what: str) -> None:
    """Refuse to replace a folder, unless it is empty, or an earlier run wrote it and ``force`` is set.

    ``ours`` says whether an earlier run wrote a folder, and ``what`` is what such a folder is called.
    """
    recover(target)
    if target.exists() and not target.is_dir():
        raise Refusal(f"{target} is a file; give -o the name of a folder.")
    if target.is_dir() and any(target.iterdir()):
        if not ours(target):
            raise Refusal(
                f"{target} holds files that are no {what}, which --force would not replace; choose another -o."
            )
        if not force:
            raise Refusal(f"{target} exists; add --force to replace it, or choose another name with -o.")
    _check_parent(target)


def check_room(target: Path, size: int) -> None:
    """Refuse to begin long work if the disk has no room for its output of about ``size`` bytes."""
    free = shutil.disk_usage(target.parent).free
    if free < size:
        raise Refusal(
            f"{target}: there is no room for the output, which takes about {size / 1e6:.0f} MB; {free / 1e6:.0f} MB "
            "are free there; free some, or write to another disk with -o."
        )


@contextmanager
def output_folder(target: Path, *, force: bool) -> Iterator[Path]:
    """Create the folder of a result, which appears whole, and where a link leads if the place is one."""
    try:
        with whole_folder(_where_links_lead(target), replace=force) as folder:
            yield folder
    except FileExistsError as error:
        raise Refusal(
            f"{target} was written by another run in the meantime; add --force to replace it, or choose another name "
            "with -o."
        ) from error


def _where_links_lead(target: Path) -> Path:
    return target.resolve() if target.is_symlink() else target


class WritesText(Protocol):
    """What a table is written to."""

    def write(self, text: str, /) -> int:
        """Write some text; return its length."""


class _PrintableText:
    """A terminal, which cells of a table must not steer."""

    def __init__(self, terminal: WritesText) -> None:
        self._terminal = terminal

    def write(self, text: str, /) -> int:
        """Write text with escapes for what would steer the terminal."""
        return self._terminal.write(printable(text))


@contextmanager
def output_text(target: Path | None) -> Iterator[WritesText]:
    """Open what a table is written to: a file that appears whole, or standard output for None and "-"."""
    if target is None or str(target) == "-":
        yield _PrintableText(sys.stdout) if sys.stdout.isatty() else sys.stdout
        sys.stdout.flush()
        return
    with whole_file(_where_links_lead(target)) as file:
        yield file


def _check_parent(target: Path) -> None:
    if not target.parent.is_dir():
        raise Refusal(f"{target} cannot be written: there is no folder {target.parent}; make it first.")
