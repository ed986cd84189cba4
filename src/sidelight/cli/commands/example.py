"""``sidelight example``: files to try the other commands on."""

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click
import numpy as np

from sidelight.cli import options
from sidelight.cli.console import Terminal
from sidelight.cli.customers import draw_customers, draw_judgements, draw_labels
from sidelight.cli.output import check_file_free
from sidelight.files.whole import whole_file

_LABELS_PER_SEGMENT = 6
_JUDGED_PAIRS = 60
_NEW_ROWS = 500
_FILES = ("customers.csv", "links.csv", "new.csv", "truth.csv")


@click.command()
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path(),
    help="Folder for the files; the one you are in by default.",
)
@click.option("--rows", type=click.IntRange(min=200), default=5000, show_default=True, help="Number of customers.")
@options.seed
@options.force
@options.quiet
def example(output: Path, rows: int, seed: int, force: bool, quiet: bool) -> None:
    """Write made-up customers to try the other commands on.

    customers.csv has columns of every kind, missing cells, and a column in which thirty rows have a segment; links.csv
    holds sixty judged pairs; new.csv has customers to place later; truth.csv has the segment of every customer.
    """
    output.mkdir(parents=True, exist_ok=True)
    for name in _FILES:
        check_file_free(output / name, force=force)
    terminal = Terminal(quiet=quiet)
    random = np.random.default_rng(seed)
    with terminal.progress(f"drawing {rows} customers"):
        customers = draw_customers(rows, "C", random)
        labels = draw_labels(customers, _LABELS_PER_SEGMENT, random)
        judgements = draw_judgements(customers, _JUDGED_PAIRS, random)
        new = draw_customers(_NEW_ROWS, "N", random)
    truth = {
        "id": [*customers.columns["id"].tolist(), *new.columns["id"].tolist()],
        "segment": [*customers.names(), *new.names()],
    }
    tables: tuple[Mapping[str, Any], ...] = ({**customers.columns, "segment": labels}, judgements, new.columns, truth)
    for name, columns in zip(_FILES, tables, strict=True):
        _write(output / name, columns)
    terminal.show(f"wrote {', '.join(str(output / name) for name in _FILES)}")


def _write(path: Path, columns: Mapping[str, Sequence[Any]]) -> None:
    with whole_file(path) as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        # Python's own numbers are written as they are read; NumPy's are not.
        cells = [values.tolist() if isinstance(values, np.ndarray) else values for values in columns.values()]
        writer.writerows(zip(*cells, strict=True))
