"""``sidelight compare``: agreement of two clusterings, or of a clustering and the truth."""

import csv
from pathlib import Path
from typing import Any, NamedTuple

import click
import numpy as np
from rich.console import Group, RenderableType
from rich.table import Table

from sidelight._typing import AnyArray, BoolArray
from sidelight._wording import printable
from sidelight.cli import options
from sidelight.cli.console import Terminal
from sidelight.cli.errors import Refusal
from sidelight.cli.output import check_file_free
from sidelight.cli.tables.files import TableFile, check_columns, open_table, row_ids, some, text_cells
from sidelight.files.whole import whole_file

_CLUSTER_COLUMNS = ("name", "cluster")
_STATED = "stated"
_MOST_SHOWN = 30
_SCORES = {"ari": "ARI", "nmi": "NMI", "accuracy": "accuracy", "purity": "purity"}


class Clustering(NamedTuple):
    """A file with the cluster of each row, in a column of it, and whether there are statements about the row."""

    file: TableFile
    column: str
    ids: AnyArray | None
    clusters: list[str | None]
    stated: BoolArray | None


class CommonRows(NamedTuple):
    """The rows with a cluster in both files: their ids, both clusters, and whether there were statements about them."""

    ids: AnyArray
    first: AnyArray
    second: AnyArray
    stated: BoolArray | None


@click.command()
@click.argument("first", type=click.Path(path_type=Path))
@click.argument("second", type=click.Path(path_type=Path))
@click.option(
    "--column", nargs=2, metavar="A B", help="The columns to compare; name, cluster or the only other one by default."
)
@click.option("--id-column", metavar="COLUMN", help="Column that names the rows in both; one they share by default.")
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), help="File for the rows that the two put in different clusters."
)
@options.encoding
@options.force
@options.quiet
@options.json
def compare(
    first: Path,
    second: Path,
    column: tuple[str, str] | None,
    id_column: str | None,
    output: Path | None,
    encoding: str,
    force: bool,
    quiet: bool,
    as_json: bool,
) -> None:
    """Say how far two clusterings agree: FIRST is judged by SECOND, which may be the truth.

    Prints the adjusted Rand index, normalised mutual information, accuracy under the best matching of clusters, and
    purity. Where a file says about which rows something was known (clusters.csv does), the other rows are scored apart:
    rows with statements flatter every method.
    """
    terminal = Terminal(quiet=quiet, as_json=as_json)
    if output is not None:
        check_file_free(output, force=force)
    with terminal.progress(f"reading {first} and {second}"):
        files = open_table(first, encoding), open_table(second, encoding)
        key = _shared_key(files, id_column)
        wanted = column or (None, None)
        both = [_read(file, key, name) for file, name in zip(files, wanted, strict=True)]
        shared = _join(both[0], both[1], terminal)
    scores = {"all rows": _scores(shared.first, shared.second)}
    if shared.stated is not None and shared.stated.any() and not shared.stated.all():
        free = ~shared.stated
        scores["rows without statements"] = _scores(shared.first[free], shared.second[free])
    moved = _moved(shared)
    if output is not None:
        _write_moved(output, key or "row", both, shared, moved)
    terminal.show(_tables(shared, both, scores, int(moved.sum())))
    terminal.print_json(
        {
            "first": {"table": str(first), "column": both[0].column},
            "second": {"table": str(second), "column": both[1].column},
            "scores": scores,
            "moved": int(moved.sum()),
            "notes": terminal.notes,
        }
    )


def _shared_key(files: tuple[TableFile, TableFile], id_column: str | None) -> str | None:
    """Return the column that names the rows in both files, None where they go by their order."""
    if id_column is not None:
        for file in files:
            check_columns(file, {id_column: "--id-column"})
        return id_column
    candidate = files[0].header[0]
    named = candidate in files[1].header and candidate not in _CLUSTER_COLUMNS and len(files[0].header) > 1
    return candidate if named else None


def _read(file: TableFile, key: str | None, wanted: str | None) -> Clustering:
    others = [name for name in file.header if name != key]
    column = wanted or next((name for name in _CLUSTER_COLUMNS if name in others), None)
    if column is None and len(others) == 1:
        column = others[0]
    if column is None:
        raise Refusal(f"{file.path}: which column holds the clusters? It has {some(others)}; say so with --column A B.")
    check_columns(file, {column: "--column"})
    wanted_columns = [column, *([] if key is None else [key]), *([_STATED] if _STATED in others else [])]
    table = file.read(list(dict.fromkeys(wanted_columns)))
    ids = None if key is None else row_ids(file, table, key)
    stated = None
    if _STATED in others:
        stated = np.array([cell is not None for cell in text_cells(file, table, _STATED)])
    return Clustering(file, column, ids, text_cells(file, table, column), stated)


