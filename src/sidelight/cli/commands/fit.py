"""``sidelight fit``: from a table and side information to clusters, a model and a report."""

import shlex
import time
from pathlib import Path
from typing import Any

import click
import numpy as np

from sidelight._typing import AnyArray, FloatArray, IntArray
from sidelight._wording import printable
from sidelight.cli import options
from sidelight.cli.cluster import bring_results, connected, on_cluster
from sidelight.cli.console import Terminal, UpdateProgress
from sidelight.cli.errors import Refusal, refusing
from sidelight.cli.extras import check_drawing
from sidelight.cli.fit_input import FitInput, FitRequest, read_fit_input
from sidelight.cli.models import (
    MODELS,
    check_checkpoint,
    check_noise,
    check_only_known_classes,
    check_power,
    check_takes,
    chosen_model,
    make_model,
)
from sidelight.cli.output import check_folder_free, check_room, output_folder
from sidelight.cli.result.clusters import Assignment, write_clusters
from sidelight.cli.result.folder import CLUSTERS, REPORT, Pool, doubtful_links, is_result, write_result
from sidelight.cli.result.summary import (
    annotator_lines,
    input_lines,
    scale_lines,
    summarise,
    summary_table,
    trust_lines,
)
from sidelight.cli.steps import Steps
from sidelight.cli.tables.recipe import Recipe, as_numbers, recipe_columns
from sidelight.cli.tables.streams import called

# Size of a result on the disk, roughly: a line of clusters.csv, labels and posterior of each row; and all the rest.
_BYTES_PER_ROW = 150
_BYTES_AT_LEAST = 2_000_000
_ROWS_AT_ONCE = 1_000_000


