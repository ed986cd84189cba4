"""``sidelight fit``: from a table and what is known about it to clusters, a model and a report."""

import time
from pathlib import Path
from typing import Any, NamedTuple

import click
import numpy as np

from sidelight._typing import FloatArray, IntArray
from sidelight.cli.console import Move, Voice
from sidelight.cli.errors import refusing
from sidelight.cli.extras import check_drawing
from sidelight.cli.models import MODELS, check_takes, make_model
from sidelight.cli.options import encoding_option, force_option, json_option, quiet_option, seed_option
from sidelight.cli.output import check_folder_free, check_room
from sidelight.cli.result.askable import Pool, choose_rows, read_cells
from sidelight.cli.result.clusters import Placed, write_clusters
from sidelight.cli.result.folder import CLUSTERS, REPORT, is_result, write_result
from sidelight.cli.result.summary import found_lines, summarise, summary_table
from sidelight.cli.statements.given import Known, Request, read_known
from sidelight.cli.tables.recipe import Recipe, as_numbers, learn_columns
from sidelight.files.whole import whole_folder
from sidelight.inference.loop import Progress

# What a result takes on the disk, roughly: a line of clusters.csv, labels and posterior; and the report and the rest.
_BYTES_PER_ROW = 150
_BYTES_AT_LEAST = 2_000_000


class Prepared(NamedTuple):
    """A table made ready for a model.

    Parameters
    ----------
    recipe : Recipe
    frame : pandas.DataFrame
        What the model is fitted to.
    askable : (m,) int
        The rows that are kept to ask about.
    positions : (m, d)
        Where these are, as numbers.
    """

    recipe: Recipe
    frame: Any
    askable: IntArray
    positions: FloatArray


@click.command()
@click.argument("table", type=click.Path(path_type=Path))
@click.option("--id-column", metavar="COLUMN", help="Column that names the rows; links need one.")
@click.option("--label-column", metavar="COLUMN", help="Column with the labels of some rows, empty in the others.")
@click.option(
    "--links",
    multiple=True,
    type=click.Path(path_type=Path),
    help="File of judged pairs: id_a,id_b,relation[,confidence][,annotator]; may be given several times.",
)
@click.option("--ignore", multiple=True, metavar="COLUMN", help="Column to leave out; may be given several times.")
@click.option(
    "--categorical",
    multiple=True,
    metavar="COLUMN",
    help="Column to take as categories, whatever it holds; may be given several times.",
)
@click.option(
    "--confidence",
    type=click.FloatRange(0.5, 1, min_open=True),
    default=1.0,
    show_default=True,
    help="Chance that a link is right where its file does not say; 1 is certain.",
)
@click.option("--model", type=click.Choice(list(MODELS)), default="bayesian", show_default=True)
@click.option(
    "--clusters",
    type=click.IntRange(min=1),
    help="Number of clusters; the most there may be for bayesian, which finds the number itself.",
)
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    default=Path("result"),
    show_default=True,
    help="Folder for the result.",
)
@click.option("--report/--no-report", default=True, help="Whether to write report.html, which needs matplotlib.")
@click.option("--jobs", type=int, default=1, show_default=True, help="Threads, -1 for all cores.")
@seed_option
@encoding_option
@force_option
@quiet_option
@json_option
def fit(output: Path, report: bool, force: bool, quiet: bool, as_json: bool, **asked: Any) -> None:
    """Cluster TABLE (CSV or Parquet) with the labels and judged pairs there are.

    Writes a folder with clusters.csv (cluster, name and probability of every row, and which statements the result
    breaks), report.html, the model for sidelight predict, the rows for sidelight ask, and summary.json.
    """
    began = time.perf_counter()
    request = Request(**asked)
    voice = Voice(quiet=quiet, as_json=as_json)
    check_folder_free(output, force=force, ours=is_result, what="sidelight result")
    if report:
        check_drawing()
    with voice.stage(f"reading {request.table}"):
        known = read_known(request)
    check_room(output, _BYTES_PER_ROW * known.side.n_rows + _BYTES_AT_LEAST)
    for line in found_lines(known.file.path, known.found, known.side, known.links):
        voice.note(line)
    check_takes(request.model, known.side)
    prepared = _prepare(request, known, voice)
    known = known._replace(found=known.found._replace(frame=None))  # of two frames the one that is fitted is enough
    voice.tell(f"fitting {request.model} …")
    with voice.stage("fitting") as move, voice.hearing_warnings(), refusing(str(request.table)):
        model = _fitted(request, known, prepared.frame, move)
    seconds = time.perf_counter() - began
    summary = {
        "table": str(request.table),
        "model": request.model,
        **summarise(known.found, known.side, known.links, model),
        "seconds": round(seconds, 1),
        "notes": voice.notes,
    }
    with voice.stage(f"writing {output}"), whole_folder(output) as folder:
        _write(folder, request, known, prepared, model, summary)
        if report:
            page = _report(request, known, prepared.frame, model, (*voice.notes,), output)
            (folder / REPORT).write_text(page, encoding="utf-8")
    voice.show(summary_table(summary, output))
    voice.give({**summary, "output": str(output)})


