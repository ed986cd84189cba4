"""``sidelight``: the command line's entry."""

import click

from sidelight._version import __version__
from sidelight.cli.demo import demo


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="sidelight")
def main() -> None:
    """Cluster a table when you know a little about it: a few labels, some rows that belong together."""


main.add_command(demo)
