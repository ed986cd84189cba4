"""Pool the labels of several annotators whose label names differ.

Zhao and Miller ("Semisupervised learning of mixture models with class constraints", introduction): people who label
rows of a shared table may use different names and need not agree on the number of classes, so their labels cannot be
pooled as labels. But equal labels of one annotator entail must-links, different labels of one annotator entail
cannot-links, and links can be pooled.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from sidelight._typing import AnyArray, FloatArray, IntArray
from sidelight.side.closure import NO_PAIRS, Constraints, all_pairs, chain, components, find_conflicts
from sidelight.side.parsing.columns import CodedColumn, as_vector, encode, names_array
from sidelight.side.parsing.links import read_confidence
from sidelight.side.parsing.rows import FindRows, read_ids, row_finder


class PooledLinks(NamedTuple):
    """Links that the labels of all annotators entail.

    ``confidence`` is of the must-links, then of the cannot-links; ``n_dropped`` counts the labels of ids that are not
    among the rows.
    """

    n_rows: int
    must_link: IntArray
    cannot_link: IntArray
    confidence: FloatArray
    ids: AnyArray | None
    n_dropped: int


def pool(annotations: Any, *, n: int | None = None, confidence: Any = None, sample_id: Any = None) -> PooledLinks:
    """Turn the labels of several annotators into links.

    The arguments are those of `SideInformation.from_annotators`, which says what becomes of them.
    """
    columns = _columns(annotations)
    ids = None if sample_id is None else read_ids(sample_id, n)
    n_rows = _number_of_rows(columns, n if ids is None else len(ids))
    find = row_finder(n_rows, ids)
    encoded, n_dropped = {}, 0
    for name, column in columns.items():
        encoded[name], absent = _read_column(name, column, n_rows, find)
        n_dropped += absent
    confidences = _confidence_of_each(confidence, list(encoded))
    _refuse_disagreement({name: column for name, column in encoded.items() if confidences[name] == 1}, n_rows, ids)
    must, cannot = [], []
    for name, (codes, _) in encoded.items():
        labelled = np.flatnonzero(codes >= 0)
        _, first = np.unique(codes[labelled], return_index=True)
        must.append((chain(codes[labelled], labelled), confidences[name]))
        cannot.append((all_pairs(labelled[first]), confidences[name]))
    return PooledLinks(
        n_rows,
        np.concatenate([NO_PAIRS, *(links for links, _ in must)]),
        np.concatenate([NO_PAIRS, *(links for links, _ in cannot)]),
        np.concatenate([np.empty(0), *(np.full(len(links), value) for links, value in must + cannot)]),
        ids,
        n_dropped,
    )


def _columns(annotations: Any) -> dict[Any, Any]:
    if isinstance(annotations, Mapping):
        return dict(annotations)
    if hasattr(annotations, "columns"):
        return {name: annotations[name] for name in annotations.columns}
    if not hasattr(annotations, "__array__"):
        return dict(enumerate(_list_of_columns(annotations)))
    table = np.asarray(annotations)
    if table.ndim != 2:
        raise ValueError(
            f"annotations has shape {table.shape}; give a mapping from annotator to labels, a list of columns, "
            "or an array of one row per row and one column per annotator"
        )
    return {number: table[:, number] for number in range(table.shape[1])}


def _list_of_columns(columns: Any) -> list[Any]:
    """Check that a list holds columns of one length; a list of rows would have as many annotators as rows."""
    try:
        lengths = {len(column) for column in columns if not isinstance(column, str)}
    except TypeError:
        lengths = set()
    if len(lengths) != 1 or any(isinstance(column, str) for column in columns):
        raise ValueError(
            "annotations must be a list of columns of one length, one column per annotator and one value per row "
            "(None if unknown)"
        )
    return list(columns)


def _number_of_rows(columns: dict[Any, Any], n: int | None) -> int:
    for name, column in columns.items():
        if n is None and not isinstance(column, Mapping):
            n = len(as_vector(column, _place(name)))
    if n is None:
        raise ValueError("n must be given, or sample_id, where annotations map rows to labels")
    return n


def _place(annotator: Any) -> str:
    return f"annotations[{annotator!r}]"


def _read_column(name: Any, column: Any, n: int, find: FindRows) -> tuple[CodedColumn, int]:
    """Encode the labels of one annotator; count those of absent ids."""
    if not isinstance(column, Mapping):
        return encode(column, _place(name), n), 0
    keys = list(column)
    rows = find(names_array(keys), lambda flat: f"{_place(name)}[{keys[flat]!r}]")
    values = np.empty(n, dtype=object)
    for row, value in zip(rows.tolist(), column.values(), strict=True):
        if row >= 0:
            values[row] = value
    return encode(values, _place(name), n), int((rows < 0).sum())


def _confidence_of_each(confidence: Any, names: list[Any]) -> dict[Any, float]:
    if not isinstance(confidence, Mapping):
        confidence = dict.fromkeys(names, confidence)
    unknown = [name for name in confidence if name not in names]
    if unknown:
        raise ValueError(f"confidence names {unknown[0]!r}, who is not an annotator; use the names {names!r}")
    return {name: float(read_confidence(confidence.get(name), 1, 0)[0][0]) for name in names}


def _refuse_disagreement(columns: dict[Any, CodedColumn], n: int, ids: AnyArray | None) -> None:
    """Search for contradictions with one group per annotator and label, where proofs are shortest."""
    members = [NO_PAIRS]
    exclusive: list[int] = []
    names: list[tuple[Any, Any]] = []
    for number, (annotator, (codes, labels)) in enumerate(columns.items()):
        labelled = np.flatnonzero(codes >= 0)
        members.append(np.column_stack([labelled, codes[labelled] + len(names)]))
        exclusive += [number] * len(labels)
        names += [(annotator, label) for label in labels.tolist()]
    constraints = Constraints(n, NO_PAIRS, np.concatenate(members), np.array(exclusive, dtype=np.int64), NO_PAIRS)
    conflicts = find_conflicts(constraints, components(constraints))
    if not conflicts.total:
        return
    from sidelight.side.contradictions import GroupWording, Wording, contradiction

    def group(number: int) -> GroupWording:
        annotator, label = names[number]
        return GroupWording(f"are both {label!r} to {annotator!r}", f"{label!r} to {annotator!r}")

    remedy = "correct one of these labels, or give annotators a confidence below 1"
    raise contradiction(constraints, conflicts, Wording(ids, group, remedy))
