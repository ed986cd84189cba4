"""``sidelight``: the command line's entry."""

import click

from sidelight._version import __version__
from sidelight.cli.commands.ask import ask
from sidelight.cli.commands.compare import compare
from sidelight.cli.commands.demo import demo
from sidelight.cli.commands.example import example
from sidelight.cli.commands.fit import fit
from sidelight.cli.commands.predict import predict
from sidelight.cli.commands.reproduce import reproduce
from sidelight.cli.errors import Commands


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="sidelight")
def main() -> None:
    """Cluster a table when you know a little about it: a few labels, some rows that belong together."""


for command in (example, fit, ask, predict, compare, demo, reproduce):
    main.add_command(command)
