"""What a command says while it works: notes and progress on standard error, results on standard output."""

import json
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import click
from rich.console import Console, RenderableType

from sidelight.cli.errors import one_line

Move = Callable[..., None]

_WIDTH_OF_FILES = 120


class Voice:
    """Speaks to the user, or keeps silent.

    Parameters
    ----------
    quiet : bool
        Say nothing but errors.
    as_json : bool
        Leave standard output to one JSON object.

    Attributes
    ----------
    notes : list of str
        What was said about the data, to be kept with the result.
    """

    def __init__(self, *, quiet: bool = False, as_json: bool = False) -> None:
        self.notes: list[str] = []
        self._quiet = quiet
        self._as_json = as_json
        self._errors = _plain_console(stderr=True)

    def note(self, sentence: str) -> None:
        """Say something about the data that the user should know, and keep it."""
        self.notes.append(sentence)
        self.tell(sentence)

    def tell(self, sentence: str) -> None:
        """Say something on standard error."""
        if not self._quiet:
            self._errors.print(sentence, soft_wrap=True)

    def show(self, result: RenderableType) -> None:
        """Show a result for people: on standard output, unless that is left to JSON."""
        if not self._quiet:
            console = self._errors if self._as_json else _plain_console()
            if not console.is_terminal:  # where a file has no width, tables need not be squeezed
                console.width = _WIDTH_OF_FILES
            console.print(result, soft_wrap=isinstance(result, str))

    def give(self, summary: Any) -> None:
        """Print the JSON object for programs, if they asked for one."""
        if self._as_json:
            click.echo(json.dumps(summary, ensure_ascii=False, indent=2))

    @contextmanager
    def stage(self, doing: str, total: int | None = None) -> Iterator[Move]:
        """Show on a terminal that work goes on; yields what moves its bar, ``move(completed, detail)``."""
        if self._quiet or not self._errors.is_terminal:
            yield _stay
            return
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

        columns = (
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            TextColumn("{task.fields[detail]}"),
            TimeElapsedColumn(),
        )
        with Progress(*columns, console=self._errors) as bars:
            bar = bars.add_task(doing, total=total, detail="")

            def move(completed: int | None = None, detail: str = "") -> None:
                bars.update(bar, completed=completed, detail=detail)

            yield move
            bars.update(bar, total=1, completed=1)

    @contextmanager
    def hearing_warnings(self) -> Iterator[None]:
        """Turn warnings that are given in the block into notes."""
        with warnings.catch_warnings(record=True) as heard:
            warnings.simplefilter("always")
            yield
        for sentence in dict.fromkeys(one_line(warning.message) for warning in heard if _concerns_user(warning)):
            self.note(sentence)


def _plain_console(*, stderr: bool = False) -> Console:
    """Return a console that shows names as they are: [b] and :smile: are somebody's labels."""
    return Console(stderr=stderr, highlight=False, markup=False, emoji=False)


def _stay(completed: int | None = None, detail: str = "") -> None:
    """Move no bar."""


def _concerns_user(warning: warnings.WarningMessage) -> bool:
    return not issubclass(warning.category, DeprecationWarning | PendingDeprecationWarning)
