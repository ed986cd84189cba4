"""Files and folders that appear whole or not at all.

Output is written beside its place under a name of its own, ``.<name>.<host>-<process>-<number>.partial``, and renamed
when it is complete. A folder that is replaced is moved to the same name with the ending ``.before``, until the new one
stands in its place. A process that is killed thus leaves the old output or the new one; what else it leaves, the next
run removes, and an old folder that was moved away is put back.
"""

import errno
import os
import re
import shutil
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import IO, Any

_TERMINATED = 128 + signal.SIGTERM
_NUMBERS = count()
# The names that this process writes under at the moment.
_IN_USE: set[str] = set()


@contextmanager
def whole_file(target: Path, mode: str = "w") -> Iterator[IO[Any]]:
    """Open a file for writing, as UTF-8 text or bytes; it takes its name when the block ends without an error.

    A file that exists is replaced. Devices and pipes are written directly.
    """
    encoding, newline = (None, None) if mode == "wb" else ("utf-8", "")
    if target.exists() and not target.is_file():
        with target.open(mode, encoding=encoding, newline=newline) as file:
            yield file
        return
    with _partial(target) as (partial, stop_if_asked):
        with partial.open(mode, encoding=encoding, newline=newline) as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        stop_if_asked()
        partial.replace(target)
        _sync(target.parent)


@contextmanager
def whole_folder(target: Path, *, replace: bool = True) -> Iterator[Path]:
    """Create a folder for writing; it takes its name when the block ends without an error.

    A folder that exists is replaced as a whole, whatever it holds; with ``replace=False`` only an empty one is, and
    another that stands there by then is a FileExistsError.
    """
    recover(target)
    with _partial(target) as (partial, stop_if_asked):
        partial.mkdir()
        yield partial
        stop_if_asked()
        for path in sorted(partial.rglob("*"), reverse=True):
            _sync(path)
        _sync(partial)
        if replace:
            _put_in_place(partial, target)
        else:
            _put_in_free_place(partial, target)
        _sync(target.parent)


def recover(target: Path) -> None:
    """Put back a folder that a killed process had moved away to replace it; remove it if the new one is in place.

    Where the target is a link, the folder that it leads to is put back.
    """
    target = target.resolve() if target.is_symlink() else target
    for left in _left_by_dead_processes(target, "before"):
        if os.path.lexists(target):
            _remove(left)
        else:
            left.rename(target)


def left_behind(target: Path) -> list[str]:
    """Return the names of folders that were moved away to replace the target, and are still there."""
    return sorted(path.name for path, _ in _beside(target, "before"))


def _put_in_free_place(partial: Path, target: Path) -> None:
    try:
        # In one step, so that of two processes one alone succeeds: a folder takes the place of an empty one only.
        partial.rename(target)
    except OSError as error:
        if error.errno not in (errno.EEXIST, errno.ENOTEMPTY, errno.ENOTDIR):
            raise
        raise FileExistsError(errno.EEXIST, "another process has written it in the meantime", str(target)) from error


def _put_in_place(partial: Path, target: Path) -> None:
    if not os.path.lexists(target):
        partial.rename(target)
        return
    before = partial.with_suffix(".before")
    try:
        target.rename(before)
        partial.rename(target)
    except BaseException:
        if os.path.lexists(before) and not os.path.lexists(target):
            before.rename(target)
        raise
    # Under the name of partial output it is never put back, also if its removal is interrupted.
    before.rename(partial)


@contextmanager
def _partial(target: Path) -> Iterator[tuple[Path, Callable[[], None]]]:
    """Give a name to write under; what has it at the end of the block is removed, also when the process must stop.

    The function beside it ends the process if that was asked for, and the block did not notice.
    """
    for left in _left_by_dead_processes(target, "partial"):
        _remove(left)
    partial = target.with_name(f".{target.name}.{_host()}-{os.getpid()}-{next(_NUMBERS)}.partial")
    _IN_USE.add(partial.stem)
    with _stoppable() as stop_if_asked:
        try:
            yield partial, stop_if_asked
        except OSError as error:
            if error.filename is None or str(error.filename).startswith(str(partial)):
                error.filename = str(target)  # the name that the user knows
            raise
        finally:
            try:
                _remove(partial)
            except BaseException:  # the request to stop may come just then
                _remove(partial)
                raise
            finally:
                _IN_USE.discard(partial.stem)


def _left_by_dead_processes(target: Path, ending: str) -> list[Path]:
    """Return what processes of this machine that no longer run left beside a target."""
    return [
        path
        for path, owner in _beside(target, ending)
        if owner["host"] == _host() and not _is_in_use(path.stem, int(owner["process"]))
    ]


def _beside(target: Path, ending: str) -> list[tuple[Path, re.Match[str]]]:
    """Return what has names as this module gives them, and the parts of these names."""
    pattern = re.compile(rf"\.{re.escape(target.name)}\.(?P<host>.+)-(?P<process>\d+)-\d+\.{ending}")
    try:
        names = sorted(path.name for path in target.parent.iterdir())
    except OSError:  # the folder does not exist, or may not be listed
        return []
    return [(target.with_name(name), found) for name in names if (found := pattern.fullmatch(name))]


def _is_in_use(name: str, process: int) -> bool:
    if process == os.getpid():
        return name in _IN_USE
    if os.name == "nt":  # where asking whether a process runs would end it
        return True
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:  # it runs, as another user
        return True
    return True


def _host() -> str:
    return socket.gethostname() or "host"


@contextmanager
def _stoppable() -> Iterator[Callable[[], None]]:
    """Turn the request to terminate into an exception, so that partial output can be removed.

    Other libraries may catch the exception, or turn it into one of theirs: the function that is yielded raises it
    again, and whatever error leaves the block after the request ends the process as the request does. A program that
    handles the request itself keeps its handler.
    """
    main = threading.current_thread() is threading.main_thread()
    if not main or signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL:
        yield lambda: None
        return
    asked = threading.Event()

    def stop(*_: Any) -> None:
        asked.set()
        raise SystemExit(_TERMINATED)

    def stop_if_asked() -> None:
        if asked.is_set():
            raise SystemExit(_TERMINATED)

    signal.signal(signal.SIGTERM, stop)
    try:
        yield stop_if_asked
    except Exception:
        stop_if_asked()
        raise
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def _sync(path: Path) -> None:
    """Have the system write a file or folder to the disk; some systems cannot do so for folders."""
    try:
        descriptor = os.open(path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
    except OSError:
        if not path.is_dir():
            raise
