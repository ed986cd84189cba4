"""``sidelight reproduce``: the tables and figures of the papers again."""

from pathlib import Path

import click

from sidelight.reproduce.framework.experiment import PAPERS

_WIDTH = 160


@click.command()
@click.argument("papers", nargs=-1, type=click.Choice(PAPERS))
@click.option("--table", "tables", type=int, multiple=True, help="Only this table of the paper; may be repeated.")
@click.option("--figure", "figures", type=int, multiple=True, help="Only this figure of the paper; may be repeated.")
@click.option("--quick", is_flag=True, help="Few settings and draws: minutes instead of hours.")
@click.option(
    "-o",
    "--output",
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder for the results. [default: sidelight-reproduction, or sidelight-reproduction-quick]",
)
@click.option("--jobs", type=int, default=-1, show_default=True, help="Processes; -1 for one per core.")
@click.option("--fresh", is_flag=True, help="Start anew instead of going on where an earlier run was stopped.")
@click.option(
    "--page",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Run nothing; write the page of results (Markdown) from the files in the output folder.",
)
def reproduce(
    papers: tuple[str, ...],
    tables: tuple[int, ...],
    figures: tuple[int, ...],
    quick: bool,
    output: Path | None,
    jobs: int,
    fresh: bool,
    page: Path | None,
) -> None:
    """Run the experiments of PAPERS again: echraibi, yu, zhao, amini, li, or all of them.

    Every finished trial is written at once: a run that is stopped goes on where it was. For each table or figure there
    are the trials (NAME.trials.csv), the table (NAME.csv) and, where the paper has one, the picture (NAME.png).
    """
    from sidelight.datasets import DatasetError
    from sidelight.reproduce.framework.journal import JournalError

    folder = output or Path("sidelight-reproduction-quick" if quick else "sidelight-reproduction")
    try:
        if page is not None:
            _write_page(folder, page)
            return
        for name, experiment in _chosen(papers or PAPERS, tables, figures, named=bool(papers)):
            _run(name, experiment, folder / name, quick=quick, jobs=jobs, fresh=fresh)
    except (DatasetError, JournalError) as error:
        raise click.UsageError(str(error)) from error


def _chosen(
    papers: tuple[str, ...], tables: tuple[int, ...], figures: tuple[int, ...], *, named: bool
) -> list[tuple[str, str]]:
    """Return which experiments of which papers are asked for."""
    from sidelight.reproduce import paper

    if not (tables or figures):
        return [(name, experiment.name) for name in papers for experiment in paper(name).experiments]
    if not named or len(papers) > 1:
        raise click.UsageError("--table and --figure go with one paper: sidelight reproduce echraibi --table 1")
    asked = [*(f"table-{number}" for number in tables), *(f"figure-{number}" for number in figures)]
    try:
        return [(papers[0], paper(papers[0]).experiment(name).name) for name in asked]
    except ValueError as error:
        raise click.UsageError(str(error)) from error


def _run(name: str, experiment: str, folder: Path, *, quick: bool, jobs: int, fresh: bool) -> None:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    from sidelight.reproduce import paper, run
    from sidelight.reproduce.framework.drawing import save_picture
    from sidelight.reproduce.framework.journal import trials_path
    from sidelight.reproduce.framework.reports import terminal_table, write_csv

    if fresh:
        trials_path(paper(name).experiment(experiment), folder).unlink(missing_ok=True)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(f"{name} {experiment}", total=None)
        summary = run(
            name,
            experiment,
            folder,
            quick=quick,
            n_jobs=jobs,
            advance=lambda known, total: progress.update(task, completed=known, total=total),
        )
    write_csv(summary, folder / f"{experiment}.csv")
    save_picture(summary, folder / f"{experiment}.png")
    console = Console()
    # Rows are not broken up where the output goes to a file.
    Console(width=None if console.is_terminal else _WIDTH).print(terminal_table(summary))


def _write_page(folder: Path, page: Path) -> None:
    from sidelight.reproduce.framework.page import write_page

    if not folder.is_dir():
        raise click.UsageError(f"{folder} is not a folder of results; name one with --output.")
    shown = write_page(folder, page)
    if not shown:
        raise click.UsageError(f"{folder} holds no results; run sidelight reproduce first.")
    click.echo(f"{page}: {len(shown)} tables and figures.")
