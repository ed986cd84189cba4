"""State the same side information for fewer rows, other rows, more rows, as links, as blocks, or pooled."""

from collections.abc import Callable
from dataclasses import replace
from functools import reduce
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from sidelight._typing import AnyArray, IntArray
from sidelight.exceptions import ContradictionError
from sidelight.side.annotations import Annotations, vocabularies
from sidelight.side.closure import (
    Closure,
    all_pairs,
    certain_constraints,
    chain,
    components,
    join_groups,
    number_by_first,
)
from sidelight.side.parsing.columns import CodedColumn, compress, names_array, sorted_names, unknown_column
from sidelight.side.parsing.rows import choose_rows, read_ids, rows_of

if TYPE_CHECKING:
    from sidelight.side.information import SideInformation


def restrict(side: "SideInformation", rows: Any) -> "SideInformation":
    """Keep the chosen rows and all that is entailed about them; see `SideInformation.restrict`."""
    chosen = choose_rows(rows, "rows", side.n_rows)
    _refuse_repeats(chosen)
    if len(chosen) == side.n_rows and side.ids is None and side.is_empty:
        return side
    kept = replace(
        side,
        n_rows=len(chosen),
        labels=side.labels[chosen],
        blocks=side.blocks[chosen],
        ids=None if side.ids is None else side.ids[chosen],
        annotations=_annotations_among(side, chosen),
        **_links_among(side, chosen),
    )
    if side.statements <= {"labels", "annotators"}:  # labels alone entail nothing, so a large table needs no closure
        return kept
    closure = side.closure()
    chunklets = closure.chunklets[chosen]
    return _with_entailed_links(_with_entailed_labels(kept, closure, chunklets), closure, chunklets)


def _refuse_repeats(chosen: IntArray) -> None:
    ordered = np.sort(chosen)
    if (ordered[1:] == ordered[:-1]).any():
        first = np.unique(chosen, return_index=True)[1]
        again = np.setdiff1d(np.arange(len(chosen)), first)[0]
        raise ValueError(f"rows[{again}] chooses row {chosen[again]} again; choose each row once")


def _links_among(side: "SideInformation", chosen: IntArray) -> dict[str, Any]:
    """Return the links whose ends are both chosen, renumbered, with their confidences."""
    if not len(side.must_link) and not len(side.cannot_link):
        return {}
    new_number = np.full(side.n_rows, -1, dtype=np.int64)
    new_number[chosen] = np.arange(len(chosen))
    links: dict[str, Any] = {}
    for kind in ("must_link", "cannot_link"):
        renumbered = new_number[getattr(side, kind)]
        both = (renumbered >= 0).all(axis=1)
        links[kind] = renumbered[both]
        links[f"{kind}_confidence"] = getattr(side, f"{kind}_confidence")[both]
    return links


def _annotations_among(side: "SideInformation", chosen: IntArray) -> Annotations | None:
    """Return the statements of annotators about chosen rows alone; they may be wrong, so nothing follows from them."""
    if side.annotations is None:
        return None
    place = np.full(side.n_rows, -1, dtype=np.int64)
    place[chosen] = np.arange(len(chosen))
    return side.annotations.moved(place)


def _with_entailed_labels(kept: "SideInformation", closure: Closure, chunklets: IntArray) -> "SideInformation":
    """Label the first row of each unlabelled part of a labelled chunklet whose rows are no longer joined.

    Labels join the parts again, so that no links need to be added for them.
    """
    parts = components(certain_constraints(kept))[: kept.n_rows]
    present, first = np.unique(parts, return_index=True)
    unlabelled = first[~np.isin(present, parts[kept.labels >= 0])]
    labels = kept.labels.copy()
    labels[unlabelled] = closure.labels[chunklets[unlabelled]]
    return replace(kept, labels=labels)


def _with_entailed_links(kept: "SideInformation", closure: Closure, chunklets: IntArray) -> "SideInformation":
    """Join the parts of each chunklet by must-links, and restore the cannot-links of rows that were left out."""
    # Each part is represented by its first row; a chunklet in one part gives a chain without links.
    _, first = np.unique(components(certain_constraints(kept))[: kept.n_rows], return_index=True)
    joined = chain(chunklets[first], first)
    present, first = np.unique(chunklets, return_index=True)
    representative = np.full(len(closure.labels), -1, dtype=np.int64)
    representative[present] = first
    certain = np.sort(chunklets[kept.cannot_link[kept.cannot_link_confidence == 1]], axis=1)
    n_chunklets = len(closure.labels)
    lost = ~np.isin(
        closure.cannot[:, 0] * n_chunklets + closure.cannot[:, 1],
        certain[:, 0] * n_chunklets + certain[:, 1],
    )
    apart = representative[closure.cannot[lost]]
    return _with_links(kept, joined, apart[(apart >= 0).all(axis=1)])


def _with_links(side: "SideInformation", must: IntArray, cannot: IntArray) -> "SideInformation":
    """Add certain links."""
    return replace(
        side,
        must_link=np.concatenate([side.must_link, must]),
        cannot_link=np.concatenate([side.cannot_link, cannot]),
        must_link_confidence=np.concatenate([side.must_link_confidence, np.ones(len(must))]),
        cannot_link_confidence=np.concatenate([side.cannot_link_confidence, np.ones(len(cannot))]),
    )


