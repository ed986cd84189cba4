"""The input of a fit: a table and side information, each file read once."""

from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from sidelight._typing import AnyArray
from sidelight.cli.errors import Refusal
from sidelight.cli.result.folder import PoolRows, choose_rows, pool_rows
from sidelight.cli.statements import LinksFile, combine, read_all_links, row_labels
from sidelight.cli.tables.asked import asked_columns
from sidelight.cli.tables.features import Features, find_features
from sidelight.cli.tables.files import check_columns, open_table, row_ids

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


class FitInput(NamedTuple):
    """What was read, beside the values of the features; the pool are rows to keep for later questions."""

    features: Features
    ids: AnyArray | None
    side: "SideInformation"
    links: list[LinksFile]
    pool: PoolRows


def read_fit_input(request: FitRequest) -> tuple[Any, FitInput]:
    """Return a frame of the features, and everything else that the files say."""
    file = open_table(request.table, request.encoding)
    check_columns(file, {name: option for name, option in _named_columns(request) if name is not None})
    if not 0.5 < request.confidence <= 1:  # the range of the option lets "nan" pass
        raise Refusal(f"--confidence {request.confidence} must be a number above 0.5 and at most 1 (certain).")
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
    table = file.read(file.header)
    if not table.num_rows:
        raise Refusal(f"{file.path} has a header but no rows.")
    frame, features = find_features(file, table, columns, asked)
    ids = None if request.id_column is None else row_ids(file, table, request.id_column, needed=bool(request.links))
    labels = None if request.label_column is None else row_labels(file, table, request.label_column)
    links = [] if ids is None else read_all_links(request.links, file, ids, request.encoding, request.confidence)
    side = combine(len(frame), labels, links, ids)
    shown = [name for name in file.header if name != request.id_column]
    pool = pool_rows(file, table, shown, choose_rows(side, request.seed))
    return frame, FitInput(features, ids, side, links, pool)


def _named_columns(request: FitRequest) -> list[tuple[str | None, str]]:
    return [
        (request.id_column, "--id-column"),
        (request.label_column, "--label-column"),
        *((name, "--ignore") for name in request.ignore),
    ]
