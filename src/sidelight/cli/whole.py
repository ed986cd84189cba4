"""Output that appears whole or not at all: written beside its place under another name, and put there when complete."""

import glob
import os
import shutil
import signal
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO

from sidelight.cli.errors import Refusal

_TERMINATED = 128 + signal.SIGTERM


def check_file_free(target: Path, *, force: bool) -> None:
    """Refuse to write where something stands already, unless told to, or where there is no folder to write to."""
    if target.is_dir():
        raise Refusal(f"{target} is a folder; give -o the name of a file.")
    if target.exists() and target.is_file() and not force:
        raise Refusal(f"{target} exists; add --force to overwrite it, or choose another name with -o.")
    _check_parent(target)


def check_folder_free(target: Path, *, force: bool, ours: Callable[[Path], bool], what: str) -> None:
    """Refuse to replace a folder, unless told to and it holds nothing, or what an earlier run wrote.

    Parameters
    ----------
    target : Path
    force : bool
    ours : callable
        Says whether a folder is what an earlier run wrote.
    what : str
        What such a folder is called.
    """
    _recover(target)
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
    """Refuse to begin long work whose output, of about ``size`` bytes, will find no room on the disk."""
    free = shutil.disk_usage(target.parent).free
    if free < size:
        raise Refusal(
            f"{target}: there is no room for the output, which takes about {size / 1e6:.0f} MB; {free / 1e6:.0f} MB "
            "are free there; free some, or write to another disk with -o."
        )


@contextmanager
def whole_file(target: Path) -> Iterator[TextIO]:
    """Open a text file to write; it takes its name when the block ends well, and leaves nothing behind otherwise."""
    if target.exists() and not target.is_file():  # a device or a pipe, which has no place beside it
        with target.open("w", encoding="utf-8", newline="") as file:
            yield file
        return
    partial = _partial(target)
    with _swept_at_the_end(partial, target):
        with partial.open("w", encoding="utf-8", newline="") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        partial.replace(target)
        _sync(target.parent)


@contextmanager
def whole_folder(target: Path) -> Iterator[Path]:
    """Give a folder to write to; it takes its name, and the place of what stood there, when the block ends well."""
    partial = _partial(target)
    with _swept_at_the_end(partial, target):
        partial.mkdir()
        yield partial
        for path in sorted(partial.rglob("*"), reverse=True):
            _sync(path)
        _sync(partial)
        _put_in_place(partial, target)
        _sync(target.parent)


@contextmanager
def output_text(target: Path | None) -> Iterator[TextIO]:
    """Open what a table is written to: a file that appears whole, or standard output where no file is named."""
    if target is None or str(target) == "-":
        yield sys.stdout
        sys.stdout.flush()
        return
    with whole_file(target) as file:
        yield file


def _check_parent(target: Path) -> None:
    if not target.parent.is_dir():
        raise Refusal(f"{target} cannot be written: there is no folder {target.parent}; make it first.")


def _partial(target: Path) -> Path:
    """Return the name to write under, after removing what runs that were killed left under such names."""
    for left in _left_by_dead_runs(target, "partial"):
        _remove(left)
    return target.parent / f".{target.name}.{_host()}-{os.getpid()}.partial"


def _recover(target: Path) -> None:
    """Put back what a run that was killed in the middle of replacing it had moved out of its way."""
    for left in _left_by_dead_runs(target, "before"):
        if target.exists():
            _remove(left)
        else:
            left.rename(target)


def _left_by_dead_runs(target: Path, ending: str) -> list[Path]:
    """Return what runs on this machine that are no more left beside a target."""
    found = []
    for left in target.parent.glob(f".{glob.escape(target.name)}.*.{ending}"):
        owner, _, number = left.name.removeprefix(f".{target.name}.").removesuffix(f".{ending}").rpartition("-")
        if owner == _host() and number.isdigit() and not _runs(int(number)):
            found.append(left)
    return found


def _host() -> str:
    return socket.gethostname() or "host"


def _runs(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:  # it runs, and is somebody else's
        return True
    return process != os.getpid()


def _put_in_place(partial: Path, target: Path) -> None:
    if not target.exists():
        partial.rename(target)
        return
    before = partial.with_suffix(".before")
    target.rename(before)
    try:
        partial.rename(target)
    except OSError:
        before.rename(target)
        raise
    _remove(before)


@contextmanager
def _swept_at_the_end(partial: Path, target: Path) -> Iterator[None]:
    """Remove the partial output however the block ends, also when the process is asked to stop."""
    with _stoppable():
        try:
            yield
        except OSError as error:
            if error.filename is None or str(error.filename).startswith(str(partial)):
                error.filename = str(target)  # the name that the user knows
            raise
        finally:
            _remove(partial)


@contextmanager
def _stoppable() -> Iterator[None]:
    """Turn the request to terminate into an exception, so that what is half written can be removed."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(*_: Any) -> None:
        raise SystemExit(_TERMINATED)

    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def _sync(path: Path) -> None:
    """Have the system write a file or folder to the disk; some file systems cannot do so for folders."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    except OSError:
        if not path.is_dir():
            raise
    finally:
        os.close(descriptor)
