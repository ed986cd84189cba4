"""The table of clusters: one row per row of the input, in its order."""

import csv
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from sidelight._typing import AnyArray, FloatArray
from sidelight._wording import cluster_name

if TYPE_CHECKING:
    from sidelight.cli.output import WritesText
    from sidelight.metrics import Violations
    from sidelight.side import SideInformation

_WRITTEN_AT_ONCE = 20_000
# Programs that open CSV files run what begins with these.
_FORMULA_SIGNS = ("=", "+", "-", "@", "\t", "\r")


class Assignment(NamedTuple):
    """The cluster (n,) of each row, -1 for noise, and its probability (n,); names of clusters.

    Rows go by names, or by numbers from 1. With ``escape_formulas`` an apostrophe is put before text that a spreadsheet
    would take for a formula.
    """

    ids: AnyArray
    id_column: str
    labels: AnyArray
    names: AnyArray
    probability: FloatArray
    escape_formulas: bool = False


def write_assignment(file: "WritesText", assignment: Assignment, *, first: bool = True) -> None:
    """Write id, cluster, name and probability; the names of the columns only above the ``first`` rows of a file."""
    _write(file, assignment, {}, first=first)


def write_clusters(
    file: "WritesText", assignment: Assignment, side: "SideInformation", violations: "Violations"
) -> None:
    """Write the same, which kinds of statements there are about each row, and which of them the result breaks."""
    broken = {row: "; ".join(words) for row, words in _broken(assignment, side, violations).items()}
    _write(file, assignment, {"stated": _stated(side), "broken": broken})


def _write(file: "WritesText", assignment: Assignment, more: dict[str, dict[int, str]], *, first: bool = True) -> None:
    """Write the assignment, and further columns of which some rows have a cell."""
    writer = csv.writer(file, lineterminator="\n")
    escape = assignment.escape_formulas
    id_column = escaped(assignment.id_column) if escape else assignment.id_column
    if first:
        writer.writerow([id_column, "cluster", "name", "probability", *more])
    names = {number: cluster_name(assignment.names, number) for number in range(-1, len(assignment.names))}
    for start in range(0, len(assignment.labels), _WRITTEN_AT_ONCE):
        part = slice(start, start + _WRITTEN_AT_ONCE)
        labels = assignment.labels[part].tolist()
        rows = zip(
            assignment.ids[part].tolist(),
            labels,
            [names[label] for label in labels],
            [f"{probability:.4f}" for probability in assignment.probability[part].tolist()],
            *(_cells_of(cells, start, len(labels)) for cells in more.values()),
            strict=True,
        )
        writer.writerows(([escaped(cell) for cell in row] for row in rows) if escape else rows)


def _cells_of(cells: dict[int, str], start: int, n: int) -> list[str]:
    """Return the cells of consecutive rows, most of which have none."""
    if not cells:
        return [""] * n
    return [cells.get(row, "") for row in range(start, start + n)]


def escaped(cell: Any) -> Any:
    """Return a cell with an apostrophe before it where a spreadsheet would take its text for a formula."""
    return f"'{cell}" if isinstance(cell, str) and cell.lstrip().startswith(_FORMULA_SIGNS) else cell


def _stated(side: "SideInformation") -> dict[int, str]:
    """Return the kinds of statements about each row that has any."""
    labelled = set(np.flatnonzero(side.labels >= 0).tolist())
    linked = {*side.must_link.ravel().tolist(), *side.cannot_link.ravel().tolist()}
    words = {(True, False): "label", (False, True): "link", (True, True): "label and link"}
    return {row: words[row in labelled, row in linked] for row in labelled | linked}


def _broken(assignment: Assignment, side: "SideInformation", violations: "Violations") -> dict[int, list[str]]:
    """Return the broken statements about each row."""
    found: dict[int, list[str]] = {}
    for row in violations.labels.tolist():
        found.setdefault(row, []).append(f"label {side.label_names[side.labels[row]]}")
    for relation, pairs in (("must", violations.must_link), ("cannot", violations.cannot_link)):
        for first, second in pairs.tolist():
            found.setdefault(first, []).append(f"{relation} {assignment.ids[second]}")
            found.setdefault(second, []).append(f"{relation} {assignment.ids[first]}")
    return found
