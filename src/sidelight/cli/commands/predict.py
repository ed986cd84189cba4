"""``sidelight predict``: the clusters of new rows."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import numpy as np

from sidelight._typing import AnyArray
from sidelight._wording import NOISE, printable
from sidelight.cli import options
from sidelight.cli.console import Terminal, UpdateProgress
from sidelight.cli.errors import refusing
from sidelight.cli.output import check_table_output, output_text
from sidelight.cli.result.clusters import Assignment, write_assignment
from sidelight.cli.result.folder import open_result
from sidelight.cli.tables.files import TableFile, check_columns, open_table, row_ids
from sidelight.cli.tables.folders import ParquetFolder
from sidelight.cli.tables.recipe import Recipe, check_recipe_columns, recipe_frame

_ROWS_AT_ONCE = 50_000


@click.command()
@options.result
@click.argument("table", type=click.Path(path_type=Path))
@click.option(
    "--id-column", metavar="COLUMN", help="Column that names the rows, if it is called otherwise than before."
)
@options.table_output
@options.escape_formulas
@options.encoding
@options.force
@options.quiet
@options.json
def predict(
    result: Path,
    table: Path,
    id_column: str | None,
    output: Path | None,
    escape_formulas: bool,
    encoding: str,
    force: bool,
    quiet: bool,
    as_json: bool,
) -> None:
    """Place the rows of TABLE in the clusters of RESULT, a folder that sidelight fit wrote.

    TABLE needs the columns that the model was fitted to, by their names, in any order. Writes id, cluster, name and
    probability of every row.
    """
    terminal = Terminal(quiet=quiet, as_json=as_json)
    check_table_output(output, force=force, as_json=as_json)
    opened = open_result(result)
    with terminal.progress(f"reading {table}"), terminal.warnings_as_notes():
        file = open_table(table, encoding)
        if id_column is not None:
            check_columns(file, {id_column: "--id-column"})
        key = _key(file, id_column or opened.recipe.id_column, terminal)
        check_recipe_columns(file, opened.recipe)
        wanted = list(
            dict.fromkeys([*(column.name for column in opened.recipe.columns), *([] if key is None else [key])])
        )
        model = opened.model()
    sizes = np.zeros(len(model.cluster_names_) + 1, dtype=np.int64)
    with (
        output_text(output) as text,
        terminal.progress("placing rows", said=True) as update,
        terminal.warnings_as_notes(),
    ):
        for number, (part, columns) in enumerate(_parts(file, wanted)):
            done = int(sizes.sum())
            ids = None if key is None else row_ids(part, columns, key, needed=False)
            frame = recipe_frame(part, columns, opened.recipe)
            with refusing(str(table)):
                labels, probability = _assigned(model, opened.recipe, frame, update, done)
            rows = np.arange(done + 1, done + len(frame) + 1) if ids is None else ids
            found = Assignment(rows, key or "row", labels, model.cluster_names_, probability, escape_formulas)
            write_assignment(text, found, first=number == 0)
            sizes += np.bincount(labels + 1, minlength=len(sizes))
    n = int(sizes.sum())
    clusters = {str(name): int(size) for name, size in zip(model.cluster_names_, sizes[1:], strict=True)}
    if hasattr(model, "noise_weight_"):
        clusters[NOISE] = int(sizes[0])
    terminal.tell(f"{n} rows placed: " + ", ".join(f"{size} {name}" for name, size in clusters.items()))
    terminal.print_json({"rows": n, "clusters": clusters, "notes": terminal.notes, "output": printable(str(output))})


def _parts(file: TableFile, columns: list[str]) -> Iterator[tuple[TableFile, Any]]:
    """Yield columns of a file at once, those of a folder part by part."""
    if isinstance(file, ParquetFolder):
        yield from file.parts(columns)
    else:
        yield file, file.read(columns)


def _key(file: TableFile, column: str | None, terminal: Terminal) -> str | None:
    """Return the column that names the rows, None where they go by their numbers."""
    if column is not None and column not in file.header:
        terminal.note(f"{file.path} has no column {column!r}, so rows go by their numbers from 1.")
        return None
    return column


def _assigned(model: Any, recipe: Recipe, frame: Any, update: UpdateProgress, done: int) -> tuple[AnyArray, AnyArray]:
    """Return the cluster of each row, -1 for noise, and its probability, some rows at a time."""
    from sidelight.describe.assignment import with_noise

    n = len(frame)
    labels, probability = np.empty(n, dtype=np.int64), np.empty(n)
    for start in range(0, n, _ROWS_AT_ONCE):
        part = slice(start, start + _ROWS_AT_ONCE)
        chances = with_noise(model, model.predict_proba(recipe.frame_for_model(frame.iloc[part])))
        labels[part], probability[part] = chances.argmax(axis=1), chances.max(axis=1)
        update(detail=f"{done + min(start + _ROWS_AT_ONCE, n)} rows")
    # Noise, where there is any, is one past the clusters.
    labels[labels == len(model.cluster_names_)] = -1
    return labels, probability
