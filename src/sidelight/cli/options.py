"""Options that several commands share."""

from pathlib import Path

import click

force = click.option("--force", is_flag=True, help="Replace what an earlier run wrote there.")
quiet = click.option("--quiet", is_flag=True, help="Say nothing but errors.")
json = click.option(
    "--json", "as_json", is_flag=True, help="Print one JSON object on standard output; people read standard error."
)
seed = click.option("--seed", type=int, default=0, show_default=True, help="Seed of all that is random.")
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
