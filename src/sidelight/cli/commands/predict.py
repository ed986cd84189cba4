"""``sidelight predict``: the clusters of rows that the model has never seen."""

from pathlib import Path
from typing import Any

import click
import numpy as np

from sidelight._typing import AnyArray
from sidelight.cli.console import Move, Voice
from sidelight.cli.errors import Refusal, refusing
from sidelight.cli.options import (
    encoding_option,
    force_option,
    json_option,
    quiet_option,
    result_argument,
    table_output_option,
)
from sidelight.cli.output import check_file_free, output_text
from sidelight.cli.result.clusters import Placed, write_placed
from sidelight.cli.result.folder import open_result
from sidelight.cli.tables.files import TableFile, check_columns, open_table, read_ids
from sidelight.cli.tables.recipe import Recipe, read_by_recipe

_PLACED_AT_ONCE = 50_000


@click.command()
@result_argument
@click.argument("table", type=click.Path(path_type=Path))
@click.option(
    "--id-column", metavar="COLUMN", help="Column that names the rows, if it is called otherwise than before."
)
@table_output_option
@encoding_option
@force_option
@quiet_option
@json_option
def predict(
    result: Path,
    table: Path,
    id_column: str | None,
    output: Path | None,
    encoding: str,
    force: bool,
    quiet: bool,
    as_json: bool,
) -> None:
    """Place the rows of TABLE in the clusters of RESULT, a folder that sidelight fit wrote.

    TABLE needs the columns that the model was fitted to, by their names, in any order. Writes id, cluster, name and
    probability of every row.
    """
    voice = Voice(quiet=quiet, as_json=as_json)
    if output is None and as_json:
        raise Refusal("--json leaves no room for the table on standard output; name a file for it with -o.")
    if output is not None:
        check_file_free(output, force=force)
    opened = open_result(result)
    with voice.stage(f"reading {table}"):
        file = open_table(table, encoding)
        named = id_column or opened.recipe.id_column
        ids, id_name = _ids(file, named, required=id_column is not None, voice=voice)
        frame = read_by_recipe(file, opened.recipe)
        model = opened.model()
    n = len(frame)
    with voice.stage("placing", total=n) as move, voice.hearing_warnings(), refusing(str(table)):
        labels, probability = _placed(model, opened.recipe, frame, move)
    rows = np.arange(1, n + 1) if ids is None else ids
    placed = Placed(rows, id_name, labels, model.cluster_names_, probability)
    with output_text(output) as text:
        write_placed(text, placed)
    sizes = np.bincount(labels, minlength=len(model.cluster_names_)).tolist()
    clusters = {str(name): size for name, size in zip(model.cluster_names_, sizes, strict=True)}
    voice.tell(f"{n} rows placed: " + ", ".join(f"{size} {name}" for name, size in clusters.items()))
    voice.give({"rows": n, "clusters": clusters, "notes": voice.notes, "output": str(output)})


def _ids(file: TableFile, column: str | None, *, required: bool, voice: Voice) -> tuple[AnyArray | None, str]:
    """Return the ids of the rows, None where they go by their numbers, and what the column is called."""
    if required and column is not None:
        check_columns(file, {column: "--id-column"})
    if column is None or column not in file.header:
        if column is not None:
            voice.note(f"{file.path} has no column {column!r}, so rows go by their numbers from 1.")
        return None, "row"
    return read_ids(file, column), column


def _placed(model: Any, recipe: Recipe, frame: Any, move: Move) -> tuple[AnyArray, AnyArray]:
    """Return the cluster of each row and its probability, some rows at a time."""
    n = len(frame)
    labels, probability = np.empty(n, dtype=np.int64), np.empty(n)
    for start in range(0, n, _PLACED_AT_ONCE):
        part = slice(start, start + _PLACED_AT_ONCE)
        chances = model.predict_proba(recipe.frame_for_model(frame.iloc[part]))
        labels[part], probability[part] = chances.argmax(axis=1), chances.max(axis=1)
        move(completed=min(start + _PLACED_AT_ONCE, n))
    return labels, probability
