"""Say what is known in another way: for fewer rows, other rows, as links, as blocks, or pooled."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from sidelight.exceptions import ContradictionError
from sidelight.side.bonds import IntArray, chain, components, join_groups, number_by_first
from sidelight.side.closure import Closure, certain_bonds
from sidelight.side.reading import AnyArray, Encoded, choose_rows, read_ids, rows_of, sort_names, tidy
from sidelight.side.statements import FloatArray, compress

if TYPE_CHECKING:
    from sidelight.side.information import SideInformation


def restrict(side: "SideInformation", rows: Any) -> "SideInformation":
    """Keep the chosen rows and all that is entailed about them; see `SideInformation.restrict`."""
    chosen = choose_rows(rows, "rows", side.n_rows)
    _refuse_repeats(chosen)
    if side.statements <= {"labels"}:  # nothing is entailed, and no closure of a large table is needed to say so
        ids = None if side.ids is None else side.ids[chosen]
        return replace(side, n_rows=len(chosen), labels=side.labels[chosen], blocks=side.blocks[chosen], ids=ids)
    new_number = np.full(side.n_rows, -1, dtype=np.int64)
    new_number[chosen] = np.arange(len(chosen))
    must_link, must_sure = _surviving(side.must_link, side.must_link_confidence, new_number)
    cannot_link, cannot_sure = _surviving(side.cannot_link, side.cannot_link_confidence, new_number)
    closure = side.closure()
    kept = replace(
        side,
        n_rows=len(chosen),
        labels=side.labels[chosen],
        must_link=must_link,
        cannot_link=cannot_link,
        must_link_confidence=must_sure,
        cannot_link_confidence=cannot_sure,
        blocks=side.blocks[chosen],
        ids=None if side.ids is None else side.ids[chosen],
    )
    chunklets = closure.chunklets[chosen]
    return _with_entailed_links(_with_entailed_labels(kept, closure, chunklets), closure, chunklets)


def _refuse_repeats(chosen: IntArray) -> None:
    distinct, first = np.unique(chosen, return_index=True)
    if len(distinct) < len(chosen):
        again = np.setdiff1d(np.arange(len(chosen)), first)[0]
        raise ValueError(f"rows[{again}] chooses row {chosen[again]} again; choose each row once")


def _surviving(links: IntArray, sure: FloatArray, new_number: IntArray) -> tuple[IntArray, FloatArray]:
    renumbered = new_number[links]
    both = (renumbered >= 0).all(axis=1)
    return renumbered[both], sure[both]


def _with_entailed_labels(kept: "SideInformation", closure: Closure, chunklets: IntArray) -> "SideInformation":
    """Give the label of a chunklet to the first row of each piece into which it fell that does not carry it.

    Labels join the pieces again, so that no links need to be added for them.
    """
    pieces = components(certain_bonds(kept))[: kept.n_rows]
    present, first = np.unique(pieces, return_index=True)
    without = first[~np.isin(present, pieces[kept.labels >= 0])]
    labels = kept.labels.copy()
    labels[without] = closure.labels[chunklets[without]]
    return replace(kept, labels=labels)


def _with_entailed_links(kept: "SideInformation", closure: Closure, chunklets: IntArray) -> "SideInformation":
    """Join the pieces into which a chunklet fell, and keep apart what was kept apart."""
    # Representatives are the first rows of pieces; a chunklet in one piece gives a chain of no links.
    _, first = np.unique(components(certain_bonds(kept))[: kept.n_rows], return_index=True)
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
    """Say what is known about the rows with these ids; see `SideInformation.align`."""
    if side.ids is None:
        raise ValueError(
            "this side information has no ids to align sample_id with; build it with sample_id, "
            "or choose rows by number with restrict"
        )
    ids = read_ids(sample_id, None)
    rows = rows_of(side.ids, ids)
    known = np.flatnonzero(rows >= 0)
    kept = restrict(side, rows[known])
    labels = np.full(len(ids), -1, dtype=np.int64)
    blocks = np.full(len(ids), -1, dtype=np.int64)
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
    )


def as_links(side: "SideInformation") -> "SideInformation":
    """Say the same with links only; see `SideInformation.as_links`."""
    labelled = np.flatnonzero(side.labels >= 0)
    blocked = np.flatnonzero(side.blocks >= 0)
    must = np.concatenate([chain(side.labels[labelled], labelled), chain(side.blocks[blocked], blocked)])
    _, first = np.unique(side.labels[labelled], return_index=True)
    nobody = np.full(side.n_rows, -1, dtype=np.int64)
    no_names = np.empty(0, dtype=np.int64)
    bare = replace(side, labels=nobody, label_names=no_names, blocks=nobody, block_names=no_names)
    return _with_links(bare, must, all_pairs(labelled[first]))


def all_pairs(rows: IntArray) -> IntArray:
    """Pair each of a few rows with each other."""
    first, second = np.triu_indices(len(rows), k=1)
    return np.column_stack([rows[first], rows[second]]).astype(np.int64)


def as_blocks(side: "SideInformation") -> "SideInformation":
    """Say the same with blocks for certain must-links; see `SideInformation.as_blocks`."""
    joined = number_by_first(components(certain_bonds(side, labels=False))[: side.n_rows])
    shared = np.bincount(joined)[joined] >= 2
    blocks = np.full(side.n_rows, -1, dtype=np.int64)
    blocks[shared] = number_by_first(joined[shared])
    unsure = side.must_link_confidence < 1
    return replace(
        side,
        must_link=side.must_link[unsure],
        must_link_confidence=side.must_link_confidence[unsure],
        blocks=blocks,
        block_names=np.arange(blocks.max(initial=-1) + 1),
    )


def without_unused_names(side: "SideInformation") -> "SideInformation":
    """Leave out names that no row carries; see `SideInformation.without_unused_names`."""
    labels, label_names = _used(side.labels, side.label_names)
    blocks, block_names = _used(side.blocks, side.block_names)
    return replace(side, labels=labels, label_names=label_names, blocks=blocks, block_names=block_names)


def _used(codes: IntArray, names: AnyArray) -> Encoded:
    # Of a large table of which nothing is known the codes take no room, and should not begin to here.
    return compress(codes, names) if len(names) else Encoded(codes, names)


def combine(side: "SideInformation", other: "SideInformation") -> "SideInformation":
    """Pool what two objects know about the same rows; see `SideInformation.combine`."""
    if side.n_rows != other.n_rows:
        raise ValueError(
            f"cannot combine side information about {side.n_rows} rows with that about {other.n_rows} rows; "
            "align or restrict one of them first"
        )
    if side.ids is not None and other.ids is not None and side.ids.tolist() != other.ids.tolist():
        raise ValueError("cannot combine side information whose ids differ; align one with the other's ids")
    labels, label_names = _united_labels(side, other)
    blocks, block_names = _united_blocks(side, other)
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
    )


def _united_labels(side: "SideInformation", other: "SideInformation") -> tuple[IntArray, AnyArray]:
    names = sort_names([*side.label_names.tolist(), *other.label_names.tolist()])
    place = {name: code for code, name in enumerate(names.tolist())}
    mine, theirs = (
        # The extra -1 is what unlabelled rows, of code -1, look up.
        np.array([*(place[name] for name in which.label_names.tolist()), -1])[which.labels]
        for which in (side, other)
    )
    differ = np.flatnonzero((mine >= 0) & (theirs >= 0) & (mine != theirs))
    if len(differ):
        row = int(differ[0])
        first, second = (repr(names[code : code + 1].tolist()[0]) for code in (mine[row], theirs[row]))
        ids = side.ids if side.ids is not None else other.ids
        name = f"row {row}" if ids is None else f"id {ids[row : row + 1].tolist()[0]!r}"
        more = f" (and {len(differ) - 1} more)" if len(differ) > 1 else ""
        raise ContradictionError(
            f"{name} is labelled {first} in one and {second} in the other{more}: correct one of them, or "
            "pool labels without common names by SideInformation.from_annotators",
            (row,),
            count=len(differ),
        )
    return np.where(mine >= 0, mine, theirs), names


def _united_blocks(side: "SideInformation", other: "SideInformation") -> tuple[IntArray, AnyArray]:
    n_blocks = len(side.block_names)
    mine, theirs = np.flatnonzero(side.blocks >= 0), np.flatnonzero(other.blocks >= 0)
    members = np.concatenate(
        [
            np.column_stack([mine, side.blocks[mine]]),
            np.column_stack([theirs, other.blocks[theirs] + n_blocks]),
        ]
    )
    names = tidy([*side.block_names.tolist(), *other.block_names.tolist()])
    return compress(join_groups(side.n_rows, members, len(names)), names)
