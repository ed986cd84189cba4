"""SideInformation: labels, links and blocks of the rows of a table, in one immutable object."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cached_property, partial
from typing import Any, Self

import numpy as np

from sidelight._html import html_table
from sidelight._storable import storable
from sidelight._typing import AnyArray, BoolArray, FloatArray, IntArray
from sidelight._warnings import warn
from sidelight.side import annotators, transforms
from sidelight.side.annotations import Annotations, chosen_annotators, read_annotations, take_out_certain
from sidelight.side.closure import Closure, close
from sidelight.side.parsing.blocks import read_blocks
from sidelight.side.parsing.columns import as_vector, encode, unknown_column
from sidelight.side.parsing.links import merge_links, read_confidence, read_links, refuse_self_links
from sidelight.side.parsing.rows import read_ids, row_finder, row_numbers


@storable("SideInformation")
@dataclass(frozen=True, eq=False, repr=False)
class SideInformation:
    """Labels, links and blocks of n rows.

    Make one with `build` (or `from_annotations`), which reads what users have; the constructor takes the finished
    arrays. Arrays are read-only; links are sorted (the lower row first) and occur once. The object has neither length
    nor shape, so scikit-learn passes it on whole.

    Attributes
    ----------
    n_rows : int
        Number of rows.
    labels : (n,) int
        Code of the label of each row, -1 unknown.
    label_names : (L,) array
        Names of the codes, sorted: integers, strings or booleans as given.
    must_link, cannot_link : (m, 2) int
        Rows that share a class, rows that do not.
    must_link_confidence, cannot_link_confidence : (m,) float
        Probability in (0.5, 1] that the link is right; 1 is certain.
    blocks : (n,) int
        Code of the block of each row, -1 none. Rows of one block share a class.
    block_names : (B,) array
        Names of the blocks.
    ids : (n,) array or None
        Names of the rows, where given.
    n_dropped : int
        Number of links and of memberships in listed blocks that `build` left out because they name ids that are not
        among the rows. Not compared by ``==``.
    annotations : Annotations or None
        Labels and judged pairs with their authors, who may err; see `from_annotations`. Their names of classes are
        among ``label_names``.

    Examples
    --------
    >>> from sidelight import SideInformation
    >>> side = SideInformation.build(6, y=["a", None, None, None, "b", None], must_link=[(0, 1)], cannot_link=[(1, 4)])
    >>> side
    SideInformation(6 rows: 2 labels of 2 classes, 1 must-link, 1 cannot-link)
    >>> side.label_names.tolist(), side.labels.tolist()
    (['a', 'b'], [0, -1, -1, -1, 1, -1])
    """

    n_rows: int
    labels: IntArray
    label_names: AnyArray
    must_link: IntArray
    cannot_link: IntArray
    must_link_confidence: FloatArray
    cannot_link_confidence: FloatArray
    blocks: IntArray
    block_names: AnyArray
    ids: AnyArray | None = None
    n_dropped: int = field(default=0, compare=False)
    annotations: Annotations | None = None

    def __post_init__(self) -> None:
        store = self.__dict__
        store["n_rows"] = int(self.n_rows)
        for kind in ("must_link", "cannot_link"):
            links = read_links(np.asarray(store[kind]), kind, partial(row_numbers, self.n_rows))
            confidence, _ = read_confidence(store[f"{kind}_confidence"], len(links.pairs), 0)
            if kind == "cannot_link":
                refuse_self_links(links, kind)
            store[kind], store[f"{kind}_confidence"] = merge_links(links.pairs, confidence)
        for codes, names in (("labels", "label_names"), ("blocks", "block_names")):
            store[names] = np.array(store[names])
            store[codes] = _checked_codes(store[codes], self.n_rows, len(store[names]), codes)
        if self.ids is not None:
            store["ids"] = as_vector(np.array(self.ids), "ids", self.n_rows)
        for value in store.values():
            if isinstance(value, np.ndarray):
                value.setflags(write=False)

    @classmethod
    def build(
        cls,
        n: int,
        *,
        y: Any = None,
        must_link: Any = None,
        cannot_link: Any = None,
        blocks: Any = None,
        confidence: Any = None,
        sample_id: Any = None,
    ) -> Self:
        """Read labels, links and blocks of ``n`` rows.

        Parameters
        ----------
        n : int
            Number of rows.
        y : (n,) column, optional
            Partial labels: integers, strings, booleans or whole floats; -1, None and NaN stand for unknown. Here and
            below, a column is a list, an array or a column of pandas or polars.
        must_link, cannot_link : pairs, optional
            Pairs of rows that share a class, or do not: a list of pairs, an (m, 2) array or a table with two columns.
            Rows go by number, counted from 0, or by id where ``sample_id`` is given. Repeated links, in either order,
            are merged, and the highest confidence is kept. A must-link of a row with itself is left out; such a
            cannot-link is an error.
        blocks : (n,) column, or list or mapping of lists, optional
            Rows that share a class whose name is unknown: the name of each row's block (-1, None or NaN for none), or
            the rows (or ids) of each block. Listed blocks that share a row are joined, under the name of the first.
        confidence : float, (m,) column, or mapping, optional
            Probability that links are right, above 0.5 and at most 1: one number for all links; or one per link,
            must-links first, in the order given; or a mapping with entries "must_link" and "cannot_link", each one
            number or one per link. Links are certain by default. Labels and blocks are always certain.
        sample_id : (n,) column, optional
            Names of the rows, all different. Links and listed blocks then name rows by id, and ids that are not among
            the rows are dropped, so that cross-validation can pass all links with each part of the rows; `n_dropped`
            counts them, with a warning if none is left. `align` also keeps what links through absent rows entail.

        Returns
        -------
        SideInformation
            Contradictions are found by `closure`.

        Examples
        --------
        >>> SideInformation.build(5, y=["a", None, None, "b", None], must_link=[(1, 2)])
        SideInformation(5 rows: 2 labels of 2 classes, 1 must-link)
        """
        if not isinstance(n, (int, np.integer)) or isinstance(n, bool) or n < 0:
            raise ValueError(f"n must be the number of rows, not {n!r}")
        n = int(n)
        ids = None if sample_id is None else read_ids(sample_id, n)
        find = row_finder(n, ids)
        labels, label_names = unknown_column(n) if y is None else encode(y, "y", n)
        must = read_links(must_link, "must_link", find)
        cannot = read_links(cannot_link, "cannot_link", find)
        refuse_self_links(cannot, "cannot_link")
        must_confidence, cannot_confidence = read_confidence(confidence, len(must.pairs), len(cannot.pairs))
        stated = read_blocks(blocks, n, find)
        n_dropped = int((~must.present).sum() + (~cannot.present).sum()) + stated.n_dropped
        n_stated = len(must.pairs) + len(cannot.pairs) + stated.n_stated
        if n_stated and n_dropped == n_stated:
            warn(
                f"none of the {n_stated} links and block members given names ids of these {n} rows, so all "
                "are dropped; check that they use the names in sample_id, and the same type of name",
            )
        return cls(
            n_rows=n,
            labels=labels,
            label_names=label_names,
            must_link=must.pairs[must.present],
            cannot_link=cannot.pairs[cannot.present],
            must_link_confidence=must_confidence[must.present],
            cannot_link_confidence=cannot_confidence[cannot.present],
            blocks=stated.codes,
            block_names=stated.names,
            ids=ids,
            n_dropped=n_dropped,
        )

    @classmethod
    def from_annotators(
        cls, annotations: Any, *, n: int | None = None, confidence: Any = None, sample_id: Any = None
    ) -> Self:
        """Pool the labels of several annotators whose label names differ.

        Parameters
        ----------
        annotations : mapping or table
            The partial labels of each annotator: a mapping from annotator to a column of n labels (-1, None or NaN
            unknown) or to a mapping from rows (or ids) to labels; or a list of such columns; or an array or data frame
            of n rows and one column per annotator. In mappings, ids that are not among the rows are dropped and
            counted.
        n : int, optional
            Number of rows; needed only where neither a column nor ``sample_id`` implies it.
        confidence : float or mapping from annotator to float, optional
            Probability in (0.5, 1] that a link is right, for all annotators or for each; certain by default. Below 1,
            links are not closed transitively, and a link that only a chain entails is less certain than each of them.
        sample_id : (n,) column, optional
            Names of the rows.

        Returns
        -------
        SideInformation
            For each annotator and label, a chain of must-links along its rows; for each annotator and pair of labels,
            one cannot-link. Annotators are connected only by rows that both have labelled.

        Raises
        ------
        ContradictionError
            If annotators who are certain contradict each other; the message names them along the chain.
        """
        pooled = annotators.pool(annotations, n=n, confidence=confidence, sample_id=sample_id)
        side = cls.build(
            pooled.n_rows,
            must_link=pooled.must_link,
            cannot_link=pooled.cannot_link,
            confidence=pooled.confidence,
        )
        return replace(side, ids=pooled.ids, n_dropped=pooled.n_dropped)

    @classmethod
    def from_annotations(
        cls, n: int, *, labels: Any = None, links: Any = None, sample_id: Any = None, certain: Any = ()
    ) -> Self:
        """Read statements with an author, who may err: how often, estimators learn.

        `BayesianMixture`, `EquivalenceMixture` and `GuidedMixture` take them. A row may have several labels, and a pair
        several judgements. Annotators may use names of their own: those who share a name are taken to mean the same
        by it, and the names of the others are aligned with the clusters.

        Parameters
        ----------
        n : int
            Number of rows.
        labels : table, optional
            With the columns ``row``, ``label`` and ``annotator``: a data frame, or a mapping from these names to
            columns. A label that is missing stands for "unsure".
        links : table, optional
            With the columns ``a``, ``b``, ``relation`` ("same", "different" or "unsure"), ``annotator`` and, where
            wanted, ``confidence``, from 0.5 to 1: how sure the annotator is of this judgement.
        sample_id : (n,) column, optional
            Names of the rows. ``row``, ``a`` and ``b`` then are ids; statements about others are dropped and counted.
        certain : name or list of names, optional
            Annotators who never err. What they say is taken as `build` takes it.

        Returns
        -------
        SideInformation

        Examples
        --------
        >>> labels = {"row": [0, 0, 1], "label": ["a", "b", "a"], "annotator": ["Ann", "Ben", "Ann"]}
        >>> links = {"a": [1], "b": [2], "relation": ["same"], "annotator": ["Ben"]}
        >>> SideInformation.from_annotations(3, labels=labels, links=links)
        SideInformation(3 rows: 3 labels by 2 annotators, 1 judged pair by 1 annotator)
        """
        empty = cls.build(n, sample_id=sample_id)
        found, n_dropped = read_annotations(labels, links, row_finder(empty.n_rows, empty.ids))
        stated = len(found.label_rows) + len(found.pairs)
        if n_dropped and not stated:
            warn(
                f"none of the {n_dropped} statements names ids of these {n} rows, so all are dropped; check that they "
                "use the names in sample_id, and the same type of name",
            )
        chosen = chosen_annotators(found.annotators, certain)
        known = empty
        if chosen.any():
            found, sure = take_out_certain(found, chosen, empty.n_rows)
            known = cls.build(empty.n_rows, y=sure.labels, must_link=sure.must_link, cannot_link=sure.cannot_link)
        known = replace(known, ids=empty.ids, n_dropped=n_dropped)
        if not len(found.annotators):
            return known
        labels, names = transforms.labels_with_annotations(known, found)
        return replace(known, labels=labels, label_names=names, annotations=found)

    @cached_property
    def mentioned(self) -> BoolArray:
        """Rows with a label, with a link, in a block of at least two rows or with a statement of an annotator."""
        mentioned = self.labels >= 0
        mentioned |= self._in_shared_block
        mentioned[self.must_link] = True
        mentioned[self.cannot_link] = True
        if self.annotations is not None:
            mentioned[self.annotations.mentioned] = True
        mentioned.setflags(write=False)
        return mentioned

    @property
    def is_empty(self) -> bool:
        """Whether there are no statements."""
        return not self.mentioned.any()

    @property
    def statements(self) -> frozenset[str]:
        """Kinds of statement present, of "labels", "must_link", "cannot_link", "blocks", "confidence", "annotators".

        "blocks" needs a block of two rows, "confidence" a link that is not certain, "annotators" a statement with an
        author who may err.
        """
        present: Mapping[str, Any] = {
            "labels": (self.labels >= 0).any(),
            "must_link": len(self.must_link),
            "cannot_link": len(self.cannot_link),
            "blocks": self._in_shared_block.any(),
            "confidence": (self.must_link_confidence < 1).any() or (self.cannot_link_confidence < 1).any(),
            "annotators": self.annotations is not None and not self.annotations.is_empty,
        }
        return frozenset(kind for kind, there in present.items() if there)

    @cached_property
    def _in_shared_block(self) -> BoolArray:
        if not len(self.block_names):
            return np.broadcast_to(np.False_, (self.n_rows,))
        sizes = np.bincount(self.blocks[self.blocks >= 0], minlength=len(self.block_names))
        # Rows outside all blocks, of code -1, look up the extra 0.
        return np.asarray(np.append(sizes, 0)[self.blocks] >= 2)

    def closure(self) -> Closure:
        """Work out what the certain statements entail; see `Closure`.

        Returns
        -------
        Closure
            What follows from the certain statements.

        Raises
        ------
        ContradictionError
            If they contradict each other; the message gives the chain that proves it.
        """
        return self._closure

    @cached_property
    def _closure(self) -> Closure:
        return close(self)

    def restrict(self, rows: Any) -> "SideInformation":
        """Keep the chosen rows, in the given order, and everything known about them.

        What follows for them from rows that are left out is kept: must-links, a label or a cannot-link are added where
        a chain ran through such a row, so that the closure of the result is the closure of the whole, restricted to the
        chosen rows. Links with a confidence below 1 are kept where both ends are. All names of labels and blocks are
        kept, so that codes can be compared.

        Parameters
        ----------
        rows : (m,) int or (n,) bool
            Row numbers, each at most once, or a mask.

        Returns
        -------
        SideInformation
            Of the chosen rows.
        """
        return transforms.restrict(self, rows)

    def align(self, sample_id: Any) -> "SideInformation":
        """Return the side information of the rows with these ids, in their order.

        Ids that this object does not have become rows without statements; its own rows that are not asked for are left
        out as by `restrict`.

        Parameters
        ----------
        sample_id : (m,) column
            Ids, each at most once.

        Returns
        -------
        SideInformation
            Of m rows.
        """
        return transforms.align(self, sample_id)

    def as_links(self) -> "SideInformation":
        """State the same with links only.

        A chain of must-links joins the rows of a label or block, and one cannot-link keeps each pair of labels apart.
        The closure has the same chunklets and keeps the same ones apart.

        Returns
        -------
        SideInformation
            Of the same rows.
        """
        return transforms.as_links(self)

    def as_blocks(self) -> "SideInformation":
        """State the same with blocks in place of certain must-links.

        Rows joined by certain must-links and blocks become one block, numbered by first row. Labels, cannot-links and
        must-links with a confidence below 1 are kept.

        Returns
        -------
        SideInformation
            Of the same rows.
        """
        return transforms.as_blocks(self)

    def without_unused_names(self) -> "SideInformation":
        """Leave out the names of labels and blocks that no row carries, and renumber the others.

        Returns
        -------
        SideInformation
            Of the same rows.
        """
        return transforms.without_unused_names(self)

    def combine(self, other: "SideInformation") -> "SideInformation":
        """Pool this with another object about the same rows; ``side | other`` does the same.

        Labels of the same name are the same label; blocks are joined where they share a row, never because of their
        names; links that are in both keep the higher confidence.

        Parameters
        ----------
        other : SideInformation
            Another object about the same rows.

        Returns
        -------
        SideInformation
            The statements of both.

        Raises
        ------
        ContradictionError
            If a row carries different labels in the two.
        """
        return transforms.combine(self, other)

    def __or__(self, other: object) -> "SideInformation":
        return self.combine(other) if isinstance(other, SideInformation) else NotImplemented

    def __eq__(self, other: object) -> bool:
        return self._content == other._content if isinstance(other, SideInformation) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._content)

    @property
    def _content(self) -> tuple[Any, ...]:
        return tuple(_comparable(getattr(self, part.name)) for part in fields(self) if part.compare)

    def __reduce__(self) -> tuple[type, tuple[Any, ...]]:
        # Unpickled arrays are writable, so the object is made again from its parts.
        return type(self), tuple(getattr(self, part.name) for part in fields(self))

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self

    def summary(self) -> str:
        """Return the number of statements of each kind, in one line.

        Returns
        -------
        str
            One line.

        Examples
        --------
        >>> SideInformation.build(5, y=["a", None, None, "b", None], must_link=[(1, 2)]).summary()
        '2 labels of 2 classes, 1 must-link'
        """
        parts = []
        labelled = self.labels[self.labels >= 0]
        if len(labelled):
            classes = _count(len(np.unique(labelled)), "class", "classes")
            parts.append(f"{_count(len(labelled), 'label')} of {classes}")
        for kind, confidence in (
            ("must-link", self.must_link_confidence),
            ("cannot-link", self.cannot_link_confidence),
        ):
            n_uncertain = int((confidence < 1).sum())
            if len(confidence):
                parts.append(_count(len(confidence), kind) + (f" ({n_uncertain} uncertain)" if n_uncertain else ""))
        n_blocks = len(np.unique(self.blocks[self._in_shared_block]))
        if n_blocks:
            parts.append(_count(n_blocks, "block"))
        if self.annotations is not None and len(self.annotations.annotators):
            parts.append(self.annotations.summary())
        dropped = f"; {self.n_dropped} about absent ids dropped" if self.n_dropped else ""
        return (", ".join(parts) or "nothing known") + dropped

    def __repr__(self) -> str:
        return f"SideInformation({_count(self.n_rows, 'row')}: {self.summary()})"

    def _repr_html_(self) -> str:
        """Return what notebooks show: how many statements there are of each kind, and the first of them."""
        rows = range(self.n_rows) if self.ids is None else self.ids.tolist()
        labelled = np.flatnonzero(self.labels >= 0)
        first_labels = [f"{rows[row]}: {self.label_names[self.labels[row]]}" for row in labelled[:_SHOWN].tolist()]
        blocks = np.unique(self.blocks[self._in_shared_block])
        first_blocks = [
            f"{self.block_names[code]}: {_count(int((self.blocks == code).sum()), 'row')}" for code in blocks[:_SHOWN]
        ]
        classes = _count(len(np.unique(self.labels[labelled])), "class", "classes")
        lines = [(f"labels of {classes}", len(labelled), first_labels)]
        for kind in ("must_link", "cannot_link"):
            links, confidence = getattr(self, kind), getattr(self, f"{kind}_confidence")
            uncertain = int((confidence < 1).sum())
            words = [f"{rows[first]} – {rows[second]}" for first, second in links[:_SHOWN].tolist()]
            name = kind.replace("_", "-") + "s" + (f", {uncertain} of them uncertain" if uncertain else "")
            lines.append((name, len(links), words))
        lines.append(("blocks", len(blocks), first_blocks))
        if self.annotations is not None:
            of_annotators = self.annotations.n_statements.tolist()
            words = [
                f"{name}: {n}" for name, n in zip(self.annotations.annotators.tolist(), of_annotators, strict=True)
            ]
            lines.append(("statements of annotators", sum(of_annotators), words[:_SHOWN]))
        return html_table(
            f"Side information about {_count(self.n_rows, 'row')}",
            ("statements", "number", "the first of them"),
            [
                (name, number, "; ".join(words) + ("; …" if number > _SHOWN else ""))
                for name, number, words in lines
                if number
            ],
        )


# How many statements of a kind notebooks show.
_SHOWN = 5


def _comparable(value: Any) -> Any:
    if not isinstance(value, np.ndarray):
        return value
    # Names are compared by value: their bytes depend on the length of the longest name.
    exact = value.dtype in (np.int64, np.float64)
    return value.dtype.kind, value.tobytes() if exact else tuple(value.tolist())


def _count(number: int, singular: str, plural: str | None = None) -> str:
    return f"{number} {singular if number == 1 else plural or singular + 's'}"


def _checked_codes(codes: Any, n: int, n_names: int, argument: str) -> IntArray:
    array = np.asarray(codes, dtype=np.int64)
    if array.shape != (n,):
        raise ValueError(f"{argument} has shape {array.shape}, but there are {n} rows; give one code per row")
    wrong = np.flatnonzero((array < -1) | (array >= n_names))
    if len(wrong):
        raise ValueError(
            f"{argument} holds the code {array[wrong[0]]} at row {wrong[0]}, but there are {n_names} names; "
            "use SideInformation.build to pass names"
        )
    return array.copy() if n_names else unknown_column(n).codes
