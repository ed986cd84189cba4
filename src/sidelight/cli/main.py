"""``sidelight``: the command line's entry."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

import click

from sidelight._version import __version__
from sidelight.cli.errors import Commands

# The commands and the first sentences of their help, which need not be imported to be listed.
_COMMANDS = {
    "example": "Write made-up customers to try the other commands on.",
    "fit": "Cluster TABLE (CSV, Parquet, .xlsx and others) with the labels and judged pairs there are.",
    "ask": "Write the pairs of rows whose answer would teach the model of RESULT most.",
    "studio": "Answer questions about TABLE in the browser: same or different, live, alone or with others.",
    "predict": "Place the rows of TABLE in the clusters of RESULT, a folder that sidelight fit wrote.",
    "compare": "Say how far two clusterings agree: FIRST is judged by SECOND, which may be the truth.",
    "demo": "Cluster handwritten digits without and with a handful of labels and links.",
    "reproduce": "Run the experiments of PAPERS again: echraibi, yu, zhao, amini, li, or all of them.",
}

# New objects until Python looks for garbage. Importing numerical libraries makes very many that stay; looking at all of
# them again and again takes a tenth of the time of a small fit.
_OBJECTS_UNTIL_COLLECTION = 20_000


@contextmanager
def _rarely_collecting() -> Iterator[None]:
    """Look for garbage less often than Python does by itself."""
    youngest, *older = gc.get_threshold()
    gc.set_threshold(max(youngest, _OBJECTS_UNTIL_COLLECTION), *older)
    try:
        yield
    finally:
        gc.set_threshold(youngest, *older)


class LazyCommands(Commands):
    """A group that imports a command, of the module of its name in `sidelight.cli.commands`, when it is invoked."""

    def main(self, *args: Any, **kwargs: Any) -> Any:
        """Run the command line."""
        with _rarely_collecting():
            return super().main(*args, **kwargs)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command that the arguments name, and the arguments that are left for it."""
        name, command, rest = super().resolve_command(ctx, args)
        if name in _COMMANDS:
            command = getattr(import_module(f"sidelight.cli.commands.{name}"), name)
        return name, command, rest


@click.group(cls=LazyCommands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="sidelight")
def main() -> None:
    """Cluster a table when you know a little about it: a few labels, some rows that belong together."""


for name, text in _COMMANDS.items():
    main.add_command(click.Command(name, help=text))
