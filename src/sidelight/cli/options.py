"""Options that several commands share."""

from pathlib import Path

import click

force_option = click.option("--force", is_flag=True, help="Replace what an earlier run wrote there.")
quiet_option = click.option("--quiet", is_flag=True, help="Say nothing but errors.")
json_option = click.option(
    "--json", "as_json", is_flag=True, help="Print one JSON object on standard output; people read standard error."
)
seed_option = click.option("--seed", type=int, default=0, show_default=True, help="Seed of all that is random.")
encoding_option = click.option(
    "--encoding", default="utf-8", show_default=True, help="Encoding of CSV files, latin-1 or cp1252, say."
)
table_output_option = click.option(
    "-o", "--output", type=click.Path(path_type=Path), help="File to write; standard output where none is named."
)
result_argument = click.argument("result", type=click.Path(path_type=Path))
