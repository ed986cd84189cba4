"""Labels in a column of the table, and files of judged pairs ``id_a,id_b,relation[,confidence][,annotator]``."""

import warnings
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from sidelight._typing import AnyArray
from sidelight.cli.errors import Refusal
from sidelight.cli.tables.files import TableFile, cells_as_written, check_columns, open_table, read_text
from sidelight.exceptions import ContradictionError

if TYPE_CHECKING:
    from sidelight.side import SideInformation

MUST = frozenset({"must", "must-link", "must_link", "same", "together", "yes"})
CANNOT = frozenset({"cannot", "cannot-link", "cannot_link", "can't", "different", "apart", "no"})
_NOT_ANSWERED = frozenset({"", "?"})
_NEEDED = ("id_a", "id_b", "relation")
_OPTIONAL = ("confidence", "annotator")
# A column with more different values than this, most of them in one row only, does not hold labels.
_MANY_LABELS = 50


class Judgement(NamedTuple):
    """Whether two rows of the table belong together, as judged in a row of a links file."""

    first: int
    second: int
    must: bool
    confidence: float
    annotator: str  # empty where the file names none
    row: int


@dataclass(frozen=True)
class LinksFile:
    """The judgements of a file, and the number of its pairs without one."""

    file: TableFile
    judgements: tuple[Judgement, ...]
    n_unanswered: int

    def place(self, judgement: Judgement) -> str:
        """Say where a judgement stands."""
        return f"{self.file.path} {self.file.place(judgement.row)}"


def read_links(path: Path, rows: Mapping[str, int], table: Path, encoding: str, confidence: float) -> LinksFile:
    """Read a links file; unknown ids, relations and confidences are refused.

    ``rows`` maps ids to rows of the table, ``confidence`` is that of links for which the file has none.
    """
    return links_of(open_table(path, encoding), rows, table, confidence)


def links_of(file: TableFile, rows: Mapping[str, int], table: Path, confidence: float) -> LinksFile:
    """Read a links file that has been opened; see `read_links`."""
    check_columns(file, dict.fromkeys(_NEEDED, "a links file (id_a,id_b,relation[,confidence][,annotator])"))
    others = ["relation", *(name for name in _OPTIONAL if name in file.header)]
    columns = read_text(file, others, ids=("id_a", "id_b"))
    judgements, n_unanswered = [], 0
    for row, relation in enumerate(columns["relation"]):
        word = (relation or "").lower()
        if word in _NOT_ANSWERED:
            n_unanswered += 1
            continue
        if word not in MUST | CANNOT:
            raise _at(file, row, f"the relation {relation!r} is not known; write must or cannot (or same, different)")
        ends = [_row_of(columns[name][row], name, rows, table, file, row) for name in ("id_a", "id_b")]
        if ends[0] == ends[1]:
            raise _at(file, row, f"{columns['id_a'][row]!r} is paired with itself; remove the line")
        sure = _confidence(columns.get("confidence", [])[row : row + 1], file, row, confidence)
        annotator = (columns["annotator"][row] or "") if "annotator" in columns else ""
        judgements.append(Judgement(ends[0], ends[1], word in MUST, sure, annotator, row))
    return LinksFile(file, tuple(judgements), n_unanswered)


def _at(file: TableFile, row: int, complaint: str) -> Refusal:
    return Refusal(f"{file.path}, {file.place(row)}: {complaint}.")


def _row_of(name: str | None, column: str, rows: Mapping[str, int], table: Path, file: TableFile, row: int) -> int:
    if name is None:
        raise _at(file, row, f"{column} is empty; name a row of {table}")
    if name not in rows:
        raise _at(file, row, f"no row of {table} has the id {name!r}; correct it or remove the line")
    return rows[name]


def _confidence(cell: list[str | None], file: TableFile, row: int, default: float) -> float:
    if not cell or cell[0] is None:
        return default
    try:
        sure = float(cell[0].replace(",", "."))
    except ValueError:
        sure = float("nan")
    if not 0.5 < sure <= 1:
        raise _at(
            file,
            row,
            f"the confidence {cell[0]!r} must be a number above 0.5 and at most 1 (certain); a judgement that is more "
            "likely wrong than right is one of the other kind",
        )
    return sure


def row_labels(file: TableFile, table: Any, column: str) -> list[str | None]:
    """Return the label of every row of a table that was read, None for unlabelled rows."""
    labels = _labels(cells_as_written(file, table, column), f"{file.path}, column {column!r}")
    given = Counter(label for label in labels if label is not None)
    if not given:
        raise Refusal(
            f"{file.path}: column {column!r} has no label in any row; fill some in, or leave --label-column out to "
            "cluster without labels."
        )
    if len(given) > max(_MANY_LABELS, given.total() // 2):
        raise Refusal(
            f"{file.path}: column {column!r} has {len(given)} different values in {given.total()} rows, so these are "
            "no labels; name another --label-column."
        )
    return labels


def _labels(cells: list[str | None], place: str) -> list[str | None]:
    from sidelight.side.missing_text import without_missing_text

    labels: list[str | None] = without_missing_text(np.array(cells, dtype=object), place).tolist()
    return labels


def read_all_links(files: Sequence[TableFile], file: TableFile, ids: AnyArray, confidence: float) -> list[LinksFile]:
    """Read links files about the rows of a table."""
    rows = dict(zip(ids.tolist(), range(len(ids)), strict=True))
    return [links_of(opened, rows, file.path, confidence) for opened in files]


def combine(
    n: int, labels: Sequence[str | None] | None, links: Sequence[LinksFile], ids: AnyArray | None
) -> "SideInformation":
    """Return labels and links as one object; contradictions are refused, naming ids and lines."""
    from sidelight.side import SideInformation

    judged = [judgement for file in links for judgement in file.judgements]
    parts = {
        kind: [judgement for judgement in judged if judgement.must == must]
        for kind, must in (("must_link", True), ("cannot_link", False))
    }
    pairs = {kind: [(one.first, one.second) for one in part] for kind, part in parts.items()}
    with warnings.catch_warnings():
        # Labels that may stand for missing ones were named by the file and the column.
        warnings.filterwarnings("ignore", "y: ")
        side = SideInformation.build(
            n,
            y=labels,
            confidence={kind: [one.confidence for one in part] for kind, part in parts.items()},
            **pairs,
        )
    # Links name rows already; the ids are what messages call them.
    named = side if ids is None else replace(side, ids=ids)
    try:
        named.closure()
    except ContradictionError as error:
        raise Refusal(f"the statements contradict each other: {error}{_lines(error, links)}") from error
    return side


def _lines(error: ContradictionError, links: Sequence[LinksFile]) -> str:
    """Say which lines of the links files the contradiction stands in."""
    chain = error.chain
    steps = {frozenset(pair) for pair in [*pairwise(chain), (chain[0], chain[-1])]} if chain else set()
    places = [
        file.place(judgement)
        for file in links
        for judgement in file.judgements
        if judgement.confidence == 1 and frozenset((judgement.first, judgement.second)) in steps
    ]
    return f" (see {', '.join(places)})" if places else ""