def _prepare(request: Request, known: Known, voice: Voice) -> Prepared:
    """Make the table ready for the model, and say so where that changes anything."""
    numbers_only = MODELS[request.model].numbers_only
    columns = learn_columns(known.found)
    recipe = Recipe(request.model, numbers_only, request.id_column, request.label_column, columns)
    if numbers_only:
        voice.note(f"--model {request.model} takes numbers: they are standardised, categories become zeros and ones.")
        if any(known.found.missing.values()):
            voice.note("missing numbers are replaced by the median of their column, missing categories by zeros.")
    askable = choose_rows(known.side, request.seed)
    positions = as_numbers(known.found.frame.iloc[askable], columns).to_numpy()
    return Prepared(recipe, recipe.frame_for_model(known.found.frame), askable, positions)


def _fitted(request: Request, known: Known, frame: Any, move: Move) -> Any:
    """Fit the model and take what watched it off again."""
    scale = 1 / len(frame)
    steps = 0

    def watch(progress: Progress) -> None:
        nonlocal steps
        steps += 1
        move(detail=f"step {steps}, bound {progress.objective * scale:.5g} per row")

    model = make_model(
        request.model,
        clusters=request.clusters,
        seed=request.seed,
        jobs=request.jobs,
        kinds=known.found.kinds,
        callbacks=[watch],
    )
    model.set_params(keep_posterior=True)
    model.fit(frame, side=known.side)
    return model.set_params(callbacks=None)


def _write(
    folder: Path, request: Request, known: Known, prepared: Prepared, model: Any, summary: dict[str, Any]
) -> None:
    n = len(model.labels_)
    ids = np.arange(1, n + 1) if known.ids is None else known.ids
    probability = model.posterior_[np.arange(n), model.labels_]
    placed = Placed(ids, request.id_column or "row", model.labels_, model.cluster_names_, probability)
    with (folder / CLUSTERS).open("w", encoding="utf-8", newline="") as file:
        write_clusters(file, placed, known.side, model.violations_)
    rows = prepared.askable
    columns = [name for name in known.file.header if name != request.id_column]
    pool = Pool(
        ids=ids[rows].astype(str),
        posterior=model.posterior_[rows],
        positions=prepared.positions,
        side=known.side.restrict(rows),
        columns=columns,
        values=read_cells(known.file, columns, rows, n),
    )
    write_result(folder, model=model, recipe=prepared.recipe, pool=pool, summary=summary)


def _report(request: Request, known: Known, frame: Any, model: Any, notes: tuple[str, ...], output: Path) -> str:
    from sidelight.report import html_report

    return html_report(
        model,
        frame,
        side=known.side,
        ids=known.ids,
        title=f"Clusters of {request.table.name}",
        notes=notes,
        usage=(f"sidelight predict {output} new.csv -o placed.csv",),
    )
