"""``python -m sidelight`` is the command ``sidelight``."""

from sidelight.cli.main import main

main(prog_name="sidelight")
