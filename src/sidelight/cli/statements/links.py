"""Files of judged pairs: ``id_a,id_b,relation[,confidence][,annotator]``."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from sidelight.cli.errors import Refusal
from sidelight.cli.tables.files import TableFile, check_columns, open_table, read_text

MUST = frozenset({"must", "must-link", "must_link", "same", "together", "yes"})
CANNOT = frozenset({"cannot", "cannot-link", "cannot_link", "can't", "different", "apart", "no"})
_NOT_ANSWERED = frozenset({"", "?"})
_NEEDED = ("id_a", "id_b", "relation")
_OPTIONAL = ("confidence", "annotator")


class Judgement(NamedTuple):
    """Whether two rows belong together, as an annotator judged.

    Parameters
    ----------
    first, second : int
        Rows of the table.
    must : bool
        Whether they belong together.
    confidence : float
    annotator : str
        Empty where the file names none.
    row : int
        Of the links file.
    """

    first: int
    second: int
    must: bool
    confidence: float
    annotator: str
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

    Parameters
    ----------
    path : Path
    rows : mapping
        From ids to rows of the table.
    table : Path
        What messages call the table.
    encoding : str
    confidence : float
        Of links for which the file has none.
    """
    file = open_table(path, encoding)
    check_columns(file, dict.fromkeys(_NEEDED, "a links file (id_a,id_b,relation[,confidence][,annotator])"))
    columns = read_text(file, [*_NEEDED, *(name for name in _OPTIONAL if name in file.header)])
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
