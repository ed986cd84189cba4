"""``sidelight``: the command line's entry."""

import click

from sidelight._version import __version__
from sidelight.cli.ask import ask
from sidelight.cli.compare import compare
from sidelight.cli.demo import demo
from sidelight.cli.example import example
from sidelight.cli.failures import Commands
from sidelight.cli.fit import fit
from sidelight.cli.predict import predict
from sidelight.cli.reproduce import reproduce


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="sidelight")
def main() -> None:
    """Cluster a table when you know a little about it: a few labels, some rows that belong together."""


for command in (example, fit, ask, predict, compare, demo, reproduce):
    main.add_command(command)
