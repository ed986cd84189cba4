"""The table of clusters: one row per row of the input, in its order."""

import csv
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple, TextIO

import numpy as np

from sidelight._typing import AnyArray, FloatArray
from sidelight.metrics import Violations
from sidelight.side import SideInformation

_WRITTEN_AT_ONCE = 20_000


class Placed(NamedTuple):
    """Where rows were placed.

    Parameters
    ----------
    ids : (n,)
        Names of the rows, or their numbers from 1.
    id_column : str
        What that column is called.
    labels : (n,) int
        Clusters.
    names : (clusters,)
        Of the clusters.
    probability : (n,)
        Of the cluster of each row.
    """

    ids: AnyArray
    id_column: str
    labels: AnyArray
    names: AnyArray
    probability: FloatArray


def write_placed(file: TextIO, placed: Placed) -> None:
    """Write id, cluster, name and probability."""
    _write(file, placed, [], lambda _: ())


def write_clusters(file: TextIO, placed: Placed, side: SideInformation, broken: Violations) -> None:
    """Write the same, what was stated about each row, and which of that the result breaks."""
    stated, breaches = _stated(side), _breaches(placed, side, broken)
    _write(file, placed, ["stated", "broken"], lambda row: (stated.get(row, ""), "; ".join(breaches.get(row, ()))))


def _write(file: TextIO, placed: Placed, more: list[str], cells: Any) -> None:
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow([placed.id_column, "cluster", "name", "probability", *more])
    names = [str(name) for name in placed.names]
    for start in range(0, len(placed.labels), _WRITTEN_AT_ONCE):
        part = slice(start, start + _WRITTEN_AT_ONCE)
        columns = placed.ids[part].tolist(), placed.labels[part].tolist(), placed.probability[part].tolist()
        writer.writerows(
            (name, cluster, names[cluster], f"{probability:.4f}", *cells(row))
            for row, (name, cluster, probability) in enumerate(zip(*columns, strict=True), start)
        )


def _stated(side: SideInformation) -> dict[int, str]:
    """Return the kinds of statement about each row that there are any about."""
    labelled = set(np.flatnonzero(side.labels >= 0).tolist())
    linked = {*side.must_link.ravel().tolist(), *side.cannot_link.ravel().tolist()}
    words = {(True, False): "label", (False, True): "link", (True, True): "label and link"}
    return {row: words[row in labelled, row in linked] for row in labelled | linked}


def _breaches(placed: Placed, side: SideInformation, broken: Violations) -> dict[int, list[str]]:
    """Return which statements about each row are broken."""
    found: dict[int, list[str]] = {}
    for row in broken.labels.tolist():
        found.setdefault(row, []).append(f"label {side.label_names[side.labels[row]]}")
    for relation, pairs in (("must", broken.must_link), ("cannot", broken.cannot_link)):
        for row, other in _both_ways(pairs.tolist()):
            found.setdefault(row, []).append(f"{relation} {placed.ids[other]}")
    return found


def _both_ways(pairs: Iterable[list[int]]) -> Iterator[tuple[int, int]]:
    for first, second in pairs:
        yield first, second
        yield second, first
