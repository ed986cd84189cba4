"""Everything that a fit is given: the table, and what is known about its rows."""

from pathlib import Path
from typing import NamedTuple

from sidelight._typing import AnyArray
from sidelight.cli.errors import Refusal
from sidelight.cli.statements.links import LinksFile
from sidelight.cli.statements.reading import gather, read_all_links, read_labels
from sidelight.cli.tables.columns import Found, find_columns
from sidelight.cli.tables.files import TableFile, check_columns, open_table, read_ids
from sidelight.cli.tables.frames import refuse_infinite
from sidelight.side import SideInformation


class Request(NamedTuple):
    """What the user asks for: the table, its columns, what is known, and the model."""

    table: Path
    id_column: str | None
    label_column: str | None
    links: tuple[Path, ...]
    ignore: tuple[str, ...]
    categorical: tuple[str, ...]
    confidence: float
    model: str
    clusters: int | None
    seed: int
    jobs: int
    encoding: str


class Known(NamedTuple):
    """A table that was read, and what is known about its rows."""

    file: TableFile
    found: Found
    ids: AnyArray | None
    side: SideInformation
    links: list[LinksFile]


def read_known(request: Request) -> Known:
    """Read the table and everything that is known about its rows."""
    file = open_table(request.table, request.encoding)
    wanted = {name: option for name, option in _named_columns(request) if name is not None}
    check_columns(file, wanted)
    if request.links and request.id_column is None:
        raise Refusal("--links name rows by their ids: say with --id-column which column holds them.")
    aside = {request.id_column, request.label_column, *request.ignore}
    columns = [name for name in file.header if name not in aside]
    found = find_columns(file, columns, [name for name in request.categorical if name in columns])
    refuse_infinite(file, found.frame)
    ids = None if request.id_column is None else read_ids(file, request.id_column)
    labels = None if request.label_column is None else read_labels(file, request.label_column)
    links = [] if ids is None else read_all_links(request.links, file, ids, request.encoding, request.confidence)
    return Known(file, found, ids, gather(len(found.frame), labels, links, ids), links)


def _named_columns(request: Request) -> list[tuple[str | None, str]]:
    return [
        (request.id_column, "--id-column"),
        (request.label_column, "--label-column"),
        *((name, "--ignore") for name in request.ignore),
        *((name, "--categorical") for name in request.categorical),
    ]
