"""Options that several commands share."""

from pathlib import Path
from typing import Any

import click


def _not_zero(_context: Any, _option: Any, number: int) -> int:
    if number == 0:
        raise click.BadParameter("0 threads do nothing; use 1 or more, or -1 for all cores.")
    return number


force = click.option("--force", is_flag=True, help="Replace what an earlier run wrote there.")
quiet = click.option("--quiet", is_flag=True, help="Say nothing but errors.")
json = click.option(
    "--json", "as_json", is_flag=True, help="Print one JSON object on standard output; people read standard error."
)
seed = click.option(
    "--seed", type=click.IntRange(0, 2**32 - 1), default=0, show_default=True, help="Seed of all that is random."
)
jobs = click.option(
    "--jobs", type=int, default=1, show_default=True, callback=_not_zero, help="Threads, -1 for all cores."
)
encoding = click.option(
    "--encoding", default="utf-8", show_default=True, help="Encoding of CSV files, latin-1 or cp1252, say."
)
escape_formulas = click.option(
    "--escape-formulas",
    is_flag=True,
    help="Put an apostrophe before text that a spreadsheet would run as a formula.",
)
table_output = click.option(
    "-o", "--output", type=click.Path(path_type=Path), help="File to write; standard output where none is named."
)
result = click.argument("result", type=click.Path(path_type=Path))
