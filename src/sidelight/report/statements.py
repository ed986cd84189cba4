"""The statements about the rows (labels, links, blocks), and which of them the result breaks."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from sidelight._typing import AnyArray, IntArray
from sidelight._wording import count, listed
from sidelight.metrics import Violations, violations
from sidelight.side import SideInformation

MOST_BROKEN = 40


class BrokenStatement(NamedTuple):
    """A statement that the result breaks: its rows, the statement, and the result."""

    rows: str
    statement: str
    found: str


class StatementKind(NamedTuple):
    """Statements of one kind: their number, the number of broken ones, and the first of these."""

    kind: str
    n_stated: int
    n_broken: int
    broken: list[BrokenStatement]


class Statements(NamedTuple):
    """All statements about the rows.

    Parameters
    ----------
    lines : list of str
        In words, one line for each kind.
    kinds : list of StatementKind
    """

    lines: list[str]
    kinds: list[StatementKind]

    @property
    def n_stated(self) -> int:
        """Number of statements in all."""
        return sum(kind.n_stated for kind in self.kinds)

    @property
    def n_broken(self) -> int:
        """Number of statements broken."""
        return sum(kind.n_broken for kind in self.kinds)


def read_statements(
    model: Any, side: SideInformation | None, clusters: IntArray, names: list[str], row_names: AnyArray | None
) -> Statements:
    """Return the statements about the rows, and those that the clusters break.

    Parameters
    ----------
    model : fitted estimator
        Without ``side``, its ``violations_`` give the rows of broken statements.
    side : SideInformation, optional
    clusters : (n,)
    names : list of str
        Names of the clusters.
    row_names : (n,), optional
        Names of the rows; their numbers by default.
    """
    found: Violations | None = getattr(model, "violations_", None) if side is None else violations(side, clusters)
    if found is None or not found.n_statements:
        return Statements([], [])

    def called(row: Any) -> str:
        return str(row) if row_names is None else str(row_names[row])

    def cluster(row: Any) -> str:
        return names[clusters[row]]

    kinds = [
        _kind("label", found.n_labels, found.labels, lambda row: _broken_label(row, side, called, cluster)),
        _kind(
            "must-link",
            found.n_must_link,
            found.must_link,
            lambda pair: _broken_link(pair, True, side, called, cluster),
        ),
        _kind(
            "cannot-link",
            found.n_cannot_link,
            found.cannot_link,
            lambda pair: _broken_link(pair, False, side, called, cluster),
        ),
        _kind("block member", found.n_blocks, found.blocks, lambda row: _broken_block(row, side, called, cluster)),
    ]
    return Statements(_lines(side, found), [kind for kind in kinds if kind.n_stated])


def _kind(name: str, n_stated: int, broken: IntArray, quote: Callable[[Any], BrokenStatement]) -> StatementKind:
    return StatementKind(name, n_stated, len(broken), [quote(statement) for statement in broken[:MOST_BROKEN]])


def _broken_label(
    row: Any, side: SideInformation | None, called: Callable[[Any], str], cluster: Callable[[Any], str]
) -> BrokenStatement:
    label = "a label" if side is None else f"label {side.label_names[side.labels[row]]}"
    return BrokenStatement(called(row), label, f"in {cluster(row)}")


def _broken_link(
    pair: Any,
    together: bool,
    side: SideInformation | None,
    called: Callable[[Any], str],
    cluster: Callable[[Any], str],
) -> BrokenStatement:
    first, second = pair
    rows = f"{called(first)} and {called(second)}"
    confidence = _confidence(pair, together, side)
    if together:
        return BrokenStatement(rows, f"belong together{confidence}", f"in {cluster(first)} and {cluster(second)}")
    return BrokenStatement(rows, f"do not belong together{confidence}", f"both in {cluster(first)}")


def _confidence(pair: Any, together: bool, side: SideInformation | None) -> str:
    """Return the confidence of a link in words; empty where it is 1 or unknown."""
    if side is None:
        return ""
    links, confidence = (
        (side.must_link, side.must_link_confidence) if together else (side.cannot_link, side.cannot_link_confidence)
    )
    value = float(confidence[(links == pair).all(axis=1)][0])
    return "" if value == 1 else f" (confidence {value:.2g})"


def _broken_block(
    row: Any, side: SideInformation | None, called: Callable[[Any], str], cluster: Callable[[Any], str]
) -> BrokenStatement:
    block = "its block" if side is None else f"block {side.block_names[side.blocks[row]]}"
    return BrokenStatement(called(row), f"belongs with {block}", f"in {cluster(row)}, most of the block is not")


def _labels(side: SideInformation | None) -> list[tuple[str, int]]:
    """Return the labels with the number of their rows; empty without side information."""
    if side is None:
        return []
    numbers = np.bincount(side.labels[side.labels >= 0], minlength=len(side.label_names))
    return [(str(name), int(number)) for name, number in zip(side.label_names, numbers, strict=True) if number]


def _lines(side: SideInformation | None, found: Violations) -> list[str]:
    """Return one line for each kind of statement."""
    lines = []
    labels = _labels(side)
    if labels:
        lines.append(f"{count(found.n_labels, 'label')}: {listed([f'{name} ({number})' for name, number in labels])}")
    elif found.n_labels:
        lines.append(count(found.n_labels, "label"))
    for name, number, unsure in (
        ("must-link", found.n_must_link, None if side is None else side.must_link_confidence),
        ("cannot-link", found.n_cannot_link, None if side is None else side.cannot_link_confidence),
    ):
        if number:
            n_unsure = 0 if unsure is None else int((unsure < 1).sum())
            lines.append(count(number, name) + (f", {n_unsure} with a confidence below 1" if n_unsure else ""))
    if found.n_blocks:
        lines.append(f"{count(found.n_blocks, 'row')} in blocks that share a class")
    if side is not None and side.n_dropped:
        lines.append(f"{count(side.n_dropped, 'statement')} about rows that are not in the table, left out")
    return lines
