"""How the rows of a table on a cluster are assigned: results stay with the partitions, and are Dask arrays."""

from dataclasses import dataclass, replace
from functools import partial
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np

from sidelight._typing import AnyArray, FloatArray, IntArray, LabelArray
from sidelight.estimators.base.clusters import Results
from sidelight.inference.executors.threads import one_blas_thread
from sidelight.inference.protocols import Assignment
from sidelight.inference.visits import Visit
from sidelight.side import SideInformation
from sidelight.tables.dask import DaskTable, Future
from sidelight.tables.power import Powers, log_jacobian
from sidelight.tables.table import Rows


class Wanted(NamedTuple):
    """What is wanted of each row: the fields of :class:`Results`, and by which densities.

    Parameters
    ----------
    classes : (components,)
    n_classes : int
    keep_density, keep_posterior : bool
    predictive : bool
        Whether rows are assigned by predictive densities.
    powers : tuple of PowerTransform or None, optional
        The transforms that the table went through; log densities are those of the rows before.
    """

    classes: IntArray
    n_classes: int
    keep_density: bool = False
    keep_posterior: bool = False
    predictive: bool = False
    powers: Powers | None = None


class PartResults(NamedTuple):
    """The results of the rows of a part, and their evidence."""

    results: Results
    evidence: float


@dataclass(frozen=True, eq=False)
class ClusterResults:
    """Results of every part of a table, on the worker that has the part.

    Parameters
    ----------
    table : DaskTable
    wanted : Wanted
    parts : list of futures
        :class:`PartResults` each.
    """

    table: DaskTable
    wanted: Wanted
    parts: list[Future]

    @classmethod
    def of(cls, rows: Rows, visit: Visit, wanted: Wanted) -> "ClusterResults":
        """Assign the rows of a table that take part in a pass, on the workers."""
        assert isinstance(rows.table, DaskTable)
        return cls(rows.table, wanted, rows.table.keep_parts(rows, partial(part_results, visit=visit, wanted=wanted)))

    def with_rows(self, found: Assignment) -> "ClusterResults":
        """Return the results with those of scattered rows filled in."""
        assert not isinstance(found.numbers, slice)
        return self._changed(found.numbers, found.posterior, _filled)

    def overruled(self, numbers: IntArray, classes: IntArray) -> "ClusterResults":
        """Return the results with other classes of some rows."""
        return self._changed(numbers, classes, _overruled)

    def evidence(self) -> float:
        """Return the evidence of the rows that took part in the pass."""
        return float(sum(self._gathered(_evidence_of)))

    def sizes(self) -> IntArray:
        """Return the number of rows of each class, without noise."""
        return np.asarray(np.sum(self._gathered(_sizes_of), axis=0))

    def numbered(self, rank: IntArray, order: IntArray) -> "ClusterResults":
        """Return the results with every class under its new number, and the columns of the posterior in that order."""
        client = self.table.client
        return replace(self, parts=client.map(_numbered, self.parts, rank=rank, order=order, pure=False))

    def array(self, name: str) -> Any:
        """Return a field of the results of all rows as a Dask array with the partitions of the table that have rows."""
        dask_array = import_module("dask.array")
        futures = self.table.client.map(_field_of, self.parts, name=name, pure=False)
        width = (self.wanted.n_classes,) if name == "posterior" else ()
        dtype = np.int32 if name == "labels" else np.float64
        pieces = [
            dask_array.from_delayed(future, (part.stop - part.start, *width), dtype)
            for future, part in zip(futures, self.table.ranges, strict=True)
        ]
        return dask_array.concatenate(pieces)

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


def part_results(rows: Rows, visit: Visit, wanted: Wanted) -> PartResults:
    """Assign the rows of a part."""
    results = Results.empty(
        rows.table,
        wanted.classes,
        wanted.n_classes,
        keep_density=wanted.keep_density,
        keep_posterior=wanted.keep_posterior,
    )
    evidence = 0.0
    with one_blas_thread():
        scorer = visit.predictive() if wanted.predictive else visit.evaluator()
        for chunk in rows.chunks():
            found = visit.assignment(scorer, rows, chunk)
            results.write(found)
            evidence += found.evidence
            if results.log_density is not None and wanted.powers is not None:
                results.log_density[chunk] += log_jacobian(rows.table.take(chunk), wanted.powers)
    return PartResults(results, evidence)


# Results of a task are not changed in place: another task may need them again, if a worker is lost.


def _filled(part: PartResults, numbers: IntArray, posterior: FloatArray) -> PartResults:
    results = part.results.copied()
    results.write(Assignment(numbers, posterior, 0.0))
    return part._replace(results=results)


def _overruled(part: PartResults, numbers: IntArray, classes: IntArray) -> PartResults:
    results = part.results.copied()
    results.labels[numbers] = classes
    return part._replace(results=results)


def _numbered(part: PartResults, rank: IntArray, order: IntArray) -> PartResults:
    results = part.results.copied()
    results.renumbered(rank)
    results.reordered_posterior(order)
    return part._replace(results=results)


def _evidence_of(part: PartResults) -> float:
    return part.evidence


def _sizes_of(part: PartResults) -> IntArray:
    return part.results.sizes()


def _field_of(part: PartResults, name: str) -> AnyArray:
    return getattr(part.results, name)


def _labels_at(part: PartResults, rows: IntArray) -> LabelArray:
    return part.results.labels[rows]
