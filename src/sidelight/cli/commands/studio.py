"""``sidelight studio``: same or different, in the browser."""

import re
import webbrowser
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import click
import numpy as np

from sidelight._wording import printable
from sidelight.cli import options
from sidelight.cli.console import Terminal
from sidelight.cli.errors import Refusal, refusing
from sidelight.cli.extras import arrow, check_studio
from sidelight.cli.fit_input import FitRequest, read_fit_input
from sidelight.cli.result.clusters import Assignment, write_clusters
from sidelight.cli.result.folder import CLUSTERS, RECIPE, REPORT, Pool, choose_rows, doubtful_links, write_result
from sidelight.cli.result.summary import input_lines
from sidelight.cli.tables.files import open_table
from sidelight.cli.tables.recipe import Recipe, as_numbers, recipe_columns

_ENDING = ".studio"


@click.command()
@click.argument("table", type=click.Path(path_type=Path), required=False)
@click.option("--id-column", metavar="COLUMN", help="Column that names the rows.")
@click.option("--label-column", metavar="COLUMN", help="Column with the labels of some rows, empty in the others.")
@click.option(
    "--labels",
    multiple=True,
    type=click.Path(path_type=Path),
    help="File of labels by annotators, in any format that sidelight fit --labels takes; may be given several times.",
)
@click.option(
    "--links",
    multiple=True,
    type=click.Path(path_type=Path),
    help="File of judged pairs: id_a,id_b,relation[,confidence][,annotator], or by annotators in a format that "
    "sidelight fit --links takes; may be given several times.",
)
@click.option("--ignore", multiple=True, metavar="COLUMN", help="Column to show but not to cluster by.")
@click.option("--categorical", multiple=True, metavar="COLUMN", help="Column to take as categories.")
@click.option("--number", multiple=True, metavar="COLUMN", help="Column to take as numbers.")
@click.option("--ordinal", multiple=True, metavar="COLUMN[=LOW<…<HIGH]", help="Column of ordered categories.")
@click.option("--date", multiple=True, metavar="COLUMN[=FORMAT]", help="Column to take as dates.")
@click.option("--log", multiple=True, metavar="COLUMN", help="Column of numbers to take as logarithms.")
@click.option(
    "--confidence",
    type=click.FloatRange(0.5, 1, min_open=True),
    default=1.0,
    show_default=True,
    help="Chance that a link of --links is right where its file does not say.",
)
@click.option("--clusters", type=click.IntRange(min=1), help="Number of clusters; found without it.")
@click.option("--only-known-classes", is_flag=True, help="Every row is of a labelled class: look for no new ones.")
@click.option(
    "--images",
    type=click.Path(path_type=Path, file_okay=False),
    help="Folder that columns with names of image files refer to; that of the table by default.",
)
@click.option(
    "--project",
    help="File of the project, TABLE with the ending .studio by default; with --store, the name of its schema.",
)
@click.option("--store", metavar="postgresql://…", help="Keep the project in a PostgreSQL database, for teams.")
@click.option("--resume", is_flag=True, help="Go on with an earlier project.")
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on; others need a token.")
@click.option(
    "--port", type=click.IntRange(0, 65535), default=8722, show_default=True, help="0 takes any that is free."
)
@click.option(
    "--annotator", "annotators", multiple=True, metavar="NAME", help="Print a personal link, with --host; repeatable."
)
@click.option("--browser/--no-browser", default=True, help="Whether to open the browser.")
@options.seed
@options.encoding
@options.force
@options.quiet
def studio(
    table: Path | None,
    project: str | None,
    store: str | None,
    resume: bool,
    host: str,
    port: int,
    annotators: tuple[str, ...],
    browser: bool,
    force: bool,
    quiet: bool,
    images: Path | None,
    **asked: Any,
) -> None:
    """Answer questions about TABLE in the browser: same or different, live, alone or with others.

    The project is kept in one file, and --resume goes on with it: sidelight studio TABLE --resume, or sidelight studio
    NAME.studio --resume.
    """
    check_studio()
    from sidelight.studio.server import Links, bind, create_project, serve
    from sidelight.studio.store import Store, StoreError

    terminal = Terminal(quiet=quiet)
    place = _place(table, project, store)
    try:
        if resume:
            listener = bind(host, port)
            opened = Store.open(place)
        else:
            if table is None:
                raise Refusal("name a table, or an earlier project with --resume.")
            if place.path is not None and place.path.exists() and not force:
                raise Refusal(f"{place.words} exists; --resume goes on with it, --force replaces it.")
            listener = bind(host, port)
            request = FitRequest(table=table, model="guided", power=None, jobs=1, **asked)
            read = _read(request, images, terminal)
            opened = create_project(place, read.table, read.annotations, replace=force)
    except StoreError as error:
        raise Refusal(str(error)) from error

    def announce(links: Links) -> None:
        terminal.tell(f"the project is kept in {place.words}; stop with Ctrl+C, and go on later with --resume")
        for name, link in links.personal.items():
            click.echo(f"{printable(name)}: {link}")
        click.echo(links.owner)
        if browser:
            webbrowser.open(links.owner)

    serve(opened, listener, host, pack_result, annotators=annotators, announce=announce)


