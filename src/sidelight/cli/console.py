"""What a command prints while it works: notes and progress on standard error, results on standard output."""

import json
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import click
from rich.console import Console, RenderableType

from sidelight._wording import count, printable, shortened
from sidelight.cli.errors import one_line

UpdateProgress = Callable[..., None]

_WIDTH_OF_FILES = 120
# Warnings from one place in the code, as one about every column of a table.
_MOST_OF_A_KIND = 10


class Terminal:
    """Where a command prints: errors only if ``quiet``; ``as_json`` leaves standard output to one JSON object.

    The ``notes`` about the data are to be kept with the result.
    """

    def __init__(self, *, quiet: bool = False, as_json: bool = False) -> None:
        self.notes: list[str] = []
        self._quiet = quiet
        self._as_json = as_json
        self._errors = _plain_console(stderr=True)

    def note(self, sentence: str) -> None:
        """Print a sentence about the data that the user should read, and keep it."""
        self.notes.append(shortened(printable(sentence)))
        self.tell(sentence)

    def tell(self, sentence: str) -> None:
        """Print a sentence on standard error."""
        if not self._quiet:
            self._errors.print(shortened(printable(sentence)), soft_wrap=True)

    def show(self, result: RenderableType) -> None:
        """Print a result for people: on standard output, unless that is left to JSON."""
        if not self._quiet:
            console = self._errors if self._as_json else _plain_console()
            if not console.is_terminal:  # a file has no width that tables must fit in
                console.width = _WIDTH_OF_FILES
            console.print(result, soft_wrap=isinstance(result, str))

    def print_json(self, summary: Any) -> None:
        """Print the JSON object for programs, if it was asked for."""
        if self._as_json:
            click.echo(json.dumps(summary, ensure_ascii=False, indent=2))

    @contextmanager
    def progress(self, doing: str, total: int | None = None, *, said: bool = False) -> Iterator[UpdateProgress]:
        """Show a progress bar, on terminals only; elsewhere a stage that is to be ``said`` is told in a line.

        Yields a function ``update(completed, detail)`` that moves the bar. The time that is left is estimated where the
        ``total`` is known.
        """
        doing = printable(doing)
        if self._quiet or not self._errors.is_terminal:
            if said:
                self.tell(f"{doing} …")
            yield _ignore
            return
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

        columns = (
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            TextColumn("{task.fields[detail]}"),
            TimeElapsedColumn(),
            *(() if total is None else (TextColumn("left:"), TimeRemainingColumn())),
        )
        with Progress(*columns, console=self._errors) as bars:
            bar = bars.add_task(doing, total=total, detail="")

            def update(completed: int | None = None, detail: str = "") -> None:
                bars.update(bar, completed=completed, detail=detail)

            yield update
            bars.update(bar, total=1, completed=1)

    @contextmanager
    def warnings_as_notes(self, but: str | None = None) -> Iterator[None]:
        """Turn warnings of the block into notes, but those with some words; of very many of a kind, the first ones."""
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            yield
        kinds: dict[tuple[str, int], list[str]] = {}
        different: dict[str, tuple[str, int]] = {}
        for warning in filter(_concerns_user, caught):
            if but is not None and but in str(warning.message):
                continue
            different.setdefault(one_line(warning.message), (warning.filename, warning.lineno))
        for sentence, place in different.items():
            kinds.setdefault(place, []).append(sentence)
        for told in kinds.values():
            for sentence in told[:_MOST_OF_A_KIND]:
                self.note(sentence)
            if len(told) > _MOST_OF_A_KIND:
                self.note(f"… and {count(len(told) - _MOST_OF_A_KIND, 'more message')} like the last one.")


def _plain_console(*, stderr: bool = False) -> Console:
    """Return a console without markup: [b] and :smile: can be names of labels."""
    return Console(stderr=stderr, highlight=False, markup=False, emoji=False)


def _ignore(completed: int | None = None, detail: str = "") -> None:
    """Take the place of a progress bar where there is none."""


def _concerns_user(warning: warnings.WarningMessage) -> bool:
    return not issubclass(warning.category, DeprecationWarning | PendingDeprecationWarning)
