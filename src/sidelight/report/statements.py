"""The statements about the rows (labels, links, blocks), and which of them the result breaks."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from sidelight._typing import AnyArray, FloatArray, IntArray
from sidelight._wording import count, listed
from sidelight.describe.assignment import noise_of
from sidelight.metrics import Suspicions, Violations, violations
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
    """All statements about the rows, in words (one line for each kind) and by kind."""

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
    """Return the statements about the rows, and those that the clusters (n,) break.

    Without ``side``, the ``violations_`` of the model give the rows of broken statements. Rows are named by their
    numbers where there are no names.
    """
    found: Violations | None = getattr(model, "violations_", None)
    suspicions = None if found is None else found.suspicions
    if side is not None:
        found = violations(side, clusters, noise=noise_of(model))
    authored = [] if side is None or side.annotations is None else [f"{side.annotations.summary()}, who may err"]
    if found is None or not found.n_statements:
        return Statements(authored, [])

    quotes = _Quotes(side, clusters, names, row_names, _odds(suspicions))
    kinds = [
        _kind("label", found.n_labels, found.labels, quotes.label),
        _kind("must-link", found.n_must_link, found.must_link, quotes.must_link),
        _kind("cannot-link", found.n_cannot_link, found.cannot_link, quotes.cannot_link),
        _kind("block member", found.n_blocks, found.blocks, quotes.block),
    ]
    return Statements([*_lines(side, found), *authored], [kind for kind in kinds if kind.n_stated])


def _kind(name: str, n_stated: int, broken: IntArray, quote: Callable[[Any], BrokenStatement]) -> StatementKind:
    return StatementKind(name, n_stated, len(broken), [quote(statement) for statement in broken[:MOST_BROKEN]])


class _Quotes(NamedTuple):
    """Puts broken statements into words; without side information, only their rows are known."""

    side: SideInformation | None
    clusters: IntArray
    names: list[str]
    row_names: AnyArray | None
    odds: dict[tuple[int, int], float]

    def label(self, row: Any) -> BrokenStatement:
        label = "a label" if self.side is None else f"label {self.side.label_names[self.side.labels[row]]}"
        return BrokenStatement(self._row(row), label, f"in {self._cluster(row)}")

    def must_link(self, pair: Any) -> BrokenStatement:
        side = self.side
        confidence = "" if side is None else _confidence(pair, side.must_link, side.must_link_confidence)
        first, second = (self._cluster(row) for row in pair)
        return BrokenStatement(
            self._rows(pair), f"belong together{confidence}", f"in {first} and {second}{self._suspicion(pair)}"
        )

    def cannot_link(self, pair: Any) -> BrokenStatement:
        side = self.side
        confidence = "" if side is None else _confidence(pair, side.cannot_link, side.cannot_link_confidence)
        found = f"both in {self._cluster(pair[0])}{self._suspicion(pair)}"
        return BrokenStatement(self._rows(pair), f"do not belong together{confidence}", found)

    def block(self, row: Any) -> BrokenStatement:
        block = "its block" if self.side is None else f"block {self.side.block_names[self.side.blocks[row]]}"
        found = f"in {self._cluster(row)}, most of the block is not"
        return BrokenStatement(self._row(row), f"belongs with {block}", found)

    def _suspicion(self, pair: Any) -> str:
        """Return the odds that a link is wrong in words; empty where they are not known, or below one to one."""
        odds = self.odds.get((int(pair[0]), int(pair[1])), 0.0)
        return f"; odds that the statement is wrong: {_to_one(odds)}" if odds > 1 else ""

    def _row(self, row: Any) -> str:
        return str(row) if self.row_names is None else str(self.row_names[row])

    def _rows(self, pair: Any) -> str:
        return " and ".join(self._row(row) for row in pair)

    def _cluster(self, row: Any) -> str:
        return self.names[self.clusters[row]]


def _odds(suspicions: Suspicions | None) -> dict[tuple[int, int], float]:
    """Return the odds that each link is wrong, by its rows."""
    if suspicions is None:
        return {}
    pairs = ((int(a), int(b)) for a, b in suspicions.pairs)
    return dict(zip(pairs, suspicions.odds.tolist(), strict=True))


def _to_one(odds: float) -> str:
    return "more than 100 to 1" if odds > 100 else f"{odds:.2g} to 1"


def _confidence(pair: Any, links: IntArray, confidence: FloatArray) -> str:
    """Return the confidence of a link in words; empty where it is 1."""
    value = float(confidence[(links == pair).all(axis=1)][0])
    return "" if value == 1 else f" (confidence {value:.2g})"


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
