"""Long tables of crowd-kit: ``task, worker, label``, one line for each answer (older versions: ``performer``)."""

from sidelight.side.formats.statements import FormatError, LabelStatement, ReadingOptions, Statements
from sidelight.side.formats.text import as_numbers, header_of, read_table, write_table

name = "crowd-kit"
holds = frozenset({"labels"})
_WORKERS = ("worker", "performer")


def recognises(text: str) -> bool:
    """Say whether the header names tasks, workers and labels."""
    header = header_of(text)
    return {"task", "label"} <= header and any(worker in header for worker in _WORKERS)


def parse(text: str, options: ReadingOptions) -> Statements:
    """Read answers; an empty label stands for "unsure"."""
    table = read_table(text)
    for needed in ("task", "label"):
        if needed not in table.header:
            raise FormatError(f"there is no column {needed!r}; crowd-kit's tables have task, worker and label", 1)
    worker = next((column for column in _WORKERS if column in table.header), None)
    if worker is None:
        raise FormatError("there is no column 'worker'; crowd-kit's tables have task, worker and label", 1)
    for line in table.lines:
        for column, remedy in (("task", "name the row"), (worker, "name the annotator")):
            if not line.cells[column]:
                raise FormatError(f"{column} is empty; {remedy}, or remove the line", line.number)
    columns = (as_numbers([line.cells[column] or None for line in table.lines]) for column in ("task", "label", worker))
    numbers = [line.number for line in table.lines]
    labels = tuple(LabelStatement(*cells) for cells in zip(*columns, numbers, strict=True))
    extra = [column for column in table.header if column not in ("task", "label", worker)]
    return Statements(name, labels=labels, remarks=tuple(f"left out: column {column!r}" for column in extra))


def write(statements: Statements) -> str:
    """Write answers."""
    if statements.links:
        raise FormatError("crowd-kit's tables hold labels only; write pairs in another format")
    rows = [[one.row, one.annotator, "" if one.label is None else one.label] for one in statements.labels]
    return write_table(["task", "worker", "label"], rows)