def _place(table: Path | None, project: str | None, store: str | None) -> Any:
    """Return where the project is kept."""
    from sidelight.studio.store import StoreError, database_place, file_place

    if store is None:
        if project is not None:
            return file_place(Path(project))
        if table is None:
            raise Refusal("name a table, or a project with --project.")
        return file_place(table if table.suffix == _ENDING else table.with_name(table.name.partition(".")[0] + _ENDING))
    stem = "studio" if table is None else table.name.partition(".")[0]
    try:
        return database_place(store, project or re.sub(r"[^a-z0-9_]", "_", f"studio_{stem}".lower())[:63])
    except StoreError as error:
        raise Refusal(str(error)) from error


class _Read(NamedTuple):
    """The table of a project, and what annotators said before."""

    table: Any
    annotations: Any


def _read(request: FitRequest, images: Path | None, terminal: Terminal) -> _Read:
    """Read the table and the statements, and say what was found."""
    from sidelight.studio.table import Settings, StudioTable

    if request.table.is_dir():
        raise Refusal(f"{request.table} is a folder; the studio takes a table in one file.")
    if request.table.suffix == _ENDING:
        raise Refusal(f"{request.table} is a project; add --resume to go on with it.")
    if request.id_column is None:
        raise Refusal(
            "questions name rows by their ids: say with --id-column which column holds them. Where none does, add one "
            "that numbers the rows."
        )
    with terminal.progress(f"reading {request.table}"), terminal.warnings_as_notes():
        frame, given = read_fit_input(request)
        file = open_table(request.table, request.encoding)
        stored = file.read(file.header)
    if given.side.n_rows < 2:
        raise Refusal(f"{request.table} has {given.side.n_rows} row; a question needs two.")
    assert given.ids is not None
    _check_ids(request.table, given.ids)
    lines = input_lines(request.table, given)
    for line in (*lines.table, *lines.remarks, lines.known):
        terminal.note(line)
    aside = {request.id_column, request.label_column}
    text = arrow().string()
    cells = {
        name: file.convert(stored[name], name, text)
        for name in file.header
        if name not in aside and not _shapeless(stored[name].type)
    }
    columns = recipe_columns(given.frame, given.features)
    recipe = Recipe("guided", False, request.id_column, request.label_column, columns)
    with refusing(str(request.table)):
        positions = as_numbers(frame, columns).to_numpy()
    table = StudioTable(
        Settings(
            title=printable(request.table.name),
            id_column=request.id_column,
            label_column=request.label_column,
            kinds=dict(given.features.kinds),
            sources=dict(given.features.sources),
            clusters=request.clusters,
            only_known_classes=request.only_known_classes,
            seed=request.seed,
            images=str((images or request.table.parent).resolve()),
            notes=tuple(terminal.notes),
        ),
        given.ids,
        arrow().table(cells),
        frame,
        np.asarray(positions, dtype=float),
        replace(given.side, annotations=None),
        recipe.text().encode(),
    )
    return _Read(table, given.side.annotations)


def _check_ids(path: Path, ids: Any) -> None:
    names, times = np.unique(ids.astype(str), return_counts=True)
    if times.max() > 1:
        raise Refusal(
            f"{path}: the id {names[times.argmax()]!r} stands {times.max()} times; questions need ids that differ."
        )


def _shapeless(kind: Any) -> bool:
    types = arrow().types
    return any(
        is_of(kind) for is_of in (types.is_nested, types.is_binary, types.is_large_binary, types.is_fixed_size_binary)
    )


def pack_result(folder: Path, bundle: Any) -> None:
    """Write the folder that ``sidelight fit`` writes, of the clusters that the studio shows."""
    from sidelight.report import html_report

    table, clusters, side = bundle.table, bundle.clusters, bundle.side
    posterior = clusters.posterior_
    probability = posterior[np.arange(len(posterior)), clusters.labels_]
    assignment = Assignment(
        table.ids, table.settings.id_column, clusters.labels_, clusters.cluster_names_, probability, False
    )
    with (folder / CLUSTERS).open("w", encoding="utf-8", newline="") as file:
        write_clusters(file, assignment, side, clusters.violations_)
    rows = choose_rows(side, table.settings.seed)
    pool = Pool(
        ids=table.ids[rows].astype(str),
        posterior=posterior[rows] / posterior[rows].sum(axis=1, keepdims=True),
        positions=table.positions[rows],
        side=side.restrict(rows),
        doubtful=doubtful_links(bundle.model, rows),
        columns=table.columns,
        values=[table.row(row) for row in rows.tolist()],
    )
    summary = {
        "table": table.settings.title,
        "model": "guided",
        "rows": table.n_rows,
        "clusters": int(clusters.n_clusters_),
        "known": side.summary(),
        "broken": clusters.violations_.total,
        "notes": list(table.settings.notes),
    }
    (folder / RECIPE).write_bytes(table.recipe)
    recipe = Recipe.read(folder / RECIPE)
    write_result(folder, model=bundle.model, recipe=recipe, pool=pool, summary=summary)
    page = html_report(
        clusters,
        table.features,
        side=side,
        ids=table.ids,
        title=f"Clusters of {table.settings.title}",
        notes=table.settings.notes,
        usage=("sidelight predict result new.csv -o placed.csv",),
        next_steps=("sidelight studio --resume",),
    )
    (folder / REPORT).write_text(page, encoding="utf-8")
