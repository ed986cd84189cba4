"""Side information from files: the labels in a column of the table, and the judged pairs of links files."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sidelight._typing import AnyArray
from sidelight.cli.errors import Refusal
from sidelight.cli.statements.links import LinksFile, read_links
from sidelight.cli.tables.files import TableFile, text_cells
from sidelight.exceptions import ContradictionError

if TYPE_CHECKING:
    from sidelight.side import SideInformation

# A column with more different values than this, most of them in one row only, does not hold labels.
_MANY_LABELS = 50


def row_labels(file: TableFile, table: Any, column: str) -> list[str | None]:
    """Return the label of every row of a table that was read, None for unlabelled rows."""
    labels = text_cells(file, table, column)
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


def read_all_links(
    paths: Sequence[Path], file: TableFile, ids: AnyArray, encoding: str, confidence: float
) -> list[LinksFile]:
    """Read links files about the rows of a table."""
    rows = {name: row for row, name in enumerate(ids.tolist())}
    return [read_links(path, rows, file.path, encoding, confidence) for path in paths]


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
