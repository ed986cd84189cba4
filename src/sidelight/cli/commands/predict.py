"""``sidelight predict``: the clusters of new rows."""

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import click
import numpy as np

from sidelight._typing import AnyArray
from sidelight._wording import NOISE, printable
from sidelight.cli import options
from sidelight.cli.cluster import connected, on_partitions
from sidelight.cli.console import Terminal
from sidelight.cli.errors import Refusal, refusing
from sidelight.cli.extras import arrow
from sidelight.cli.output import check_table_output, output_text
from sidelight.cli.result.clusters import Assignment, write_assignment
from sidelight.cli.result.folder import open_result
from sidelight.cli.tables.arrow_columns import with_plain_text
from sidelight.cli.tables.files import TableFile, check_columns, open_table, row_ids
from sidelight.cli.tables.folders import ParquetFolder
from sidelight.cli.tables.recipe import Recipe, check_recipe_columns, recipe_frame
from sidelight.cli.tables.streams import called

_ROWS_AT_ONCE = 50_000


class Placed(NamedTuple):
    """Some rows: their ids (None where they go by their numbers), clusters, -1 for noise, and probabilities."""

    ids: AnyArray | None
    labels: AnyArray
    probability: AnyArray


@click.command()
@options.result
@click.argument("table", type=click.Path(path_type=Path))
@click.option(
    "--id-column", metavar="COLUMN", help="Column that names the rows, if it is called otherwise than before."
)
@click.option(
    "--cluster",
    metavar="ADDRESS",
    help="Place the rows of a folder on a Dask cluster: the address of its scheduler (tcp://…), or local.",
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
    cluster: str | None,
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
    with terminal.progress(f"reading {called(table)}"), terminal.warnings_as_notes():
        file = open_table(table, encoding)
        if id_column is not None:
            check_columns(file, {id_column: "--id-column"})
        key = _key(file, id_column or opened.recipe.id_column, terminal)
        check_recipe_columns(file, opened.recipe)
        if cluster is not None and not isinstance(file, ParquetFolder):
            raise Refusal("--cluster is for a folder of Parquet files; give one, or leave --cluster out.")
        model = opened.model()
    sizes = np.zeros(len(model.cluster_names_) + 1, dtype=np.int64)
    with (
        connected(cluster),
        output_text(output) as text,
        terminal.progress("placing rows", said=True) as update,
        terminal.warnings_as_notes(),
    ):
        placed = _placed_here if cluster is None else _placed_on_cluster
        for number, (ids, labels, probability) in enumerate(placed(file, key, model, opened.recipe)):
            done = int(sizes.sum())
            rows = np.arange(done + 1, done + len(labels) + 1) if ids is None else ids
            found = Assignment(rows, key or "row", labels, model.cluster_names_, probability, escape_formulas)
            write_assignment(text, found, first=number == 0)
            sizes += np.bincount(labels + 1, minlength=len(sizes))
            update(detail=f"{int(sizes.sum())} rows")
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


def _placed_here(file: TableFile, key: str | None, model: Any, recipe: Recipe) -> Iterator[Placed]:
    """Yield the rows of a table, some at a time, with their clusters."""
    from sidelight.tables.table import row_ranges

    wanted = list(dict.fromkeys([*(column.name for column in recipe.columns), *([] if key is None else [key])]))
    for part, columns in _parts(file, wanted):
        ids = None if key is None else row_ids(part, columns, key, needed=False)
        frame = recipe_frame(part, columns, recipe)
        for rows in row_ranges(len(frame), _ROWS_AT_ONCE) or [slice(0, 0)]:
            with refusing(str(file.path)):
                labels, probability = _assigned(model, recipe, frame.iloc[rows])
            yield Placed(None if ids is None else ids[rows], labels, probability)


def _placed_on_cluster(file: TableFile, key: str | None, model: Any, recipe: Recipe) -> Iterator[Placed]:
    """Do the same with the clusters found on a Dask cluster; ids are read here."""
    assert isinstance(file, ParquetFolder)
    ids = None if key is None else _id_reader(file, key)
    table = file.only([column.name for column in recipe.columns])
    with refusing(str(file.path)):
        for labels, probability in on_partitions(table, partial(_assigned_part, file, model, recipe)):
            yield Placed(None if ids is None else ids(len(labels)), labels, probability)


def _id_reader(file: ParquetFolder, key: str) -> Callable[[int], AnyArray]:
    """Return what reads the ids of the next rows, as many as it is told."""
    parts = (row_ids(part, columns, key, needed=False) for part, columns in file.parts([key]))
    waiting: list[AnyArray] = [np.empty(0, dtype=object)]

    def read(n: int) -> AnyArray:
        while sum(map(len, waiting)) < n:
            waiting.append(next(parts))
        found = np.concatenate(waiting)
        waiting[:] = [found[n:]]
        return found[:n]

    return read


def _assigned_part(file: ParquetFolder, model: Any, recipe: Recipe, part: Any) -> tuple[AnyArray, AnyArray]:
    """Return clusters and probabilities of the rows of a data frame, on a worker."""
    columns = with_plain_text(arrow().Table.from_pandas(part, preserve_index=False))
    return _assigned(model, recipe, recipe_frame(file, columns, recipe))


def _assigned(model: Any, recipe: Recipe, frame: Any) -> tuple[AnyArray, AnyArray]:
    """Return the cluster of each row, -1 for noise, and its probability."""
    from sidelight.describe.assignment import with_noise

    if not len(frame):
        return np.empty(0, dtype=np.int64), np.empty(0)
    chances = with_noise(model, model.predict_proba(recipe.frame_for_model(frame)))
    labels = chances.argmax(axis=1)
    # Noise, where there is any, is one past the clusters.
    return np.where(labels == len(model.cluster_names_), -1, labels), chances.max(axis=1)
