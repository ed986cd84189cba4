"""Our own tables: labels ``row, label, annotator``, pairs ``a, b, relation, annotator[, confidence]``."""

from typing import Any

from sidelight.side.annotations import DIFFERENT, RELATIONS, SAME
from sidelight.side.formats.statements import FormatError, LabelStatement, LinkStatement, ReadingOptions, Statements
from sidelight.side.formats.text import as_numbers, header_of, read_table, write_table

name = "sidelight"
holds = frozenset({"labels", "links"})
_LABELS = ("row", "label", "annotator")
_LINKS = ("a", "b", "relation", "annotator")
_WORDS = {SAME: "same", DIFFERENT: "different"}


def recognises(text: str) -> bool:
    """Say whether the header is one of ours."""
    header = header_of(text)
    return header >= set(_LABELS) or header >= set(_LINKS)


def parse(text: str, options: ReadingOptions) -> Statements:
    """Read labels or pairs."""
    table = read_table(text)
    wanted = _LABELS if set(table.header) >= set(_LABELS) else _LINKS
    for line in table.lines:
        for column in wanted:
            if not line.cells[column] and column not in ("label", "relation"):
                raise FormatError(f"{column} is empty; fill it in, or remove the line", line.number)
    extra = [column for column in table.header if column not in (*wanted, "confidence")]
    remarks = tuple(f"left out: column {column!r}" for column in extra)
    columns = {column: as_numbers([line.cells[column] or None for line in table.lines]) for column in wanted}
    numbers = [line.number for line in table.lines]
    if wanted == _LABELS:
        labels = (LabelStatement(*cells) for cells in zip(*(columns[c] for c in wanted), numbers, strict=True))
        return Statements(name, labels=tuple(labels), remarks=remarks)
    links = []
    ends = as_numbers([line.cells[column] for column in ("a", "b") for line in table.lines])
    for place, line in enumerate(table.lines):
        relation = _relation(line.cells["relation"], line.number)
        sure = confidence_of(line.cells.get("confidence", ""), line.number)
        pair = ends[place], ends[len(numbers) + place]
        if pair[0] == pair[1]:
            raise FormatError(f"{pair[0]!r} is paired with itself; remove the line", line.number)
        links.append(LinkStatement(*pair, relation, columns["annotator"][place], sure, line.number))
    return Statements(name, links=tuple(links), remarks=remarks)


def _relation(cell: str, line: int) -> str:
    if cell.lower() not in RELATIONS:
        raise FormatError(f"the relation {cell!r} is not known; write same, different or unsure", line)
    return _WORDS.get(RELATIONS[cell.lower()], "unsure")


def confidence_of(cell: str, line: int) -> float:
    """Return how sure a judgement is, 1 where the cell is empty."""
    try:
        sure = float(cell) if cell else 1.0
    except ValueError:
        sure = float("nan")
    if not 0.5 < sure <= 1:
        raise FormatError(f"the confidence {cell!r} must be a number above 0.5 and at most 1", line)
    return sure


def write(statements: Statements) -> str:
    """Write labels or pairs; a file holds one of the two."""
    if statements.labels and statements.links:
        raise FormatError("a table holds either labels or pairs; write them into two files")
    if statements.labels:
        rows: list[list[Any]] = [
            [one.row, "" if one.label is None else one.label, one.annotator] for one in statements.labels
        ]
        return write_table(list(_LABELS), rows)
    pairs = [[one.a, one.b, one.relation, one.annotator, one.confidence] for one in statements.links]
    return write_table([*_LINKS, "confidence"], pairs)