def _join(first: Clustering, second: Clustering, terminal: Terminal) -> CommonRows:
    """Bring the rows of both together, by id or by order, and say which are left out."""
    if first.ids is None or second.ids is None:
        if len(first.clusters) != len(second.clusters):
            raise Refusal(
                f"{first.file.path} has {len(first.clusters)} rows and {second.file.path} has {len(second.clusters)}, "
                "and no column they share names the rows; say which does with --id-column."
            )
        terminal.note("the files share no id column, so rows are compared in their order.")
        ids = np.arange(1, len(first.clusters) + 1)
        places = np.arange(len(ids))
    else:
        ids = first.ids
        rows = {name: row for row, name in enumerate(second.ids.tolist())}
        places = np.array([rows.get(name, -1) for name in ids.tolist()], dtype=np.int64)
        _tell_absent(first, second, int((places >= 0).sum()), terminal)
    others = [second.clusters[place] if place >= 0 else None for place in places.tolist()]
    kept = np.array([a is not None and b is not None for a, b in zip(first.clusters, others, strict=True)])
    if not kept.any():
        raise Refusal(f"{first.file.path} and {second.file.path} have no row in common that both sort.")
    n_empty = int((places >= 0).sum() - kept.sum())
    if n_empty:
        terminal.note(f"{n_empty} rows without a cluster in one of the files are left out.")
    return CommonRows(
        ids[kept],
        np.array(first.clusters, dtype=object)[kept].astype(str),
        np.array(others, dtype=object)[kept].astype(str),
        _stated(first, second, places, kept),
    )


def _tell_absent(first: Clustering, second: Clustering, n_shared: int, terminal: Terminal) -> None:
    for one, other in ((first, second), (second, first)):
        n_absent = len(one.clusters) - n_shared
        if n_absent:
            terminal.note(f"{n_absent} rows of {one.file.path} are not in {other.file.path} and are left out.")


def _stated(first: Clustering, second: Clustering, places: AnyArray, kept: BoolArray) -> BoolArray | None:
    found = [first.stated[kept]] if first.stated is not None else []
    if second.stated is not None:
        found.append(second.stated[places[kept]])
    return np.logical_or.reduce(found) if found else None


def _scores(found: AnyArray, judge: AnyArray) -> dict[str, float]:
    from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

    from sidelight.metrics import clustering_accuracy_score, purity_score

    return {
        "rows": len(found),
        "ari": round(float(adjusted_rand_score(judge, found)), 4),
        "nmi": round(float(normalized_mutual_info_score(judge, found)), 4),
        "accuracy": round(float(clustering_accuracy_score(judge, found)), 4),
        "purity": round(float(purity_score(judge, found)), 4),
    }


def _moved(shared: CommonRows) -> BoolArray:
    """Say which rows are outside the cluster of the second file that matches theirs in the first."""
    from scipy.optimize import linear_sum_assignment
    from sklearn.metrics.cluster import contingency_matrix

    names, codes = np.unique(shared.first, return_inverse=True)
    others, other_codes = np.unique(shared.second, return_inverse=True)
    rows, columns = linear_sum_assignment(contingency_matrix(codes, other_codes), maximize=True)
    match = np.full(len(names), len(others))
    match[rows] = columns
    return np.asarray(match[codes] != other_codes)


def _write_moved(path: Path, key: str, both: list[Clustering], shared: CommonRows, moved: BoolArray) -> None:
    with whole_file(path) as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow([key, *(f"{one.column} in {one.file.path.name}" for one in both)])
        writer.writerows(zip(shared.ids[moved], shared.first[moved], shared.second[moved], strict=True))


def _tables(shared: CommonRows, both: list[Clustering], scores: dict[str, Any], n_moved: int) -> RenderableType:
    table = Table(title=printable(f"{both[0].file.path} judged by {both[1].file.path}"))
    table.add_column("")
    for heading in ("rows", *_SCORES.values()):
        table.add_column(heading, justify="right")
    for part, values in scores.items():
        table.add_row(part, str(values["rows"]), *(f"{values[name]:.3f}" for name in _SCORES))
    return Group(table, _contingency_table(shared, both), f"{n_moved} rows are outside the cluster that matches theirs")


def _contingency_table(shared: CommonRows, both: list[Clustering]) -> RenderableType:
    from sklearn.metrics.cluster import contingency_matrix

    names, others = np.unique(shared.first), np.unique(shared.second)
    if max(len(names), len(others)) > _MOST_SHOWN:
        return f"{len(names)} and {len(others)} clusters are too many to show the number of rows in each pair"
    table = Table(title=printable(f"rows by {both[0].column} (down) and {both[1].column} (across)"))
    table.add_column("")
    for name in others:
        table.add_column(printable(str(name)), justify="right")
    for name, row in zip(names, contingency_matrix(shared.first, shared.second), strict=True):
        table.add_row(printable(str(name)), *(str(count) if count else "·" for count in row.tolist()))
    return table