@click.command()
@click.argument("table", type=click.Path(path_type=Path))
@click.option("--id-column", metavar="COLUMN", help="Column that names the rows; links need one.")
@click.option("--label-column", metavar="COLUMN", help="Column with the labels of some rows, empty in the others.")
@click.option(
    "--labels",
    multiple=True,
    type=click.Path(path_type=Path),
    help="File of labels by annotators who may err: a table of crowd-kit (task,worker,label) or cleanlab (a column per "
    "annotator), JSON of Label Studio, JSONL of Prodigy; the format is found. May be given several times.",
)
@click.option(
    "--links",
    multiple=True,
    type=click.Path(path_type=Path),
    help="File of judged pairs: id_a,id_b,relation[,confidence][,annotator], or pairs of Splink or dedupe; may be "
    "given several times.",
)
@click.option(
    "--learn-annotators",
    is_flag=True,
    help="Learn how reliable the annotators of tables id_a,id_b,relation,annotator are; those of other formats always "
    "are learned.",
)
@click.option(
    "--certain-annotator",
    multiple=True,
    metavar="NAME",
    help="Annotator who never errs; may be given several times.",
)
@click.option("--ignore", multiple=True, metavar="COLUMN", help="Column to leave out; may be given several times.")
@click.option(
    "--categorical",
    multiple=True,
    metavar="COLUMN",
    help="Column to take as categories, whatever it holds; may be given several times.",
)
@click.option(
    "--number",
    multiple=True,
    metavar="COLUMN",
    help="Column to take as numbers, also if it looks like codes or numbers the rows; may be given several times.",
)
@click.option(
    "--ordinal",
    multiple=True,
    metavar="COLUMN[=LOW<…<HIGH]",
    help="Column to take as ordered categories; text needs the order, size=small<medium<large, say.",
)
@click.option(
    "--date",
    multiple=True,
    metavar="COLUMN[=FORMAT]",
    help="Column to take as dates; born=%d/%m/%Y says how they are written where that is not clear.",
)
@click.option(
    "--log",
    multiple=True,
    metavar="COLUMN",
    help="Column of numbers above zero to take as logarithms; may be given several times.",
)
@click.option(
    "--confidence",
    type=click.FloatRange(0.5, 1, min_open=True),
    default=1.0,
    show_default=True,
    help="Chance that a link is right where its file does not say; 1 is certain.",
)
@click.option(
    "--model",
    type=click.Choice(list(MODELS)),
    help="The model; by default guided, or bayesian where --noise, --power, --no-power or --checkpoint is given.",
)
@click.option(
    "--clusters",
    type=click.IntRange(min=1),
    help="Number of clusters; the most there may be for bayesian. guided and bayesian find the number without it.",
)
@click.option(
    "--only-known-classes",
    is_flag=True,
    help="Every row is of a labelled class: look for no new ones (guided).",
)
@click.option(
    "--power/--no-power",
    default=None,
    help="Whether columns with a long tail may be taken on a logarithmic or exponential scale (bayesian, labelled).",
)
@click.option(
    "--noise",
    is_flag=True,
    help="Set rows that belong nowhere apart, as noise; for bayesian and labelled.",
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
@options.jobs
@click.option(
    "--cluster",
    metavar="ADDRESS",
    help="Fit a folder on a Dask cluster: the address of its scheduler (tcp://…), or local for processes here.",
)
@click.option(
    "--checkpoint",
    type=click.Path(path_type=Path),
    help="Folder that keeps every pass, so that the same command goes on where a killed one was; not for guided.",
)
@options.escape_formulas
@options.seed
@options.encoding
@options.force
@options.quiet
@options.json
def fit(output: Path, report: bool, force: bool, quiet: bool, as_json: bool, **asked: Any) -> None:
    """Cluster TABLE (CSV, Parquet, .xlsx and others) with the labels and judged pairs there are.

    A folder of Parquet files is read part by part, and may be larger than memory; it is fitted by --model guided or
    bayesian.

    Writes a folder with clusters.csv (cluster, name and probability of every row, and which statements the result
    breaks), report.html, the model for sidelight predict, the rows for sidelight ask, and summary.json.
    """
    began = time.perf_counter()
    request = FitRequest(**asked)
    in_files = request.table.is_dir()
    model_name = chosen_model(
        request.model, power=request.power, noise=request.noise, checkpoint=request.checkpoint, in_files=in_files
    )
    request = request._replace(model=model_name)
    terminal = Terminal(quiet=quiet, as_json=as_json)
    check_folder_free(output, force=force, ours=is_result, what="sidelight result")
    check_noise(request.model, request.noise)
    check_only_known_classes(request.model, request.only_known_classes)
    check_checkpoint(request.model, request.checkpoint)
    if request.cluster is not None and not in_files:
        raise Refusal("--cluster is for a folder of Parquet files; give one, or leave --cluster out.")
    if report and not in_files:
        check_drawing()
    with terminal.progress(f"reading {called(request.table)}"), terminal.warnings_as_notes():
        frame, given = read_fit_input(request)
    check_room(output, _BYTES_PER_ROW * given.side.n_rows + _BYTES_AT_LEAST)
    told = input_lines(called(request.table), given)
    for line in (*told.table, *told.remarks, told.known):
        terminal.note(line)
    check_takes(request.model, given.side)
    check_power(request.model, request.power)
    if in_files and report:
        terminal.note("report.html is left out: it is made for tables in one file.")
    recipe = _recipe(request, given, terminal)
    positions = as_numbers(given.pool_frame, recipe.columns).to_numpy()
    frame = recipe.frame_for_model(frame)
    with (
        connected(request.cluster),
        terminal.progress(f"fitting {request.model}", said=True) as update,
        # What is said of links below names them by their ids, and no attribute of the model.
        terminal.warnings_as_notes(but="violations_.suspicions lists them"),
        refusing(str(called(request.table))),
    ):
        model = _fitted(request, given, frame if request.cluster is None else on_cluster(frame), update)
        if request.cluster is not None:
            bring_results(model)
    if given.ids is not None:
        model.violations_ = model.violations_.with_ids(given.ids)
    for line in (*scale_lines(model), *trust_lines(model), *annotator_lines(model)):
        terminal.note(line)
    probability = _probability(model)
    summary = {
        "table": printable(str(called(request.table))),
        "model": request.model,
        **summarise(given, model, probability),
        "seconds": round(time.perf_counter() - began, 1),
        "notes": terminal.notes,
    }
    with terminal.progress(f"writing {output}", said=True), output_folder(output, force=force) as folder:
        _write_clusters(folder / CLUSTERS, request, given, model, probability)
        write_result(folder, model=model, recipe=recipe, pool=_pool(given, model, positions), summary=summary)
        if report and not in_files:
            # The report has tables of what was given, and says everything once.
            shown = {printable(line) for line in (*told.table, told.known, *scale_lines(model))}
            notes = tuple(note for note in terminal.notes if note not in shown)
            page = _report(request, given, frame, model, notes, output)
            (folder / REPORT).write_text(page, encoding="utf-8")
    terminal.show(summary_table(summary, output))
    terminal.print_json({**summary, "output": printable(str(output))})


def _recipe(request: FitRequest, given: FitInput, terminal: Terminal) -> Recipe:
    """Return how tables become what the model takes, with notes where that changes the table."""
    numbers_only = MODELS[request.model].numbers_only
    if numbers_only:
        terminal.note(
            f"--model {request.model} takes numbers: they are standardised, categories become zeros and ones."
        )
        if any(given.features.missing.values()):
            terminal.note("missing numbers are replaced by the median of their column, missing categories by zeros.")
    columns = recipe_columns(given.frame, given.features)
    return Recipe(request.model, numbers_only, request.id_column, request.label_column, columns)


def _fitted(request: FitRequest, given: FitInput, frame: Any, update: UpdateProgress) -> Any:
    """Return the fitted model, without the callback that shows progress."""
    model = make_model(
        request.model,
        clusters=request.clusters,
        power=request.power,
        seed=request.seed,
        jobs=request.jobs,
        kinds=given.features.kinds,
        noise=request.noise,
        only_known_classes=request.only_known_classes,
        callbacks=[],
    )
    steps = Steps(model.get_params().get("max_iter"), 1 / given.side.n_rows)
    model.set_params(keep_posterior=True, callbacks=[lambda progress: update(detail=steps(progress))])
    kept = {} if request.checkpoint is None else {"checkpoint": request.checkpoint}
    model.fit(frame, side=given.side, **kept)
    return model.set_params(callbacks=None)


def _posterior(model: Any, rows: slice | IntArray) -> FloatArray:
    """Return the probability of each cluster for some rows, and of noise last where the model has noise."""
    from sidelight.describe.assignment import with_noise

    return with_noise(model, model.posterior_[rows])


def _probability(model: Any) -> FloatArray:
    """Return the probability (n,) of the cluster of each row, or of noise: -1 is the last column."""
    labels, found = model.labels_, np.empty(len(model.labels_))
    for start in range(0, len(labels), _ROWS_AT_ONCE):
        part = slice(start, start + _ROWS_AT_ONCE)
        probabilities = _posterior(model, part)
        found[part] = probabilities[np.arange(len(probabilities)), labels[part]]
    return found


def _row_names(given: FitInput) -> AnyArray:
    """Return the ids of the rows, or their numbers from 1."""
    return np.arange(1, given.side.n_rows + 1) if given.ids is None else given.ids


def _write_clusters(path: Path, request: FitRequest, given: FitInput, model: Any, probability: FloatArray) -> None:
    id_column = request.id_column or "row"
    assignment = Assignment(
        _row_names(given), id_column, model.labels_, model.cluster_names_, probability, request.escape_formulas
    )
    with path.open("w", encoding="utf-8", newline="") as file:
        write_clusters(file, assignment, given.side, model.violations_)


def _pool(given: FitInput, model: Any, positions: FloatArray) -> Pool:
    rows, columns, values = given.pool
    return Pool(
        ids=_row_names(given)[rows].astype(str),
        posterior=_posterior(model, rows),
        positions=positions,
        side=given.side.restrict(rows),
        doubtful=doubtful_links(model, rows),
        columns=columns,
        values=values,
    )


def _next_steps(request: FitRequest, output: Path) -> list[str]:
    """Return the commands that choose pairs to ask about and fit again with the answers, or that open the studio."""
    asks = f"sidelight ask {_quoted(output)} -o questions.csv"
    named = "" if request.id_column is None else f" --id-column {_quoted(request.id_column)}"
    labelled = "" if request.label_column is None else f" --label-column {_quoted(request.label_column)}"
    again = (
        f"sidelight fit {_quoted(request.table)}{named}{labelled} --links questions.csv -o {_quoted(output)} --force"
    )
    if request.id_column is None:
        return [asks, "# links need a column that names the rows: give the table one, and fit with --id-column"]
    studio = f"sidelight studio {_quoted(request.table)}{named}{labelled}"
    return [
        asks,
        "# write must or cannot into the column relation, and fit again:",
        again,
        "# or answer such questions in the browser, while the model learns:",
        studio,
    ]


def _quoted(words: Path | str) -> str:
    return shlex.quote(printable(str(words)))


def _report(request: FitRequest, given: FitInput, frame: Any, model: Any, notes: tuple[str, ...], output: Path) -> str:
    from sidelight.report import html_report

    return html_report(
        model,
        frame,
        side=given.side,
        ids=given.ids,
        title=f"Clusters of {printable(called(request.table).name)}",
        notes=notes,
        usage=(f"sidelight predict {_quoted(output)} new.csv -o placed.csv",),
        next_steps=_next_steps(request, output),
    )
