"""How the rows of a table are assigned: what is wanted of each, and the arrays that have it."""

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Protocol, Self

import numpy as np

from sidelight._typing import AnyArray, FloatArray, IntArray, LabelArray
from sidelight.inference.loop import LARGEST_KEPT
from sidelight.inference.protocols import Assignment
from sidelight.side import SideInformation
from sidelight.tables.power import Powers, log_jacobian
from sidelight.tables.scratch import give_back, scratch_array
from sidelight.tables.table import Table, row_ranges


class Wanted(NamedTuple):
    """What is wanted of each row, and by which densities.

    Parameters
    ----------
    classes : (components,)
        The class of each component, -1 for noise.
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

    @property
    def has_noise(self) -> bool:
        """Whether a component is noise."""
        return bool((self.classes < 0).any())


class RowResults(Protocol):
    """Results of all rows, wherever they are; what changes them returns the changed ones, which replace them."""

    def with_rows(self, found: Assignment) -> Self:
        """Fill in scattered rows."""

    def overruled(self, numbers: IntArray, classes: IntArray) -> Self:
        """Give some rows other classes."""

    def evidence(self) -> float:
        """Return the evidence of the rows."""

    def sizes(self) -> IntArray:
        """Return the number of rows of each class, without noise."""

    def numbered(self, order: IntArray) -> Self:
        """Give every class its place in an order as its number; noise stays -1.

        Classes that the order leaves out must have no rows. Probabilities are then those given that a row is of one of
        the others.
        """

    def array(self, name: str) -> Any:
        """Return "labels", "posterior", "log_density" or "noise" of all rows, which must have been kept."""

    def labels_for(self, side: SideInformation) -> LabelArray:
        """Return labels (n,) in this process, right at least for the rows with statements."""


_PART_ROWS = 1 << 14


def row_array(table: Table, shape: tuple[int, ...], dtype: Any) -> AnyArray:
    """Return an array to be filled, as long as a table; in memory only where the table is, or the array is small."""
    large = math.prod(shape) * np.dtype(dtype).itemsize > LARGEST_KEPT
    return scratch_array(shape, dtype) if large and not table.in_memory else np.empty(shape, dtype)


@dataclass(frozen=True, eq=False)
class Results:
    """Arrays in this process that are filled chunk by chunk, and changed in place.

    Parameters
    ----------
    classes : (components,)
        The class of each component, -1 for noise; probabilities of a class's components add up.
    labels : (n,)
        The most probable class of each row, -1 for noise.
    log_density : (n,), optional
        Log density of the mixture at each row; NaN for coupled rows, which have none of their own.
    posterior : (n, classes), optional
        Probability of each class.
    noise : (n,), optional
        Probability of noise, where a component is noise.
    log_evidence : float
        Of the rows that are filled in.
    """

    classes: IntArray
    n_classes: int
    labels: LabelArray
    log_density: FloatArray | None
    posterior: FloatArray | None
    noise: FloatArray | None
    log_evidence: float = 0.0

    @classmethod
    def empty(cls, table: Table, wanted: Wanted) -> Self:
        """Return arrays to be filled, for the rows of a table; in memory only where the table is, or they are small."""
        n_rows, classes, n_classes = table.shape[0], wanted.classes, wanted.n_classes

        def array(shape: tuple[int, ...], dtype: Any = np.float64) -> AnyArray:
            return row_array(table, shape, dtype)

        return cls(
            classes,
            n_classes,
            array((n_rows,), np.int32),
            array((n_rows,)) if wanted.keep_density else None,
            array((n_rows, n_classes)) if wanted.keep_posterior else None,
            array((n_rows,)) if wanted.has_noise else None,
        )

    @classmethod
    def of(cls, table: Table, found: Iterable[Assignment], wanted: Wanted) -> Self:
        """Return the results of the rows of a table, as they are assigned."""
        results = cls.empty(table, wanted)
        for part in found:
            results = results.with_rows(part)
            if results.log_density is not None and wanted.powers is not None:
                results.log_density[part.numbers] += log_jacobian(table.take(part.numbers), wanted.powers)
                if isinstance(part.numbers, slice):
                    table.release(part.numbers)
        return results

    def with_rows(self, found: Assignment) -> Self:
        """Fill in some rows."""
        by_class = found.posterior
        if not np.array_equal(self.classes, np.arange(self.n_classes)):
            by_class = by_class @ (self.classes[:, None] == np.arange(self.n_classes)).astype(float)
        labels = by_class.argmax(axis=1)
        if self.noise is not None:
            noise = found.posterior[:, self.classes < 0].sum(axis=1)
            self.noise[found.numbers] = noise
            labels[noise > by_class.max(axis=1)] = -1
        self.labels[found.numbers] = labels
        if self.posterior is not None:
            self.posterior[found.numbers] = by_class
        if self.log_density is not None:
            self.log_density[found.numbers] = np.nan if found.log_density is None else found.log_density
        if isinstance(found.numbers, slice):
            self._give_back(found.numbers)
        return replace(self, log_evidence=self.log_evidence + found.evidence)

    def overruled(self, numbers: IntArray, classes: IntArray) -> Self:
        """Give some rows other classes."""
        self.labels[numbers] = classes
        return self

    def evidence(self) -> float:
        """Return the evidence of the rows."""
        return self.log_evidence

    def array(self, name: str) -> AnyArray:
        """Return the field of all rows, which must have been kept."""
        found: AnyArray | None = getattr(self, name)
        assert found is not None
        return found

    def copied(self) -> Self:
        """Return a copy, to be changed in place."""
        return replace(
            self,
            labels=self.labels.copy(),
            log_density=None if self.log_density is None else self.log_density.copy(),
            posterior=None if self.posterior is None else self.posterior.copy(),
            noise=None if self.noise is None else self.noise.copy(),
        )

    def sizes(self) -> IntArray:
        """Return the number of rows of each class, without noise."""
        counts = np.zeros(self.n_classes + 1, dtype=np.int64)
        for part in self._parts():
            counts += np.bincount(self.labels[part] + 1, minlength=self.n_classes + 1)
            self._give_back(part)
        return counts[1:]

    def numbered(self, order: IntArray) -> Self:
        """Give every class of an order its place in it as its number; noise stays -1."""
        if np.array_equal(order, np.arange(self.n_classes)):
            return self
        with_noise = np.full(self.n_classes + 1, -1)
        with_noise[order + 1] = np.arange(len(order))
        for part in self._parts():
            self.labels[part] = with_noise[self.labels[part] + 1]
            if self.posterior is not None:
                kept = np.take(self.posterior[part], order, axis=1)
                if len(order) < self.n_classes:
                    kept /= kept.sum(axis=1, keepdims=True)
                self.posterior[part, : len(order)] = kept
            self._give_back(part)
        posterior = None if self.posterior is None else self.posterior[:, : len(order)]
        return replace(self, n_classes=len(order), posterior=posterior)

    def labels_for(self, side: SideInformation) -> LabelArray:
        """Return labels (n,), right at least for the rows with statements."""
        return self.labels

    def _give_back(self, part: slice) -> None:
        for array in (self.labels, self.posterior, self.log_density, self.noise):
            if isinstance(array, np.memmap):
                give_back(array, part)

    def _parts(self) -> list[slice]:
        # NumPy turns whole arrays of indices into larger ones; a part at a time takes no room, and stays in the cache.
        return row_ranges(len(self.labels), _PART_ROWS)
