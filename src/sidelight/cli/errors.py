"""Errors in one sentence: exit code 2 for what the user can correct, 1 for a fault of sidelight, 130 after Ctrl-C."""

import errno
import os
import signal
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NoReturn

import click

from sidelight._wording import printable, shortened

BAD_INPUT = 2
FAULT = 1
STOPPED = 128 + signal.SIGINT
_TRACEBACK = "SIDELIGHT_TRACEBACK"
_NO_ROOM = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}


class Refusal(click.ClickException):
    """Input that cannot be used; the message names the file, the place and the remedy."""

    exit_code = BAD_INPUT

    def show(self, file: Any = None) -> None:
        """Print the sentence on standard error."""
        click.echo(f"Error: {one_line(self.message)}", err=True)


def one_line(message: object) -> str:
    """Return a message without line breaks and characters that would steer a terminal; a very long one is cut."""
    return shortened(printable(" ".join(str(message).split())))


@contextmanager
def refusing(subject: str) -> Iterator[None]:
    """Turn a ValueError, as estimators raise it, into a refusal that names its subject."""
    try:
        yield
    except ValueError as error:
        raise Refusal(f"{subject}: {one_line(error)}") from error


def system_refusal(error: OSError) -> Refusal:
    """Return an error of the operating system as a refusal."""
    name = f"{os.fspath(error.filename)}: " if isinstance(error.filename, (str, os.PathLike)) else ""
    if error.errno in _NO_ROOM:
        return Refusal(
            f"{name}there is no room left to write the output (and nothing of it was kept); "
            "free some, or write to another disk with -o."
        )
    reason = (error.strerror or one_line(error)).lower()
    return Refusal(f"{name}{reason}; check the path and its permissions.")


class Commands(click.Group):
    """A group of commands that end with one sentence and an exit code if they fail."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command."""
        try:
            result = super().invoke(ctx)
            sys.stdout.flush()
        except (click.ClickException, click.exceptions.Exit, click.Abort, BrokenPipeError):
            raise
        except OSError as error:
            if error.errno in _NO_ROOM:
                _forget_standard_output()
            raise system_refusal(error) from error
        except MemoryError as error:
            raise Refusal("the memory of this machine is not enough; use fewer rows or columns.") from error
        except KeyboardInterrupt:
            click.echo("Stopped.", err=True)
            ctx.exit(STOPPED)
        except Exception as error:
            _report_fault(ctx, error)
        return result


def _forget_standard_output() -> None:
    """Keep the interpreter from writing to a full disk once more when it ends."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _report_fault(ctx: click.Context, error: Exception) -> NoReturn:
    """Say that this is a fault of sidelight, and how to see more of it."""
    if os.environ.get(_TRACEBACK):
        traceback.print_exception(error)
    else:
        click.echo(
            f"Error: sidelight itself failed ({type(error).__name__}: {one_line(error)}), which is a fault of ours and "
            f"not of your files; {_TRACEBACK}=1 before the command shows where.",
            err=True,
        )
    ctx.exit(FAULT)
