"""How the rows of a table are assigned where the table is: on a cluster, results stay there and are Dask arrays."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np

from sidelight._typing import AnyArray, FloatArray, IntArray, LabelArray
from sidelight.estimators.base.results import Results, RowResults, Wanted
from sidelight.inference.executors.threads import one_blas_thread
from sidelight.inference.mixture import Mixture, MixtureState
from sidelight.inference.protocols import Assignment
from sidelight.inference.visits import Visit
from sidelight.side import SideInformation
from sidelight.tables.dask import DaskTable, Future
from sidelight.tables.table import Rows


@dataclass(frozen=True, eq=False)
class ClusterResults:
    """Results of every part of a table, on the worker that has the part.

    Parameters
    ----------
    table : DaskTable
    wanted : Wanted
    parts : list of futures
        :class:`Results` each.
    held_evidence : float
        Of rows that were filled in from here.
    """

    table: DaskTable
    wanted: Wanted
    parts: list[Future]
    held_evidence: float = 0.0

    @classmethod
    def of(cls, rows: Rows, assign: Callable[[Rows], Results], wanted: Wanted) -> "ClusterResults":
        """Assign the rows of a table that take part in a pass, on the workers."""
        assert isinstance(rows.table, DaskTable)
        return cls(rows.table, wanted, rows.table.keep_parts(rows, assign))

    def with_rows(self, found: Assignment) -> "ClusterResults":
        """Return the results with those of scattered rows filled in."""
        assert not isinstance(found.numbers, slice)
        changed = self._changed(found.numbers, found.posterior, _filled)
        return replace(changed, held_evidence=self.held_evidence + found.evidence)

    def overruled(self, numbers: IntArray, classes: IntArray) -> "ClusterResults":
        """Return the results with other classes of some rows."""
        return self._changed(numbers, classes, _overruled)

    def evidence(self) -> float:
        """Return the evidence of the rows."""
        return float(sum(self._gathered(_evidence_of))) + self.held_evidence

    def sizes(self) -> IntArray:
        """Return the number of rows of each class, without noise."""
        return np.asarray(np.sum(self._gathered(_sizes_of), axis=0))

    def numbered(self, order: IntArray) -> "ClusterResults":
        """Return the results with every class of an order under its place in it; noise stays -1."""
        parts = self.table.client.map(_numbered, self.parts, order=order, pure=False)
        return replace(self, wanted=self.wanted._replace(n_classes=len(order)), parts=parts)

    def array(self, name: str) -> Any:
        """Return a field of the results of all rows as a Dask array with the partitions of the table that have rows.

        It is there when this returns: whoever closes the cluster after a fit does not cut off tasks of the fit.
        """
        futures = self.table.client.map(_field_of, self.parts, name=name, pure=False)
        import_module("distributed").wait(futures)
        width = (self.wanted.n_classes,) if name == "posterior" else ()
        return dask_columns(self.table, futures, width, np.int32 if name == "labels" else np.float64)

    def labels_for(self, side: SideInformation) -> LabelArray:
        """Return the labels of the rows with statements, brought here, among zeros (n,)."""
        mentioned = np.flatnonzero(side.mentioned)
        labels = np.zeros(side.n_rows, dtype=np.int32)
        for part, future in zip(self.table.ranges, self.parts, strict=True):
            within = mentioned[(mentioned >= part.start) & (mentioned < part.stop)]
            if len(within):
                labels[within] = self.table.client.submit(_labels_at, future, within - part.start, pure=False).result()
        return labels

    def _changed(self, numbers: IntArray, values: AnyArray, change: Any) -> "ClusterResults":
        parts = list(self.parts)
        for place, part in enumerate(self.table.ranges):
            within = (numbers >= part.start) & (numbers < part.stop)
            if within.any():
                parts[place] = self.table.client.submit(
                    change, parts[place], numbers[within] - part.start, values[within], pure=False
                )
        return replace(self, parts=parts)

    def _gathered(self, ask: Any) -> Any:
        return self.table.client.gather(self.table.client.map(ask, self.parts, pure=False))


def dask_columns(table: DaskTable, futures: Sequence[Future], width: tuple[int, ...], dtype: Any) -> Any:
    """Return arrays (rows, *width), one for each part of a table, as a Dask array."""
    dask_array = import_module("dask.array")
    pieces = [
        dask_array.from_delayed(future, (part.stop - part.start, *width), dtype)
        for future, part in zip(futures, table.ranges, strict=True)
    ]
    return dask_array.concatenate(pieces)


def results_of(mixture: Mixture, state: MixtureState, wanted: Wanted) -> RowResults:
    """Pass over the rows that no coupling takes, and return how they are assigned."""
    table = mixture.rows.table
    if isinstance(table, DaskTable):
        assign = partial(part_results, visit=mixture.visit(state), wanted=wanted)
        return ClusterResults.of(mixture.alone, assign, wanted)
    visited = mixture.assign_predictively if wanted.predictive else mixture.assign_alone
    return Results.of(table, visited(state), wanted)


def part_results(rows: Rows, visit: Visit, wanted: Wanted) -> Results:
    """Assign the rows of a part."""
    with one_blas_thread():
        scorer = visit.predictive() if wanted.predictive else visit.evaluator()
        return Results.of(rows.table, (visit.assignment(scorer, rows, chunk) for chunk in rows.chunks()), wanted)


# Results of a task are not changed in place: another task may need them again, if a worker is lost.


def _filled(part: Results, numbers: IntArray, posterior: FloatArray) -> Results:
    return part.copied().with_rows(Assignment(numbers, posterior, 0.0))


def _overruled(part: Results, numbers: IntArray, classes: IntArray) -> Results:
    return part.copied().overruled(numbers, classes)


def _numbered(part: Results, order: IntArray) -> Results:
    return part.copied().numbered(order)


def _evidence_of(part: Results) -> float:
    return part.evidence()


def _sizes_of(part: Results) -> IntArray:
    return part.sizes()


def _field_of(part: Results, name: str) -> AnyArray:
    return part.array(name)


def _labels_at(part: Results, rows: IntArray) -> LabelArray:
    return part.labels[rows]
