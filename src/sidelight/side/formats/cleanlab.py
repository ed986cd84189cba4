"""Wide tables as cleanlab takes them: a line for each row, a column for each annotator, empty where not annotated."""

from typing import Any

from sidelight.side.formats.statements import FormatError, LabelStatement, ReadingOptions, Statements
from sidelight.side.formats.text import as_numbers, header_of, read_table, write_table

name = "cleanlab"
holds = frozenset({"labels"})
# Columns that name rows, where no other is named; pandas writes an index without a name.
_IDS = ("id", "row", "task", "")
_OTHERS = frozenset(
    {"task", "worker", "performer", "label", "annotator", "relation", "unique_id_l", "unique_id_r", "id_a", "id_b"}
)


def recognises(text: str) -> bool:
    """Say whether the header names several columns, none of which another format uses."""
    header = header_of(text)
    return len(header) >= 2 and len(header & (_OTHERS - {"task"})) == 0


def parse(text: str, options: ReadingOptions) -> Statements:
    """Read one label per line and annotator; without a column of ids, lines are the rows in order, from 0."""
    table = read_table(text)
    wanted = (options.id_field,) if options.id_field is not None else _IDS
    id_column = next((column for column in wanted if column in table.header), None)
    if options.id_field is not None and id_column is None:
        raise FormatError(f"there is no column {options.id_field!r} with the ids of the rows", 1)
    authors = [column for column in table.header if column != id_column]
    nameless = [column for column in authors if not column]
    if nameless:
        raise FormatError("a column has no name; every column but that of ids is named after its annotator", 1)
    if not authors:
        raise FormatError("there is no column of an annotator", 1)
    ids: list[Any] = list(range(len(table.lines)))
    if id_column is not None:
        ids = as_numbers([line.cells[id_column] or None for line in table.lines])
        seen: dict[Any, int] = {}
        for line, row in zip(table.lines, ids, strict=True):
            if row is None:
                raise FormatError(f"{id_column or 'the id'} is empty; name the row", line.number)
            if row in seen:
                raise FormatError(
                    f"row {row!r} stands in line {seen[row]} already; a wide table has one line for each row",
                    line.number,
                )
            seen[row] = line.number
    flat = as_numbers([line.cells[author] or None for line in table.lines for author in authors])
    names = as_numbers(list(authors))
    labels = [
        LabelStatement(row, flat[place * len(authors) + number], author, line.number)
        for place, (row, line) in enumerate(zip(ids, table.lines, strict=True))
        for number, author in enumerate(names)
        if flat[place * len(authors) + number] is not None
    ]
    if not labels:
        raise FormatError("no cell holds a label", 2)
    remark = "lines are the rows of the table, in order" if id_column is None else f"ids are in column {id_column!r}"
    return Statements(name, labels=tuple(labels), remarks=(remark,))


def write(statements: Statements) -> str:
    """Write one line for each row; an annotator has at most one label for each."""
    if statements.links:
        raise FormatError("wide tables hold labels only; write pairs in another format")
    authors = list(dict.fromkeys(one.annotator for one in statements.labels))
    lines: dict[Any, dict[Any, Any]] = {}
    for one in statements.labels:
        if one.label is None:
            raise FormatError('a wide table cannot say "unsure"; leave these statements out, or write a long table')
        line = lines.setdefault(one.row, {})
        if one.annotator in line:
            raise FormatError(
                f"{one.annotator!r} has two labels for row {one.row!r}; a wide table holds one, a long table all"
            )
        line[one.annotator] = one.label
    rows = [[row, *(line.get(author, "") for author in authors)] for row, line in lines.items()]
    return write_table(["id", *map(str, authors)], rows)
