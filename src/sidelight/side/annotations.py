"""Statements with an author: labels of rows and judgements of pairs by several annotators, who may err and disagree."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from sidelight._storable import storable
from sidelight._typing import AnyArray, BoolArray, FloatArray, IntArray
from sidelight._wording import some_listed
from sidelight.side.closure import NO_PAIRS, join_groups
from sidelight.side.parsing.columns import CodedColumn, as_vector, encode, is_missing, sorted_names
from sidelight.side.parsing.rows import FindRows

SAME, DIFFERENT, UNSURE = 1, 0, -1
# What people and programs write for each relation.
RELATIONS: dict[Any, int] = {
    **dict.fromkeys(("same", "must", "must-link", "must_link", "together", "yes", True), SAME),
    **dict.fromkeys(("different", "cannot", "cannot-link", "cannot_link", "can't", "apart", "no", False), DIFFERENT),
    **dict.fromkeys(("unsure", "?", ""), UNSURE),
}


@storable("Annotations")
@dataclass(frozen=True, eq=False, repr=False)
class Annotations:
    """Labels and judged pairs with their authors.

    `SideInformation.from_annotations` makes one. A row may have several labels and a pair several judgements, of
    different annotators or of one who was asked again; all of them count.

    Attributes
    ----------
    annotators : (A,) array
        Names of the annotators, sorted.
    label_names : (N,) array
        All names that annotators gave to rows, sorted.
    label_rows, label_codes, label_annotators : (m,) int
        Row, code among ``label_names`` (-1 for "unsure") and number of the annotator of each label.
    pairs : (q, 2) int
        Rows of each judged pair, the lower first.
    relations, pair_annotators : (q,) int
        1 for "same", 0 for "different", -1 for "unsure"; and the number of the annotator.
    pair_confidence : (q,) float
        How sure annotators said they were, above 0.5 and at most 1.

    Examples
    --------
    >>> from sidelight import SideInformation
    >>> labels = {"row": [0, 0, 1], "label": ["a", "b", "a"], "annotator": ["Ann", "Ben", "Ann"]}
    >>> side = SideInformation.from_annotations(3, labels=labels)
    >>> side.annotations.annotators.tolist(), side.annotations.label_codes.tolist()
    (['Ann', 'Ben'], [0, 1, 0])
    """

    annotators: AnyArray
    label_names: AnyArray
    label_rows: IntArray
    label_codes: IntArray
    label_annotators: IntArray
    pairs: IntArray
    relations: IntArray
    pair_annotators: IntArray
    pair_confidence: FloatArray

    def __post_init__(self) -> None:
        for part in fields(self):
            getattr(self, part.name).setflags(write=False)

    def __eq__(self, other: object) -> bool:
        return self._content == other._content if isinstance(other, Annotations) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._content)

    @cached_property
    def _content(self) -> tuple[Any, ...]:
        return tuple(tuple(getattr(self, part.name).ravel().tolist()) for part in fields(self))

    def __reduce__(self) -> tuple[type, tuple[Any, ...]]:
        return type(self), tuple(getattr(self, part.name) for part in fields(self))

    @property
    def n_statements(self) -> IntArray:
        """How many labels and judgements, "unsure" not counted, each annotator gave (A,)."""
        n = len(self.annotators)
        labels = np.bincount(self.label_annotators[self.label_codes >= 0], minlength=n)
        return labels + np.bincount(self.pair_annotators[self.relations >= 0], minlength=n)

    @property
    def mentioned(self) -> IntArray:
        """Rows that a label or a judgement, other than "unsure", is about, sorted."""
        sure = self.relations >= 0
        return np.unique(np.concatenate([self.label_rows[self.label_codes >= 0], self.pairs[sure].ravel()]))

    @property
    def is_empty(self) -> bool:
        """Whether all statements are "unsure", or there are none."""
        return not len(self.mentioned)

    def moved(self, place: IntArray) -> "Annotations":
        """Return the statements about rows that have a place (n,), -1 where a row is left out, under these numbers.

        Parameters
        ----------
        place : (n,) int
            The new number of each row, -1 where it is left out.

        Returns
        -------
        Annotations
            With the new numbers.
        """
        rows, ends = place[self.label_rows], np.sort(place[self.pairs], axis=1)
        labels, pairs = rows >= 0, (ends >= 0).all(axis=1)
        return Annotations(
            self.annotators,
            self.label_names,
            rows[labels],
            self.label_codes[labels],
            self.label_annotators[labels],
            ends[pairs],
            self.relations[pairs],
            self.pair_annotators[pairs],
            self.pair_confidence[pairs],
        )

    def joined(self, other: "Annotations") -> "Annotations":
        """Return the statements of both, about the same rows; annotators and labels of one name are the same.

        Parameters
        ----------
        other : Annotations
            About the same rows.

        Returns
        -------
        Annotations
            The statements of both.
        """
        annotators = sorted_names([*self.annotators.tolist(), *other.annotators.tolist()])
        names = sorted_names([*self.label_names.tolist(), *other.label_names.tolist()])
        mine, theirs = (_codes_in(annotators, part.annotators) for part in (self, other))
        own, foreign = (np.append(_codes_in(names, part.label_names), -1) for part in (self, other))
        return Annotations(
            annotators,
            names,
            np.concatenate([self.label_rows, other.label_rows]),
            np.concatenate([own[self.label_codes], foreign[other.label_codes]]),
            np.concatenate([mine[self.label_annotators], theirs[other.label_annotators]]),
            np.concatenate([self.pairs, other.pairs]),
            np.concatenate([self.relations, other.relations]),
            np.concatenate([mine[self.pair_annotators], theirs[other.pair_annotators]]),
            np.concatenate([self.pair_confidence, other.pair_confidence]),
        )

    def summary(self) -> str:
        """Return how many statements of each kind there are, in words.

        Returns
        -------
        str
            "3 labels by 2 annotators", say.
        """
        parts = []
        for n, singular, authors in (
            (len(self.label_codes), "label", self.label_annotators),
            (len(self.pairs), "judged pair", self.pair_annotators),
        ):
            if n:
                by = len(np.unique(authors))
                parts.append(f"{n} {singular}{'s' * (n != 1)} by {by} annotator{'s' * (by != 1)}")
        return ", ".join(parts)

    def __repr__(self) -> str:
        return f"Annotations({self.summary() or 'nothing stated'})"


def _codes_in(names: AnyArray, some: AnyArray) -> IntArray:
    code_of = {name: code for code, name in enumerate(names.tolist())}
    return np.array([code_of[name] for name in some.tolist()], dtype=np.int64)


class ReadAnnotations(NamedTuple):
    """Statements with authors, and the number of those that name absent ids."""

    annotations: Annotations
    n_dropped: int


def read_annotations(labels: Any, links: Any, find: FindRows) -> ReadAnnotations:
    """Read tables of labels ``row, label, annotator`` and of pairs ``a, b, relation, annotator[, confidence]``."""
    stated = _read_labels(labels, find) if labels is not None else _NO_LABELS
    judged = _read_links(links, find) if links is not None else _NO_LINKS
    annotators = sorted_names([*stated.authors.names.tolist(), *judged.authors.names.tolist()])

    def numbers(authors: CodedColumn) -> IntArray:
        return _codes_in(annotators, authors.names)[authors.codes]

    found = Annotations(
        annotators,
        stated.names,
        stated.rows,
        stated.codes,
        numbers(stated.authors),
        judged.pairs,
        judged.relations,
        numbers(judged.authors),
        judged.confidence,
    )
    return ReadAnnotations(found, stated.n_dropped + judged.n_dropped)


class _Labels(NamedTuple):
    rows: IntArray
    codes: IntArray
    names: AnyArray
    authors: CodedColumn
    n_dropped: int


class _Links(NamedTuple):
    pairs: IntArray
    relations: IntArray
    authors: CodedColumn
    confidence: FloatArray
    n_dropped: int


_NONE = np.empty(0, dtype=np.int64)
_NO_LABELS = _Labels(_NONE, _NONE, _NONE, CodedColumn(_NONE, _NONE), 0)
_NO_LINKS = _Links(NO_PAIRS, _NONE, CodedColumn(_NONE, _NONE), np.empty(0), 0)


def _column(table: Any, name: str, argument: str, needed: str) -> AnyArray:
    names = list(table) if isinstance(table, Mapping) else list(getattr(table, "columns", ()))
    if not names:
        raise ValueError(f"{argument} must be a table with the columns {needed}, not {type(table).__name__}")
    if name not in names:
        raise ValueError(
            f"{argument} has no column {name!r} but {some_listed([repr(one) for one in names])}; it needs {needed}"
        )
    return as_vector(table[name], f"{argument}[{name!r}]")


def _columns(table: Any, wanted: tuple[str, ...], argument: str) -> list[AnyArray]:
    needed = ", ".join(wanted)
    found = [_column(table, name, argument, needed) for name in wanted]
    for name, column in zip(wanted, found, strict=True):
        if len(column) != len(found[0]):
            raise ValueError(
                f"{argument}[{name!r}] has {len(column)} values, but {argument}[{wanted[0]!r}] has {len(found[0])}; "
                "give one per statement"
            )
    return found


def _authors(column: AnyArray, argument: str) -> CodedColumn:
    authors = encode(column, f"{argument}['annotator']")
    nameless = np.flatnonzero(authors.codes < 0)
    if len(nameless):
        raise ValueError(f"{argument}['annotator'] is empty at place {nameless[0]}; every statement needs an author")
    return authors


def _rows(column: AnyArray, name: str, argument: str, find: FindRows) -> IntArray:
    return find(column, _place(name, argument))


def _place(name: str, argument: str) -> Callable[[int], str]:
    return lambda flat: f"{argument}[{name!r}][{flat}]"


def _read_labels(table: Any, find: FindRows) -> _Labels:
    rows, said, authors = _columns(table, ("row", "label", "annotator"), "labels")
    codes, names = encode(said, "labels['label']")
    found, given = _rows(rows, "row", "labels", find), _authors(authors, "labels")
    here = np.flatnonzero(found >= 0)
    own = given._replace(codes=given.codes[here])
    return _Labels(found[here], codes[here], names, own, len(found) - len(here))


def _read_links(table: Any, find: FindRows) -> _Links:
    first, second, said, authors = _columns(table, ("a", "b", "relation", "annotator"), "links")
    ends = np.column_stack([_rows(column, name, "links", find) for name, column in (("a", first), ("b", second))])
    relations = np.array([_relation(value, place) for place, value in enumerate(said.tolist())], dtype=np.int64)
    here = np.flatnonzero((ends >= 0).all(axis=1))
    itself = here[ends[here, 0] == ends[here, 1]]
    if len(itself):
        raise ValueError(f"links[{itself[0]}] pairs row {ends[itself[0], 0]} with itself; remove it")
    has_confidence = "confidence" in (table if isinstance(table, Mapping) else list(table.columns))
    stated = _column(table, "confidence", "links", "") if has_confidence else np.ones(len(ends))
    confidence = np.array([_confidence(value, place) for place, value in enumerate(stated.tolist())], dtype=float)
    if len(confidence) != len(ends):
        raise ValueError(f"links['confidence'] has {len(confidence)} values, but there are {len(ends)} judgements")
    given = _authors(authors, "links")
    return _Links(
        np.sort(ends[here], axis=1),
        relations[here],
        given._replace(codes=given.codes[here]),
        confidence[here],
        len(ends) - len(here),
    )


def _relation(value: Any, place: int) -> int:
    if is_missing(value):
        return UNSURE
    word = value.strip().lower() if isinstance(value, str) else value
    if isinstance(word, str | bool) and word in RELATIONS:
        return RELATIONS[word]
    raise ValueError(f"links['relation'][{place}] is {value!r}; write 'same', 'different' or 'unsure'")


def _confidence(value: Any, place: int) -> float:
    if is_missing(value):
        return 1.0
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0.5 < value <= 1:
        raise ValueError(
            f"links['confidence'][{place}] is {value!r}, but a confidence is above 0.5 and at most 1; a judgement that "
            "is more likely wrong than right is one of the other kind"
        )
    return float(value)


class CertainStatements(NamedTuple):
    """Statements of annotators who never err: labels (n,) by name, None where unknown, must-links and cannot-links."""

    labels: AnyArray
    must_link: IntArray
    cannot_link: IntArray


def take_out_certain(annotations: Annotations, chosen: BoolArray, n: int) -> tuple[Annotations, CertainStatements]:
    """Divide statements into those of annotators who may err and those of the ones chosen (A,), who never do."""
    of_certain = chosen[annotations.label_annotators] & (annotations.label_codes >= 0)
    labels = np.full(n, None, dtype=object)
    for row, code in zip(annotations.label_rows[of_certain], annotations.label_codes[of_certain], strict=True):
        name = annotations.label_names[code : code + 1].tolist()[0]
        if labels[row] is not None and labels[row] != name:
            raise ValueError(
                f"row {row} is both {labels[row]!r} and {name!r} to annotators who are certain; correct one of these "
                "labels, or leave one annotator out of certain="
            )
        labels[row] = name
    judged = chosen[annotations.pair_annotators]
    kept, rest = ~chosen[annotations.label_annotators], ~judged
    left = Annotations(
        annotations.annotators[~chosen],
        annotations.label_names,
        annotations.label_rows[kept],
        annotations.label_codes[kept],
        (np.cumsum(~chosen) - 1)[annotations.label_annotators[kept]],
        annotations.pairs[rest],
        annotations.relations[rest],
        (np.cumsum(~chosen) - 1)[annotations.pair_annotators[rest]],
        annotations.pair_confidence[rest],
    )
    must, cannot = (annotations.pairs[judged & (annotations.relations == said)] for said in (SAME, DIFFERENT))
    return left, CertainStatements(labels, must, cannot)


def chosen_annotators(annotators: AnyArray, names: Any) -> BoolArray:
    """Return which annotators (A,) are named; a name that is not among them is refused."""
    wanted = [names] if isinstance(names, str) else list(names)
    known = annotators.tolist()
    for name in wanted:
        if name not in known:
            raise ValueError(f"certain names {name!r}, who is not an annotator; use the names {known!r}")
    return np.array([name in wanted for name in known], dtype=bool)


class Vocabularies(NamedTuple):
    """Which vocabulary each annotator uses (A,), 0 where its names are the classes; and the names of the classes."""

    of_annotator: IntArray
    classes: AnyArray


def vocabularies(annotations: Annotations, given: AnyArray) -> Vocabularies:
    """Divide annotators by the names they use, and say which names are the classes.

    Annotators who share a name use one vocabulary, directly or through others. The classes are the names ``given``
    with certainty and those of the vocabularies that share one with them; where none is given, those of the vocabulary
    with most labels. A name that shares its vocabulary with no other is a class too.
    """
    n_annotators, n_names = len(annotations.annotators), len(annotations.label_names)
    known = annotations.label_codes >= 0
    codes, authors = annotations.label_codes[known], annotations.label_annotators[known]
    used = np.unique(np.column_stack([codes, authors]), axis=0)
    joined = join_groups(n_names, used, n_annotators) if n_names else np.empty(0, dtype=np.int64)
    group = np.full(n_annotators, -1)
    group[authors] = joined[codes]
    names = annotations.label_names.tolist()
    certain = set(given.tolist())
    classes = {int(joined[code]) for code, name in enumerate(names) if name in certain}
    if not classes and len(codes) and not certain:
        classes = {int(np.bincount(joined[codes]).argmax())}
    # One name is no vocabulary: its annotator has not met rows of the other classes.
    numbers, n_used = np.unique(joined, return_counts=True)
    classes |= {number for number in numbers[n_used == 1].tolist() if number >= 0}
    others = [number for number in np.unique(group).tolist() if number >= 0 and number not in classes]
    number_of = {**dict.fromkeys(classes, 0), **{number: place + 1 for place, number in enumerate(others)}, -1: 0}
    kept = [name for code, name in enumerate(names) if int(joined[code]) in classes]
    of_annotator = np.array([number_of[number] for number in group.tolist()], dtype=np.int64)
    return Vocabularies(of_annotator, sorted_names([*certain, *kept]))
