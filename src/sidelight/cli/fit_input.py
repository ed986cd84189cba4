"""The input of a fit: a table and side information, each file read once."""

from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from sidelight._typing import AnyArray
from sidelight.cli.authored import AuthoredFile, has_authored_pairs, is_json, read_authored, with_authors
from sidelight.cli.errors import Refusal
from sidelight.cli.extras import arrow
from sidelight.cli.result.folder import PoolRows, choose_rows, pool_rows
from sidelight.cli.statements import LinksFile, combine, read_all_links, row_labels
from sidelight.cli.tables.asked import AskedColumns, asked_columns
from sidelight.cli.tables.features import Features, feature_frame, find_features
from sidelight.cli.tables.files import TableFile, check_columns, open_table, row_ids
from sidelight.cli.tables.folders import ParquetFolder

if TYPE_CHECKING:
    from sidelight.side import SideInformation


class FitRequest(NamedTuple):
    """What the user asks for: the table, its columns, the links, and the model."""

    table: Path
    id_column: str | None
    label_column: str | None
    links: tuple[Path, ...]
    ignore: tuple[str, ...]
    categorical: tuple[str, ...]
    confidence: float
    model: str
    clusters: int | None
    power: bool | None
    seed: int
    jobs: int
    encoding: str
    noise: bool = False
    only_known_classes: bool = False
    escape_formulas: bool = False
    number: tuple[str, ...] = ()
    ordinal: tuple[str, ...] = ()
    date: tuple[str, ...] = ()
    log: tuple[str, ...] = ()
    cluster: str | None = None
    checkpoint: Path | None = None
    labels: tuple[Path, ...] = ()
    learn_annotators: bool = False
    certain_annotator: tuple[str, ...] = ()


class FitInput(NamedTuple):
    """What was read, beside the table of the features; the pool are rows to keep for later questions.

    ``frame`` has the features of all rows, or of those that were looked at where the table is a folder, and
    ``pool_frame`` has those of the pool.
    """

    features: Features
    ids: AnyArray | None
    side: "SideInformation"
    links: list[LinksFile]
    pool: PoolRows
    frame: Any
    pool_frame: Any
    authored: list[AuthoredFile]


def read_fit_input(request: FitRequest) -> tuple[Any, FitInput]:
    """Return the features, as a frame or as a table in files, and everything else that the files say."""
    file = open_table(request.table, request.encoding)
    check_columns(file, {name: option for name, option in _named_columns(request) if name is not None})
    if not 0.5 < request.confidence <= 1:  # the range of the option lets "nan" pass
        raise Refusal(f"--confidence {request.confidence} must be a number above 0.5 and at most 1 (certain).")
    if request.learn_annotators and not request.links:
        raise Refusal("--learn-annotators is about the annotators of --links; give a file of links, or leave it out.")
    if request.links and request.id_column is None:
        raise Refusal("--links name rows by their ids: say with --id-column which column holds them.")
    aside = {name: option for name, option in _named_columns(request) if name is not None}
    asked = asked_columns(
        file,
        aside,
        categorical=request.categorical,
        number=request.number,
        ordinal=request.ordinal,
        date=request.date,
        log=request.log,
    )
    columns = [name for name in file.header if name not in aside]
    if not columns:
        raise Refusal(f"{file.path} has no column to cluster by beside those that the options name.")
    if isinstance(file, ParquetFolder):
        return _read_folder(request, file, columns, asked)
    table = file.read(file.header)
    if not table.num_rows:
        raise Refusal(f"{file.path} has a header but no rows.")
    if table.num_rows == 1:
        raise Refusal(f"{file.path} has a single row; clusters need several.")
    frame, features = find_features(file, table, columns, asked)
    ids, links, authored, side = _statements(request, file, table, len(frame))
    shown = [name for name in file.header if name != request.id_column]
    pool = pool_rows(file, table, shown, choose_rows(side, request.seed))
    return frame, FitInput(features, ids, side, links, pool, frame, frame.iloc[pool.rows], authored)


def _read_folder(
    request: FitRequest, file: ParquetFolder, columns: list[str], asked: AskedColumns
) -> tuple[Any, FitInput]:
    """Do the same for a folder, of which ids and labels are read, and otherwise only some rows."""
    for option, names in (
        ("number", asked.number),
        ("ordinal", asked.ordinal),
        ("date", asked.date),
        ("log", asked.log),
    ):
        if names:
            raise Refusal(
                f"{file.path}: --{option} {next(iter(names))} is for tables in one file; in a folder, write the column "
                "as it is to be taken."
            )
    sample, n = file.sample(), file.n_rows
    for name in request.categorical:
        if name in columns and not arrow().types.is_string(sample[name].type):
            raise Refusal(
                f"{file.path}: --categorical {name}, but the column holds {sample[name].type}; in a folder, write "
                "categories as text."
            )
    frame, features = find_features(file, sample, columns, asked)
    if features.written:
        raise Refusal(
            f"{file.path}: column {next(iter(features.written))!r} holds numbers that are written as text; in a "
            "folder, write them as numbers, or name the column with --categorical or --ignore."
        )
    missing = {name: round(count * n / len(frame)) for name, count in features.missing.items()}
    named = [name for name in (request.id_column, request.label_column) if name is not None]
    ids, links, authored, side = _statements(request, file, file.read(named) if named else None, n)
    chosen = choose_rows(side, request.seed)
    kept = file.rows(chosen)
    shown = [name for name in file.header if name != request.id_column]
    cells = pool_rows(file, kept, shown, np.arange(len(chosen)))
    given = FitInput(
        features._replace(missing=missing),
        ids,
        side,
        links,
        cells._replace(rows=chosen),
        frame,
        feature_frame(kept, features.kinds),
        authored,
    )
    return file.only(list(features.kinds)), given


def _statements(
    request: FitRequest, file: TableFile, table: Any, n: int
) -> tuple[AnyArray | None, list[LinksFile], list[AuthoredFile], "SideInformation"]:
    """Return ids, links, files with authors and side information; ``table`` has the columns of ids and labels."""
    needed = bool(request.links or request.labels)
    ids = None if request.id_column is None else row_ids(file, table, request.id_column, needed=needed)
    labels = None if request.label_column is None else row_labels(file, table, request.label_column)
    authored = [read_authored(path, "--labels", request.id_column) for path in request.labels]
    if ids is None:
        for one in authored:
            if one.said.format != "cleanlab" or not any("in order" in remark for remark in one.said.remarks):
                raise Refusal(f"{one.path} names rows by their ids: say with --id-column which column holds them.")
    tables = []
    for path in request.links:
        opened = None if is_json(path) else open_table(path, request.encoding)
        if opened is None or has_authored_pairs(opened.header):
            authored.append(read_authored(path, "--links", request.id_column))
        else:
            tables.append(opened)
    links = [] if ids is None else read_all_links(tables, file, ids, request.confidence)
    learned = links if request.learn_annotators else []
    side = combine(n, labels, [] if request.learn_annotators else links, ids)
    return ids, links, authored, with_authors(side, authored, learned, ids, file.path, request.certain_annotator)


def _named_columns(request: FitRequest) -> list[tuple[str | None, str]]:
    return [
        (request.id_column, "--id-column"),
        (request.label_column, "--label-column"),
        *((name, "--ignore") for name in request.ignore),
    ]
