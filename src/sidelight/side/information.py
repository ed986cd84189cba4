"""The one immutable object that says what is known about the rows of a table."""

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from sidelight._storable import storable
from sidelight.side import annotators, rewriting
from sidelight.side.bonds import IntArray
from sidelight.side.closure import Closure, close
from sidelight.side.reading import AnyArray, as_vector, encode, nobody, read_ids
from sidelight.side.statements import (
    FloatArray,
    StatedLinks,
    merge_links,
    read_blocks,
    read_confidence,
    read_links,
    refuse_self_links,
)


@storable("SideInformation")
@dataclass(frozen=True, eq=False, repr=False)
class SideInformation:
    """What is known about n rows: labels, links and blocks.

    Make one with `build` (or `from_annotators`), which reads what users have; the constructor takes the
    finished arrays. Arrays are read-only, links are in order (the lower row first) and each stands once.
    The object has neither length nor shape, so scikit-learn passes it on whole.

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
        Number of links and of memberships in listed blocks that `build` left out because they name ids
        that are not among the rows. No part of equality.
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

    def __post_init__(self) -> None:
        store = self.__dict__
        store["n_rows"] = int(self.n_rows)
        for kind in ("must_link", "cannot_link"):
            links = _checked_links(store[kind], self.n_rows, kind)
            confidence, _ = read_confidence(store[f"{kind}_confidence"], len(links), 0)
            if kind == "cannot_link":
                refuse_self_links(StatedLinks(links, np.ones(len(links), dtype=bool)), kind)
            store[kind], store[f"{kind}_confidence"] = merge_links(links, confidence)
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
        """Read what is known about ``n`` rows.

        Parameters
        ----------
        n : int
            Number of rows.
        y : (n,) column, optional
            Partial labels: integers, strings, booleans or whole floats; -1, None and NaN stand for
            unknown. Lists, arrays and columns of pandas or polars are welcome, here and below.
        must_link, cannot_link : pairs, optional
            Pairs of rows that share a class, or do not: a list of pairs, an (m, 2) array or a table with
            two columns. Rows go by number, counted from 0, or by id where ``sample_id`` is given. Links
            that stand twice, in either order, are merged, and the highest confidence is kept. A must-link
            of a row with itself says nothing and is left out; such a cannot-link is an error.
        blocks : (n,) column, or list or mapping of lists, optional
            Rows known to share a class without the class being named: the name of each row's block (-1,
            None or NaN for none), or the rows (or ids) of each block. Listed blocks that share a row are
            joined, and go by the name of the first.
        confidence : float, (m,) column, or mapping, optional
            Probability that links are right, above 0.5 and at most 1: one number for all links; or one per
            link, must-links first, in the order given; or a mapping with entries "must_link" and
            "cannot_link", each one number or one per link. Links are certain by default. Labels and blocks
            always are.
        sample_id : (n,) column, optional
            Names of the rows, all different. Links and listed blocks then name rows by id, and ids that
            are not among the rows drop out, so that cross-validation can pass all links with each part of
            the rows; `n_dropped` counts them, and a warning says so if none is left. (`align` also keeps
            what links through absent rows entail.)

        Returns
        -------
        SideInformation
            What is known. Contradictions are found by `closure`.

        Examples
        --------
        >>> SideInformation.build(5, y=["a", None, None, "b", None], must_link=[(1, 2)])
        SideInformation(5 rows: 2 labels of 2 classes, 1 must-link)
        """
        if not isinstance(n, (int, np.integer)) or isinstance(n, bool) or n < 0:
            raise ValueError(f"n must be the number of rows, not {n!r}")
        n = int(n)
        ids = None if sample_id is None else read_ids(sample_id, n)
        labels, label_names = nobody(n) if y is None else encode(y, "y", n)
        must = read_links(must_link, "must_link", n, ids)
        cannot = read_links(cannot_link, "cannot_link", n, ids)
        refuse_self_links(cannot, "cannot_link")
        must_sure, cannot_sure = read_confidence(confidence, len(must.pairs), len(cannot.pairs))
        stated = read_blocks(blocks, n, ids)
        n_dropped = int((~must.present).sum() + (~cannot.present).sum()) + stated.n_dropped
        n_stated = len(must.pairs) + len(cannot.pairs) + stated.n_stated
        if n_stated and n_dropped == n_stated:
            warnings.warn(
                f"none of the {n_stated} links and block members given names ids of these {n} rows, so all "
                "are dropped; check that they use the names in sample_id, and the same type of name",
                UserWarning,
                stacklevel=2,
            )
        return cls(
            n_rows=n,
            labels=labels,
            label_names=label_names,
            must_link=must.pairs[must.present],
            cannot_link=cannot.pairs[cannot.present],
            must_link_confidence=must_sure[must.present],
            cannot_link_confidence=cannot_sure[cannot.present],
            blocks=stated.codes,
            block_names=stated.names,
            ids=ids,
            n_dropped=n_dropped,
        )

    @classmethod
    def from_annotators(
        cls, annotations: Any, *, n: int | None = None, confidence: Any = None, sample_id: Any = None
    ) -> Self:
        """Pool the labels of several people who share no label names; see `annotators.pool`."""
        pooled = annotators.pool(annotations, n=n, confidence=confidence, sample_id=sample_id)
        side = cls.build(
            pooled.n_rows,
            must_link=pooled.must_link,
            cannot_link=pooled.cannot_link,
            confidence=pooled.confidence,
        )
        return replace(side, ids=pooled.ids, n_dropped=pooled.n_dropped)

    @cached_property
    def mentioned(self) -> NDArray[np.bool_]:
        """Rows that a label, a link or a block of at least two rows speaks of, (n,) bool."""
        mentioned = self.labels >= 0
        mentioned |= self._in_shared_block
        mentioned[self.must_link] = True
        mentioned[self.cannot_link] = True
        mentioned.setflags(write=False)
        return mentioned

    @property
    def is_empty(self) -> bool:
        """Whether nothing is known."""
        return not self.mentioned.any()

    @property
    def statements(self) -> frozenset[str]:
        """Kinds of statement present, of "labels", "must_link", "cannot_link", "blocks", "confidence".

        "blocks" needs a block of two rows, "confidence" a link that is not certain.
        """
        present: Mapping[str, Any] = {
            "labels": (self.labels >= 0).any(),
            "must_link": len(self.must_link),
            "cannot_link": len(self.cannot_link),
            "blocks": self._in_shared_block.any(),
            "confidence": (self.must_link_confidence < 1).any() or (self.cannot_link_confidence < 1).any(),
        }
        return frozenset(kind for kind, there in present.items() if there)

    @cached_property
    def _in_shared_block(self) -> NDArray[np.bool_]:
        if not len(self.block_names):
            return np.broadcast_to(np.False_, (self.n_rows,))
        sizes = np.bincount(self.blocks[self.blocks >= 0], minlength=len(self.block_names))
        # The extra 0 is what rows outside all blocks, of code -1, look up.
        return np.asarray(np.append(sizes, 0)[self.blocks] >= 2)

    def closure(self) -> Closure:
        """Work out what the certain statements entail; see `Closure`.

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

        What follows for them from rows that are left out is kept: links, a label or a cannot-link are added
        where a chain ran through such a row, so the closure of the result is the closure of the whole, seen
        on the chosen rows. Links with a confidence below 1 stay where both ends do. All names of labels and
        blocks stay, so that codes can be compared.

        Parameters
        ----------
        rows : (m,) int or (n,) bool
            Row numbers, each at most once, or a mask.
        """
        return rewriting.restrict(self, rows)

    def align(self, sample_id: Any) -> "SideInformation":
        """Say what is known about the rows with these ids, in their order.

        Ids this object does not know become rows nobody knows anything about; its own rows that are not
        asked for are left out as by `restrict`.
        """
        return rewriting.align(self, sample_id)

    def as_links(self) -> "SideInformation":
        """Say the same with links only.

        The rows of a label or block are joined by a chain of must-links, and each pair of labels is kept
        apart by one cannot-link. The closure has the same chunklets and keeps the same ones apart.
        """
        return rewriting.as_links(self)

    def as_blocks(self) -> "SideInformation":
        """Say the same with blocks in place of certain must-links.

        Rows joined by certain must-links and blocks become one block, numbered by first row. Labels and
        cannot-links stay, as do must-links with a confidence below 1.
        """
        return rewriting.as_blocks(self)

    def without_unused_names(self) -> "SideInformation":
        """Leave out the names of labels and blocks that no row carries, and number the others anew."""
        return rewriting.without_unused_names(self)

    def combine(self, other: "SideInformation") -> "SideInformation":
        """Pool this with what another object knows about the same rows; ``side | other`` does the same.

        Labels of the same name are the same label; blocks are joined where they share a row, never because
        of their names; links that stand in both keep the higher confidence.

        Raises
        ------
        ContradictionError
            If a row carries different labels in the two.
        """
        return rewriting.combine(self, other)

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
        # Pickled arrays come back writable, so the object is made anew from its parts.
        return type(self), tuple(getattr(self, part.name) for part in fields(self))

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self

    def __repr__(self) -> str:
        labelled = self.labels[self.labels >= 0]
        n_blocks = len(np.unique(self.blocks[self._in_shared_block]))
        parts = []
        if len(labelled):
            classes = _count(len(np.unique(labelled)), "class", "classes")
            parts.append(f"{_count(len(labelled), 'label')} of {classes}")
        for name, confidence in (
            ("must-link", self.must_link_confidence),
            ("cannot-link", self.cannot_link_confidence),
        ):
            n_unsure = int((confidence < 1).sum())
            if len(confidence):
                parts.append(_count(len(confidence), name) + (f" ({n_unsure} uncertain)" if n_unsure else ""))
        if n_blocks:
            parts.append(_count(n_blocks, "block"))
        dropped = f"; {self.n_dropped} about absent ids dropped" if self.n_dropped else ""
        known = ", ".join(parts) or "nothing known"
        return f"SideInformation({_count(self.n_rows, 'row')}: {known}{dropped})"


def _comparable(value: Any) -> Any:
    if not isinstance(value, np.ndarray):
        return value
    # Of names, the values and not the bytes, which depend on the length of the longest name.
    exact = value.dtype in (np.int64, np.float64)
    return value.dtype.kind, value.tobytes() if exact else tuple(value.tolist())


def _count(number: int, singular: str, plural: str | None = None) -> str:
    return f"{number} {singular if number == 1 else plural or singular + 's'}"


def _checked_links(links: Any, n: int, argument: str) -> IntArray:
    return read_links(np.asarray(links), argument, n, None).pairs


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
    return array.copy() if n_names else nobody(n).codes