def align(side: "SideInformation", sample_id: Any) -> "SideInformation":
    """Return the side information of the rows with these ids; see `SideInformation.align`."""
    if side.ids is None:
        raise ValueError(
            "this side information has no ids to align sample_id with; build it with sample_id, "
            "or choose rows by number with restrict"
        )
    ids = read_ids(sample_id, None)
    rows = rows_of(side.ids, ids)
    known = np.flatnonzero(rows >= 0)
    kept = restrict(side, rows[known])
    labels, blocks = np.full((2, len(ids)), -1, dtype=np.int64)
    labels[known] = kept.labels
    blocks[known] = kept.blocks
    return replace(
        kept,
        n_rows=len(ids),
        labels=labels,
        blocks=blocks,
        must_link=known[kept.must_link],
        cannot_link=known[kept.cannot_link],
        ids=ids,
        annotations=None if kept.annotations is None else kept.annotations.moved(known),
    )


def as_links(side: "SideInformation") -> "SideInformation":
    """State the same with links only; see `SideInformation.as_links`."""
    labelled = np.flatnonzero(side.labels >= 0)
    in_block = np.flatnonzero(side.blocks >= 0)
    must = np.concatenate([chain(side.labels[labelled], labelled), chain(side.blocks[in_block], in_block)])
    _, first = np.unique(side.labels[labelled], return_index=True)
    codes, names = unknown_column(side.n_rows)
    links_only = replace(side, labels=codes, label_names=names, blocks=codes, block_names=names)
    return _with_links(links_only, must, all_pairs(labelled[first]))


def as_blocks(side: "SideInformation") -> "SideInformation":
    """State the same with blocks for certain must-links; see `SideInformation.as_blocks`."""
    joined = number_by_first(components(certain_constraints(side, labels=False))[: side.n_rows])
    shared = np.bincount(joined)[joined] >= 2
    blocks = np.full(side.n_rows, -1, dtype=np.int64)
    blocks[shared] = number_by_first(joined[shared])
    uncertain = side.must_link_confidence < 1
    return replace(
        side,
        must_link=side.must_link[uncertain],
        must_link_confidence=side.must_link_confidence[uncertain],
        blocks=blocks,
        block_names=np.arange(blocks.max(initial=-1) + 1),
    )


def without_unused_names(side: "SideInformation") -> "SideInformation":
    """Leave out names that no row carries; see `SideInformation.without_unused_names`."""
    if not len(side.label_names) and not len(side.block_names) and side.annotations is None:
        return side
    labels, label_names = _used(side.labels, side.label_names)
    blocks, block_names = _used(side.blocks, side.block_names)
    used = replace(side, labels=labels, label_names=label_names, blocks=blocks, block_names=block_names)
    return used if side.annotations is None else with_annotations(used, side.annotations)


def _used(codes: IntArray, names: AnyArray) -> CodedColumn:
    # A column that is all unknown takes no memory, and should not begin to here.
    return compress(codes, names) if len(names) else CodedColumn(codes, names)


def with_annotations(side: "SideInformation", annotations: Annotations) -> "SideInformation":
    """Return the same with statements of annotators, whose names of classes join the names of labels."""
    labels, names = labels_with_annotations(side, annotations)
    return replace(side, labels=labels, label_names=names, annotations=annotations)


def labels_with_annotations(side: "SideInformation", annotations: Annotations) -> CodedColumn:
    """Return the labels as codes among their names and the names that annotators have for classes."""
    given = side.label_names[np.unique(side.labels[side.labels >= 0])]
    classes = sorted_names([*side.label_names.tolist(), *vocabularies(annotations, given).classes.tolist()])
    code_of = {name: code for code, name in enumerate(classes.tolist())}
    codes = np.array([*(code_of[name] for name in side.label_names.tolist()), -1], dtype=np.int64)[side.labels]
    return CodedColumn(codes, classes)


def combine(side: "SideInformation", other: "SideInformation") -> "SideInformation":
    """Pool what two objects state about the same rows; see `SideInformation.combine`."""
    if side.n_rows != other.n_rows:
        raise ValueError(
            f"cannot combine side information about {side.n_rows} rows with that about {other.n_rows} rows; "
            "align or restrict one of them first"
        )
    if side.ids is not None and other.ids is not None and side.ids.tolist() != other.ids.tolist():
        raise ValueError("cannot combine side information whose ids differ; align one with the other's ids")
    labels, label_names = _united_labels(side, other)
    blocks, block_names = _united_blocks(side, other)
    stated = [part.annotations for part in (side, other) if part.annotations is not None]
    return replace(
        side,
        labels=labels,
        label_names=label_names,
        must_link=np.concatenate([side.must_link, other.must_link]),
        cannot_link=np.concatenate([side.cannot_link, other.cannot_link]),
        must_link_confidence=np.concatenate([side.must_link_confidence, other.must_link_confidence]),
        cannot_link_confidence=np.concatenate([side.cannot_link_confidence, other.cannot_link_confidence]),
        blocks=blocks,
        block_names=block_names,
        ids=other.ids if side.ids is None else side.ids,
        n_dropped=side.n_dropped + other.n_dropped,
        annotations=reduce(Annotations.joined, stated) if stated else None,
    )


