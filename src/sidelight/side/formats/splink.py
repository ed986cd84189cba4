"""Labelled pairs of Splink: ``unique_id_l, unique_id_r, clerical_match_score``, with or without source datasets.

A score of 1 says "same", 0 "different", one between how probable "same" is; 0.5 is "unsure". A column ``annotator``,
which Splink does not look at, has the authors.
"""

from sidelight.side.formats.statements import FormatError, LinkStatement, ReadingOptions, Statements
from sidelight.side.formats.text import Line, as_numbers, header_of, read_table, write_table

name = "Splink"
holds = frozenset({"links"})
_NEEDED = ("unique_id_l", "unique_id_r", "clerical_match_score")
_SOURCES = ("source_dataset_l", "source_dataset_r")
# How Splink itself joins the name of a dataset and an id.
_JOINT = "-__-"


def recognises(text: str) -> bool:
    """Say whether the header names pairs of unique ids."""
    return {"unique_id_l", "unique_id_r"} <= header_of(text)


def parse(text: str, options: ReadingOptions) -> Statements:
    """Read judged pairs; ids of several datasets get the name of their dataset before them, as Splink does it."""
    table = read_table(text)
    for needed in _NEEDED:
        if needed not in table.header:
            raise FormatError(f"there is no column {needed!r}; Splink's labels have {', '.join(_NEEDED)}", 1)
    for line in table.lines:
        for column in ("unique_id_l", "unique_id_r"):
            if not line.cells[column]:
                raise FormatError(f"{column} is empty; name the row, or remove the line", line.number)
    has_sources = [column in table.header for column in _SOURCES]
    if any(has_sources) and not all(has_sources):
        raise FormatError(f"only one of the columns {' and '.join(_SOURCES)} is there; give both or none", 1)
    sources = {line.cells[column] for line in table.lines for column in _SOURCES} if all(has_sources) else set()
    several = len(sources) > 1

    def joint(line: Line, side: str) -> str:
        own = line.cells[f"unique_id_{side}"]
        return f"{line.cells[f'source_dataset_{side}']}{_JOINT}{own}" if several else own

    ends = as_numbers([joint(line, side) for line in table.lines for side in "lr"])
    has_author = "annotator" in table.header
    authors = as_numbers([line.cells["annotator"] or None for line in table.lines]) if has_author else []
    links = []
    for place, line in enumerate(table.lines):
        a, b = ends[2 * place], ends[2 * place + 1]
        if a == b:
            raise FormatError(f"{a!r} is paired with itself; remove the line", line.number)
        relation, confidence = _judgement(line.cells["clerical_match_score"], line.number)
        author = authors[place] if has_author and authors[place] is not None else options.annotator
        links.append(LinkStatement(a, b, relation, author, confidence, line.number))
    known = {*_NEEDED, *_SOURCES, "annotator"}
    extra = [column for column in table.header if column not in known]
    return Statements(name, links=tuple(links), remarks=tuple(f"left out: column {column!r}" for column in extra))


def _judgement(cell: str, line: int) -> tuple[str, float]:
    try:
        score = float(cell)
    except ValueError:
        score = float("nan")
    if not 0 <= score <= 1:
        raise FormatError(f"the clerical_match_score {cell!r} must be a number from 0 to 1", line)
    if score == 0.5:
        return "unsure", 1.0
    return ("same", score) if score > 0.5 else ("different", 1 - score)


def write(statements: Statements) -> str:
    """Write judged pairs with their authors."""
    if statements.labels:
        raise FormatError("Splink's tables hold pairs only; write labels in another format")
    rows = [[one.a, one.b, _score(one), one.annotator] for one in statements.links]
    return write_table([*_NEEDED, "annotator"], rows)


def _score(one: LinkStatement) -> float:
    """Return how probable it is that the rows are the same, by what was said."""
    if one.relation == "unsure":
        return 0.5
    return one.confidence if one.relation == "same" else 1 - one.confidence