def _united_labels(side: "SideInformation", other: "SideInformation") -> tuple[IntArray, AnyArray]:
    names = sorted_names([*side.label_names.tolist(), *other.label_names.tolist()])
    code_of = {name: code for code, name in enumerate(names.tolist())}
    first, second = (
        # Unlabelled rows, of code -1, look up the extra -1.
        np.array([*(code_of[name] for name in which.label_names.tolist()), -1])[which.labels]
        for which in (side, other)
    )
    differ = np.flatnonzero((first >= 0) & (second >= 0) & (first != second))
    if len(differ):
        row = int(differ[0])
        one, two = (repr(names[code : code + 1].tolist()[0]) for code in (first[row], second[row]))
        ids = side.ids if side.ids is not None else other.ids
        name = f"row {row}" if ids is None else f"id {ids[row : row + 1].tolist()[0]!r}"
        more = f" (and {len(differ) - 1} more)" if len(differ) > 1 else ""
        raise ContradictionError(
            f"{name} is labelled {one} in one and {two} in the other{more}: correct one of them, or "
            "pool labels without common names by SideInformation.from_annotators",
            (row,),
            count=len(differ),
        )
    return np.where(first >= 0, first, second), names


def _united_blocks(side: "SideInformation", other: "SideInformation") -> CodedColumn:
    n_blocks = len(side.block_names)
    first, second = np.flatnonzero(side.blocks >= 0), np.flatnonzero(other.blocks >= 0)
    members = np.concatenate(
        [
            np.column_stack([first, side.blocks[first]]),
            np.column_stack([second, other.blocks[second] + n_blocks]),
        ]
    )
    names = names_array([*side.block_names.tolist(), *other.block_names.tolist()])
    return compress(join_groups(side.n_rows, members, len(names)), names)


def append(upper: "SideInformation", lower: "SideInformation") -> "SideInformation":
    """Return side information about two tables, one below the other.

    Labels of one name are the same label in both; blocks and links concern the rows of their own table.
    """
    n = upper.n_rows
    both = type(upper).build(
        n + lower.n_rows,
        y=np.concatenate([_label_names(upper), _label_names(lower)]),
        must_link=np.concatenate([upper.must_link, lower.must_link + n]),
        cannot_link=np.concatenate([upper.cannot_link, lower.cannot_link + n]),
        blocks=np.concatenate([upper.blocks, np.where(lower.blocks < 0, -1, lower.blocks + len(upper.block_names))]),
        confidence={
            kind: np.concatenate([getattr(upper, f"{kind}_confidence"), getattr(lower, f"{kind}_confidence")])
            for kind in ("must_link", "cannot_link")
        },
    )
    starts = ((upper, 0), (lower, n))
    stated = [
        part.annotations.moved(start + np.arange(part.n_rows)) for part, start in starts if part.annotations is not None
    ]
    return with_annotations(both, reduce(Annotations.joined, stated)) if stated else both


def _label_names(side: "SideInformation") -> AnyArray:
    names = np.full(side.n_rows, None, dtype=object)
    labelled = side.labels >= 0
    names[labelled] = side.label_names[side.labels[labelled]]
    return names


def pooled(
    n: int,
    y: Any,
    must_link: Any,
    cannot_link: Any,
    side: Any,
    sample_id: Any,
    *,
    takes: frozenset[str],
    refuse: Callable[[str], NoReturn],
) -> "SideInformation":
    """Pool what a user passes to ``fit`` about n rows, without contradictions and without unused names.

    A kind of statement that is not among those that an estimator ``takes`` goes to ``refuse``, which raises.
    """
    known = gathered(n, y, must_link, cannot_link, side, sample_id)
    for statement in sorted(known.statements - takes):
        refuse(statement)
    if known.statements - {"labels"}:
        known.closure()  # raises if statements contradict each other
    return known


def gathered(n: int, y: Any, must_link: Any, cannot_link: Any, side: Any, sample_id: Any) -> "SideInformation":
    """Pool what a user passes to ``fit`` about n rows, without unused names; statements may contradict each other."""
    from sidelight.side.information import SideInformation

    known = SideInformation.build(n, y=y, must_link=must_link, cannot_link=cannot_link, sample_id=sample_id)
    if side is not None:
        if not isinstance(side, SideInformation):
            raise TypeError(
                f"side must be a SideInformation, not {type(side).__name__}; "
                "make one with SideInformation.build(n, y=…, must_link=…, cannot_link=…, blocks=…)."
            )
        if sample_id is not None:
            side = side.align(sample_id)
        elif side.n_rows != n:
            raise ValueError(
                f"side has {side.n_rows} rows, but X has {n}; pass sample_id (and build side with it) "
                "so that rows are found by name."
            )
        known = known.combine(side)
    return known.without_unused_names()
